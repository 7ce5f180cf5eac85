"""Members and scores as RESP, written straight from the bytes that hold them."""

from __future__ import annotations

from collections.abc import Iterable

from protocol import wire
from protocol.encoder import Encoder
from storage.sorted_sets import score_octets
from storage.sorted_sets.leaf import Leaf
from storage.sorted_sets.score_tree import ScoreTree
from storage.sorted_sets.score_walk import ScoreWalk
from storage.sorted_sets.sorted_set import SortedSet

AT_MASK = 0xFFFFFFFF  # of a spot
PER_MEMBER = 26  # bytes: more than a bulk string takes besides its text
MUCH = 4096  # bytes of data: of a longer leaf, what is written is measured before room is taken


def write_range(
    out: Encoder,
    values: SortedSet,
    rank: int,
    count: int,
    reverse: bool,
    scores: bool,
    in_pairs: bool,
) -> None:
    """Write the *count* members from that *rank* on (with *reverse*, back from it) as an array.

    With *scores*, each is followed by its score, and is a pair with it if *in_pairs*.
    """
    out.array(2 * count if scores and not in_pairs else count)
    if count == 0:
        return
    if values.tree is not None and not scores:
        _write_tree(out, values.tree, rank, count, reverse)
        return
    member = values.walk(rank, reverse)
    while count > 0 and member.next():
        if scores and in_pairs:
            out.array(2)
        _write_member(out, member)
        if scores:
            out.real(member.score)
        count -= 1


def _write_member(out: Encoder, member: ScoreWalk) -> None:
    if member.is_int:
        out.bulk_int(member.number)
    elif member.data is not None:
        out.bulk_slice(member.data, member.start, member.size)


def _write_tree(out: Encoder, tree: ScoreTree, rank: int, count: int, reverse: bool) -> None:
    """Write the members of a tree, leaf by leaf."""
    spot = tree.spot_of(rank)
    leaf = tree.leaf_of(spot)
    at = spot & AT_MASK
    while True:
        run = min(count, at + 1 if reverse else score_octets.count(leaf.marks) - at)
        _write_leaf(out, leaf, at, run, -1 if reverse else 1)
        count -= run
        if count == 0:
            return
        leaf = tree.leaves[leaf.before if reverse else leaf.behind]
        at = score_octets.count(leaf.marks) - 1 if reverse else 0


def _write_leaf(out: Encoder, leaf: Leaf, at: int, count: int, step: int) -> None:
    """Write the *count* members of a leaf from number *at* on, forward or back."""
    size = len(leaf.data)
    if size > MUCH:
        size = _bytes_of(leaf, at, count, step)
    out.reserve(size + count * PER_MEMBER)
    out.end = _put_members(out.buffer, out.end, leaf, at, count, step)


def _bytes_of(leaf: Leaf, at: int, count: int, step: int) -> int:
    """How long the texts of these members are, taken together."""
    size = 0
    for _ in range(count):
        size += score_octets.text_size(leaf.data, score_octets.place_at(leaf.marks, at))
        at += step
    return size


def _put_members(buffer: bytearray, to: int, leaf: Leaf, at: int, count: int, step: int) -> int:
    """Write them into *buffer*, where there is room; return the offset after them."""
    data = leaf.data
    marks = leaf.marks
    for _ in range(count):
        offset = score_octets.place_at(marks, at)
        size = score_octets.text_size(data, offset)
        to = wire.put_bulk_slice(buffer, to, data, score_octets.text_start(data, offset), size)
        at += step
    return to


def write_pairs(
    out: Encoder, pairs: Iterable[tuple[bytes, float]], count: int, scores: bool, in_pairs: bool
) -> None:
    """Write *count* members, with their *scores* after them or *in_pairs* with them."""
    out.array(2 * count if scores and not in_pairs else count)
    for member, score in pairs:
        if scores and in_pairs:
            out.array(2)
        out.bulk(member)
        if scores:
            out.real(score)
        if out.overflown:  # no more of it will be sent
            break
