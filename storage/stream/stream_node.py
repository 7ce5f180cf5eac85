"""One node of a stream: a listpack of consecutive entries, byte for byte as in Redis.

The rax key of a node is the id of its first entry; all ids in it are kept as differences to that.

    node    master entry, entry, entry, ...
    master  count | deleted | num-fields | field name ... | 0
    entry   flags | ms delta | seq delta | value ...                              | lp-count
        or  flags | ms delta | seq delta | num-fields | field name, value, ...    | lp-count

count: entries alive; deleted: entries marked as deleted, which stay where they are. The closing 0
of the master entry stands where entries have their lp-count, the number of their other elements, by
which a walk backwards finds where an entry begins. Deltas are signed: seq may be less than the
first entry's seq when ms is greater. Flags: 1 deleted; 2 the entry has the field names of the
master entry, in that order, and so only values.

A node most of whose entries are deleted is_sparse(): compacted() makes one of the living entries.
Its key stays, so that their differences do; it is not the id of its first entry then.
"""

from __future__ import annotations

from storage import octets
from storage.listpack import element_octets
from storage.listpack.listpack import Listpack
from storage.stream import stream_id
from storage.stream.stream_id import StreamId

DELETED = 1
SAME_FIELDS = 2

FEW = 10  # entries; a node of no more is never sparse

COUNT_AT = 6  # the first element, right after the listpack's header
_HEADER = COUNT_AT
_INTEGER = 11  # bytes of a number at most, with its backlen
_MANY = 65535  # elements, or more
_END = 0xFF  # the byte after the last element of a listpack

# Bytes of an entry's other numbers at most: flags, two backlens, num-fields, lp-count.
_OTHER_NUMBERS = 2 + 2 + 6 + 6
_LIMIT = 1 << 30  # bytes of a listpack: no larger one can be made
_NUMBERS = 64  # bytes of a new node's numbers at most, of which its counts may still grow


def new_node(fields: list[bytes], start: int) -> Listpack:
    """An empty node whose master entry has the field names of ``fields[start::2]``."""
    node = Listpack()
    names = (len(fields) - start) // 2
    size = _OTHER_NUMBERS + element_octets.int_size(names)
    for index in range(start, len(fields), 2):
        word = fields[index]
        size += element_octets.most_bytes(len(word))
    node.reserve(size)
    data = node.data
    at = element_octets.put_int(data, node.size - 1, 0)
    at = element_octets.put_int(data, at, 0)
    at = element_octets.put_int(data, at, names)
    for index in range(start, len(fields), 2):
        word = fields[index]
        at = element_octets.put(data, at, word)
    node.end_at(element_octets.put_int(data, at, 0), 4 + names)
    return node


def has_fields(node: Listpack, fields: list[bytes], start: int) -> bool:
    """Whether ``fields[start::2]`` are the field names of the master entry, in that order."""
    data = node.data
    at = element_octets.after(data, element_octets.after(data, COUNT_AT))
    if node.get_int(at) != (len(fields) - start) // 2:
        return False
    for index in range(start, len(fields), 2):
        at = element_octets.after(data, at)
        if not node.matches(at, fields[index]):
            return False
    return True


