# cython: boundscheck=False, wraparound=False
"""A small sorted set: a listpack of members, each with its score after it, in order.

    listpack   member, score, member, score, ...

A score is an integer if it is whole (up to 2**62), so there is no -0; else text (score_text.py).
Positions are those of members. What is done here is O(N), but N is small.
"""

from __future__ import annotations

from octets import buffers
from storage import octets
from storage.listpack.listpack import Element, Listpack
from storage.sorted_sets import bound as bounds
from storage.sorted_sets import score_text
from storage.sorted_sets.bound import Bound

NONE = -1
EXACT = 2.0**62


def score_at(pack: Listpack, at: int) -> float:
    """The score that is at *at*."""
    return read_score(pack, at, Element())


def read_score(pack: Listpack, at: int, element: Element) -> float:
    """The score that is at *at*; *element* is overwritten."""
    pack.read(at, element)
    if element.is_int:
        return float(element.number)
    return float(buffers.cut(pack.data, element.start, element.start + element.size))


def rank(pack: Listpack, bound: Bound) -> int:
    """How many members are before *bound*."""
    members = 0
    element = Element()
    at = pack.first()
    while at != NONE and _is_before(pack, at, element, bound):
        members += 1
        at = pack.next(pack.behind(at))
    return members


def rank_at(pack: Listpack, spot: int) -> int:
    """How many members are before the one at *spot*."""
    members = 0
    at = pack.first()
    while at != spot:
        members += 1
        at = pack.next(pack.behind(at))
    return members


def _is_before(pack: Listpack, at: int, element: Element, bound: Bound) -> bool:
    """Whether the member at *at* is before *bound*; *element* is overwritten."""
    if bound.by_score:
        score = read_score(pack, pack.behind(at), element)
        if score != bound.score:
            return score < bound.score
    if bound.member is not None:
        member = pack.get_bytes(at)
        if member != bound.member:
            return member < bound.member
    return bound.after


def insert(pack: Listpack, member: bytes, score: float) -> None:
    """Add *member*, which must be new, where it belongs."""
    bound = bounds.at_both(score, member, False)
    element = Element()
    at = pack.first()
    while at != NONE and _is_before(pack, at, element, bound):
        at = pack.next(pack.behind(at))
    text = text_of(score)
    if at == NONE:
        pack.append(member)
        pack.append(text)
    else:
        pack.insert(at, member)
        pack.insert(pack.behind(at), text)


def text_of(score: float) -> bytes:
    """The text of *score*: as an element it becomes an integer if it is whole, -0 the integer 0."""
    if -EXACT <= score <= EXACT:
        number = int(score)
        if number == score:
            return octets.decimal(number)
    return score_text.text_of(score)


def remove(pack: Listpack, at: int) -> None:
    """Remove the member at *at* and its score."""
    pack.delete(pack.delete(at))
