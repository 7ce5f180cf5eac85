"""Members and scores as RESP, written straight from the bytes that hold them."""

from __future__ import annotations

from collections.abc import Iterable

from protocol.encoder import Encoder
from storage.sorted_sets.score_walk import ScoreWalk
from storage.sorted_sets.sorted_set import SortedSet


def write_range(
    out: Encoder, values: SortedSet, rank: int, count: int, reverse: bool, scores: bool
) -> None:
    """Write *count* members from that *rank* on (with *reverse*, back from it) as an array.

    With *scores*, each is followed by its score in RESP2, and is a pair with it in RESP3.
    """
    in_pairs = scores and out.resp == 3
    out.array(2 * count if scores and not in_pairs else count)
    member = values.walk(rank, reverse)
    while count > 0 and member.next():
        if in_pairs:
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


def write_pairs(
    out: Encoder, pairs: Iterable[tuple[bytes, float]], count: int, scores: bool, in_pairs: bool
) -> None:
    """Write *count* members, with their *scores* behind them or *in_pairs* with them."""
    out.array(2 * count if scores and not in_pairs else count)
    for member, score in pairs:
        if scores and in_pairs:
            out.array(2)
        out.bulk(member)
        if scores:
            out.real(score)
        if out.overflown:  # no more of it will be sent
            break