def append_entry(
    node: Listpack, ms_delta: int, seq_delta: int, fields: list[bytes], start: int
) -> None:
    """Add an entry of ``fields[start:]``: name, value, name, value, ..."""
    words = len(fields) - start
    same = has_fields(node, fields, start)
    node.reserve(most_bytes(ms_delta, seq_delta, fields, start))
    data = node.data
    at = element_octets.put_int(data, node.size - 1, SAME_FIELDS if same else 0)
    at = element_octets.put_int(data, at, ms_delta)
    at = element_octets.put_int(data, at, seq_delta)
    if same:
        size = 3 + words // 2
        for index in range(start + 1, len(fields), 2):
            word = fields[index]
            at = element_octets.put(data, at, word)
    else:
        size = 4 + words
        at = element_octets.put_int(data, at, words // 2)
        for index in range(start, len(fields)):
            word = fields[index]
            at = element_octets.put(data, at, word)
    node.end_at(element_octets.put_int(data, at, size), size + 1)
    node.replace_int(COUNT_AT, node.get_int(COUNT_AT) + 1)


def most_bytes(ms_delta: int, seq_delta: int, fields: list[bytes], start: int) -> int:
    """An upper bound of an entry's bytes, as if its field names had to be stored."""
    size = _OTHER_NUMBERS + element_octets.int_size(ms_delta) + element_octets.int_size(seq_delta)
    for index in range(start, len(fields)):
        word = fields[index]
        size += element_octets.most_bytes(len(word))
    return size


def fits_alone(fields: list[bytes], start: int) -> bool:
    """Whether a new node can be made for an entry of ``fields[start:]``, and hold it."""
    return most_bytes_alone(fields, start) <= _LIMIT


def most_bytes_alone(fields: list[bytes], start: int) -> int:
    """At most how many bytes a new node takes for an entry of ``fields[start:]``.

    As most_bytes() has it, the field names are stored twice.
    """
    size = _NUMBERS + most_bytes(0, 0, fields, start)
    for index in range(start, len(fields), 2):
        word = fields[index]
        size += element_octets.most_bytes(len(word))
    return size


def alive(node: Listpack) -> int:
    """How many entries are not deleted."""
    return node.get_int(COUNT_AT)


def entries(node: Listpack) -> int:
    """How many entries there are, the deleted ones included."""
    return node.get_int(COUNT_AT) + node.get_int(element_octets.after(node.data, COUNT_AT))


def entry_before(node: Listpack, lp_count_at: int) -> int:
    """Where the entry begins whose lp-count is at *lp_count_at*; -1 for the master entry."""
    size = node.get_int(lp_count_at)
    if size == 0:
        return -1
    at = lp_count_at
    for _ in range(size):
        at = node.prev(at)
    return at


def first_entry(node: Listpack) -> int:
    """Where the first entry begins, alive or deleted; where the listpack ends if there is none."""
    data = node.data
    at = element_octets.after(data, element_octets.after(data, COUNT_AT))
    left = element_octets.number_at(data, at) + 2  # names, the number of them, and the closing 0
    while left > 0:
        at = element_octets.after(data, at)
        left -= 1
    return at


def entry_after(node: Listpack, at: int) -> int:
    """Where the entry ends that begins at *at*."""
    data = node.data
    flags = element_octets.number_at(data, at)
    at = element_octets.after(data, element_octets.after(data, element_octets.after(data, at)))
    if flags & SAME_FIELDS:
        left = element_octets.number_at(
            data, element_octets.after(data, element_octets.after(data, COUNT_AT))
        )
    else:
        left = 2 * element_octets.number_at(data, at) + 1
    left += 1  # the lp-count
    while left > 0:
        at = element_octets.after(data, at)
        left -= 1
    return at


def alive_from(node: Listpack, at: int) -> int:
    """Where the first living entry from *at* on begins; where the listpack ends if none does."""
    data = node.data
    while data[at] != _END and element_octets.number_at(data, at) & DELETED:
        at = entry_after(node, at)
    return at


def id_at(node: Listpack, key: bytes, at: int) -> StreamId:
    """The id of the entry that begins at *at* of the node at *key*."""
    data = node.data
    ms_at = element_octets.after(data, at)
    seq_at = element_octets.after(data, ms_at)
    ms = octets.id_plus(octets.u64_be(key, 0), element_octets.number_at(data, ms_at))
    seq = octets.id_plus(octets.u64_be(key, 8), element_octets.number_at(data, seq_at))
    return stream_id.make_id(ms, seq)


def index_of_name(node: Listpack, name: bytes) -> int:
    """Which of the master entry's field names is *name*, from 0 on; -1 if none is. O(names)."""
    data = node.data
    at = element_octets.after(data, element_octets.after(data, COUNT_AT))
    names = element_octets.number_at(data, at)
    for index in range(names):
        at = element_octets.after(data, at)
        if node.matches(at, name):
            return index
    return -1


def value_of(node: Listpack, at: int, name: bytes, index: int) -> bytes | None:
    """The value of the first field *name* of the entry at *at*; None without one. O(fields).

    *index* is what index_of_name() says of the node.
    """
    data = node.data
    flags = element_octets.number_at(data, at)
    at = element_octets.after(data, element_octets.after(data, element_octets.after(data, at)))
    if flags & SAME_FIELDS:
        if index < 0:
            return None
        left = index
    else:
        left = 0
        pairs = element_octets.number_at(data, at)
        at = element_octets.after(data, at)
        while pairs > 0 and not node.matches(at, name):
            at = element_octets.after(data, element_octets.after(data, at))
            pairs -= 1
        if pairs == 0:
            return None
        left = 1
    while left > 0:
        at = element_octets.after(data, at)
        left -= 1
    return node.get_bytes(at)


def is_sparse(node: Listpack) -> bool:
    """Whether there are more than a few entries, most of which are deleted."""
    living = alive(node)
    count = entries(node)
    return count > FEW and 2 * living < count


def compacted(node: Listpack) -> Listpack:
    """A node of the living entries of *node*, which has some. O(size)."""
    data = node.data
    names_at = element_octets.after(data, element_octets.after(data, COUNT_AT))
    made = bytearray(_HEADER + 2 * _INTEGER)
    end = element_octets.put_int(made, _HEADER, alive(node))
    end = element_octets.put_int(made, end, 0)
    del made[end:]
    at = first_entry(node)
    made += data[names_at:at]
    elements = 4 + element_octets.number_at(data, names_at)
    while data[at] != _END:
        after = entry_after(node, at)
        if not element_octets.number_at(data, at) & DELETED:
            made += data[at:after]
            elements += node.get_int(node.prev(after)) + 1
        at = after
    made.append(_END)
    made[:4] = len(made).to_bytes(4, "little")
    made[4:_HEADER] = min(elements, _MANY).to_bytes(2, "little")
    return Listpack.adopt(made)


def last_id(node: Listpack, key: bytes) -> StreamId:
    """The id of the last entry, alive or deleted, of the node at *key*."""
    ms_at = element_octets.after(node.data, entry_before(node, node.last()))
    seq_at = element_octets.after(node.data, ms_at)
    ms = octets.id_plus(octets.u64_be(key, 0), node.get_int(ms_at))
    return stream_id.make_id(ms, octets.id_plus(octets.u64_be(key, 8), node.get_int(seq_at)))


def mark_deleted(node: Listpack, at: int) -> None:
    """Flag the entry at *at* as deleted; see also count_deleted.

    It keeps its size, unless its flags came from outside in a longer form than they need.
    """
    node.replace_int(at, node.get_int(at) | DELETED)


def count_deleted(node: Listpack, count: int) -> None:
    """Update the master entry: *count* more entries are deleted."""
    node.replace_int(COUNT_AT, node.get_int(COUNT_AT) - count)
    at = element_octets.after(node.data, COUNT_AT)
    node.replace_int(at, node.get_int(at) + count)
