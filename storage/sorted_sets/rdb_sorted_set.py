"""A sorted set in an RDB.

    17  string                      a listpack: member, score, ...
     5  length  {string double}...  members and scores, from the last to the first; 8 bytes a score
     3  length  {string text}...    the same with texts for scores         of Redis before 4.0
                                    FD: NaN  FE: inf  FF: -inf  or  n bytes    (n < FD)
    12  string                      a ziplist: member, score, ...          of Redis 2.4 to 6.2

17 is written for a listpack, and 5 for a tree; all are read. Whatever the form, a sorted set that
is read is a listpack or a tree as the limits say.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from math import isnan

from storage import borrowed_listpack
from storage.errors import Corrupt
from storage.limits import ListpackLimits
from storage.listpack import ziplist
from storage.listpack.listpack import Listpack
from storage.rdb import borrowed, raw
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.sorted_sets import borrowed_sorted_set, score_text
from storage.sorted_sets.leaf import LONGEST_MEMBER, Leaf
from storage.sorted_sets.sorted_set import SortedSet

# RDB types
TEXTS, TREE, ZIPLIST, LISTPACK = 3, 5, 12, 17

NAN, INF, MINUS_INF = 0xFD, 0xFE, 0xFF  # in place of the size of a text
NONE = -1

_DOUBLE = struct.Struct("<d")


def write_sorted_set(writer: RdbWriter, value: SortedSet) -> Iterator[None]:
    """Write a sorted set; after each leaf the caller may take what has been written."""
    if value.pack is not None:
        write_pack(writer, value.pack)
    elif value.tree is not None:
        leaves = value.tree.leaves
        number = value.tree.last
        writer.length(len(value))
        while number != NONE:
            write_leaf(writer, leaves[number])
            number = leaves[number].before
            yield


def write_pack(writer: RdbWriter, pack: Listpack) -> None:
    """Write a sorted set that is this listpack."""
    writer.text(raw.of_bytearray(pack.data), pack.size)


def write_leaf(writer: RdbWriter, leaf: Leaf) -> None:
    """Write the members of a leaf, the last one first."""
    _write_leaf(writer, borrowed_sorted_set.leaf_of(leaf))


def write_borrowed_pack(writer: RdbWriter, pack: borrowed.Borrowed) -> None:
    """Write a sorted set that is this listpack."""
    writer.text(borrowed_listpack.octets(pack), borrowed_listpack.size(pack))


def write_borrowed_tree(writer: RdbWriter, tree: borrowed.Borrowed) -> None:
    """Write a sorted set that is this tree."""
    writer.length(borrowed_sorted_set.size(tree))
    leaf = borrowed_sorted_set.last_leaf(tree)
    while not borrowed.is_nothing(leaf):
        _write_leaf(writer, leaf)
        leaf = borrowed_sorted_set.leaf_before(tree, leaf)


def _write_leaf(writer: RdbWriter, leaf: borrowed.Borrowed) -> None:
    at = borrowed_sorted_set.count(leaf) - 1
    while at >= 0:
        member = borrowed_sorted_set.member_at(leaf, at)
        writer.text(member.octets, member.size)
        writer.u64(borrowed_sorted_set.score_bits_at(leaf, at))
        at -= 1


def read(reader: RdbReader, code: int, limits: ListpackLimits) -> SortedSet:
    """Read a sorted set of the RDB type *code*; it may be empty. Raises Corrupt."""
    if code == LISTPACK:
        pack = Listpack.adopt(reader.owned_string())
        pack.check()
        return _of_pack(pack, limits)
    if code == ZIPLIST:
        return _of_pack(ziplist.to_listpack(reader.string()), limits)
    return _of_pairs(reader, code, limits)


def _of_pack(pack: Listpack, limits: ListpackLimits) -> SortedSet:
    """The sorted set whose members and scores are in *pack*, which was checked as a listpack."""
    if pack.length() & 1:
        raise Corrupt("a sorted set has a member without a score")
    _check_pairs(pack)
    made = SortedSet(pack)
    if made.length() > limits.entries:
        made.as_tree()
    return made


def _check_pairs(pack: Listpack) -> None:
    """Raise Corrupt unless scores are numbers, members are in order, and none is there twice."""
    members = set()
    last = (-float("inf"), b"")
    at = pack.first()
    while at != NONE:
        behind = pack.behind(at)
        pair = (_checked_score(pack.get_bytes(behind)), pack.get_bytes(at))
        if pair < last:
            raise Corrupt("a sorted set's members are in disorder")
        if pair[1] in members:
            raise Corrupt("a sorted set has a member twice")
        members.add(pair[1])
        last = pair
        at = pack.next(behind)


def _checked_score(text: bytes) -> float:
    """The score that *text* says; nothing is allowed that Python's float alone would read."""
    if b"_" in text or text.strip() != text:
        raise Corrupt("a sorted set has a score that is no number")
    return score_text.score_of(text)


def _of_pairs(reader: RdbReader, code: int, limits: ListpackLimits) -> SortedSet:
    made = SortedSet()
    made.as_tree()  # a listpack would lose the sign of -0 before a long member makes it a tree
    count = reader.count(9 if code == TREE else 2)
    for _ in range(count):
        member = reader.string()
        if len(member) > LONGEST_MEMBER:
            raise Corrupt(f"a sorted set has a member of {len(member)} bytes")
        score = _binary_score(reader) if code == TREE else _text_score(reader)
        if made.put(member, score, limits) is not None:
            raise Corrupt("a sorted set has a member twice")
    made.become_small(limits)
    made.shrink()
    return made


def _binary_score(reader: RdbReader) -> float:
    score: float = _DOUBLE.unpack(reader.plain(8))[0]
    if isnan(score):
        raise Corrupt("a sorted set has a score that is no number")
    return score


def _text_score(reader: RdbReader) -> float:
    size = reader.byte()
    if size == INF:
        return float("inf")
    if size == MINUS_INF:
        return -float("inf")
    if size == NAN:
        raise Corrupt("a sorted set has a score that is no number")
    return _checked_score(reader.plain(size))
