"""Unions, intersections and differences: of scores by member, or of sets, whose scores are all 1.

N is the number of members of all sources, K the number of sources. Like Redis, unions and
intersections begin with the smallest source. That decides how a sum of many scores is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isnan
from typing import NamedTuple, TypeAlias

from storage.sets.member_set import MemberSet
from storage.sorted_sets.sorted_set import SortedSet

Source: TypeAlias = SortedSet | MemberSet | None  # None: there is no such key, as if it were empty
Scores: TypeAlias = dict[bytes, float]
Aggregate: TypeAlias = Callable[[float, float], float]


class WeightedSources(NamedTuple):
    """Sources, what the scores of each are multiplied by, and how scores of a member are joined."""

    sources: list[Source]
    weights: list[float]
    aggregate: Aggregate

    def ascending(self) -> list[tuple[Source, float]]:
        """All with their weights, the smallest first."""
        pairs = zip(self.sources, self.weights, strict=True)
        return sorted(pairs, key=lambda pair: size_of(pair[0]))


def total(one: float, other: float) -> float:
    """Their sum; 0 for infinities of both signs."""
    return _number(one + other)


def lower(one: float, other: float) -> float:
    """The lower one."""
    return min(one, other)


def higher(one: float, other: float) -> float:
    """The higher one."""
    return max(one, other)


def _number(score: float) -> float:
    """*score*, but 0 for a NaN, as Redis has it."""
    return 0.0 if isnan(score) else score


# ---------------------------------------------------------------------- sources


def size_of(source: Source) -> int:
    """How many members it has."""
    return 0 if source is None else len(source)


def pairs_of(source: Source) -> Iterator[tuple[bytes, float]]:
    """Its members with their scores."""
    if isinstance(source, SortedSet):
        yield from source
    elif source is not None:
        for member in source:
            yield member, 1.0


def score_in(source: Source, member: bytes) -> float | None:
    """The score of *member* there, or None. O(1) if it is large."""
    if isinstance(source, SortedSet):
        return source.score_of(member)
    return 1.0 if source is not None and source.has(member) else None


# ---------------------------------------------------------------------- operations


def union(weighted: WeightedSources) -> Scores:
    """The members of any source. O(N)."""
    scores: Scores = {}
    for source, weight in weighted.ascending():
        for member, score in pairs_of(source):
            value = _number(weight * score)
            known = scores.get(member)
            scores[member] = value if known is None else weighted.aggregate(known, value)
    return scores


def intersection(weighted: WeightedSources) -> Scores:
    """The members of all sources. O(smallest * K)."""
    (smallest, weight), *others = weighted.ascending()
    scores: Scores = {}
    for member, score in pairs_of(smallest):
        value = _number(weight * score)
        for source, other_weight in others:
            found = score_in(source, member)
            if found is None:
                break
            value = weighted.aggregate(value, found * other_weight)
        else:
            scores[member] = value
    return scores


def intersection_size(sources: list[Source], limit: int) -> int:
    """How many members all sources have, up to *limit*; 0 is no limit. O(smallest * K)."""
    smallest, *others = sorted(sources, key=size_of)
    size = 0
    for member, _ in pairs_of(smallest):
        if all(score_in(source, member) is not None for source in others):
            size += 1
            if size == limit:
                break
    return size


def difference(sources: list[Source]) -> Scores:
    """The members of the first source that no other has, with their scores there. O(first * K)."""
    first, *others = sources
    return {
        member: score
        for member, score in pairs_of(first)
        if all(score_in(source, member) is None for source in others)
    }
