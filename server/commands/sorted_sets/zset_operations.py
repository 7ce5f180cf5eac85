"""Unions, intersections and differences: of scores by member, or of sets, whose scores are all 1.

N is the number of members of all sources, K the number of sources. Like Redis, unions and
intersections begin with the smallest source. That decides how a sum of many scores is rounded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from storage.listpack.listpack import Listpack
from storage.sets.member_set import MemberSet
from storage.sets.member_walk import MemberWalk
from storage.sorted_sets.score_walk import ScoreWalk
from storage.sorted_sets.sorted_set import SortedSet

Source: TypeAlias = SortedSet | MemberSet | None  # None: there is no such key, as if it were empty
Scores: TypeAlias = dict[bytes, float]
Aggregate: TypeAlias = Callable[[float, float], float]

FEW = 4  # members, that are rather looked for in a listpack itself


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
    return score if score == score else 0.0  # noqa: PLR0124  compiled, isnan() would be a call


# ---------------------------------------------------------------------- sources


class SourceWalk:
    """A walk over the members of a source, which must not change meanwhile.

    After each next() that returns True, *member* has the *score*.
    """

    __slots__ = ("_scored", "_unscored", "member", "score")

    def __init__(self, source: Source) -> None:
        self._scored: ScoreWalk | None = None
        self._unscored: MemberWalk | None = None
        self.member = b""
        self.score = 1.0
        if isinstance(source, SortedSet):
            values = source
            self._scored = values.walk(0, False)
        elif source is not None:
            members: MemberSet = source
            self._unscored = members.walk()

    def next(self) -> bool:
        """Go to the next member. False if there is none. O(1)."""
        if self._scored is not None:
            if not self._scored.next():
                return False
            self.member = self._scored.member()
            self.score = self._scored.score
            return True
        if self._unscored is None or not self._unscored.next():
            return False
        self.member = self._unscored.value()
        return True


def size_of(source: Source) -> int:
    """How many members it has."""
    return 0 if source is None else len(source)


def scores_in(source: Source, members: int) -> Source | Scores:
    """What the scores of so many *members* are looked up in: a dict, if *source* is a listpack.

    There they are looked for one after the other.
    """
    if members <= FEW or not _is_listpack(source):
        return source
    scores: Scores = {}
    walk = SourceWalk(source)
    while walk.next():
        scores[walk.member] = walk.score
    return scores


def _is_listpack(source: Source) -> bool:
    if isinstance(source, SortedSet):
        values = source
        return values.pack is not None
    return source is not None and isinstance(source.members, Listpack)


def score_in(source: Source | Scores, member: bytes) -> float | None:
    """The score of *member* there, or None. O(1) if it is large."""
    if isinstance(source, SortedSet):
        values = source
        return values.score_of(member)
    if isinstance(source, dict):
        return source.get(member)
    return 1.0 if source is not None and source.has(member) else None


# ---------------------------------------------------------------------- operations


def union(weighted: WeightedSources) -> Scores:
    """The members of any source. O(N)."""
    scores: Scores = {}
    for source, weight in weighted.ascending():
        _add_all(scores, source, weight, weighted.aggregate)
    return scores


def _add_all(scores: Scores, source: Source, weight: float, aggregate: Aggregate) -> None:
    """Join the scores of *source* with those in *scores*."""
    walk = SourceWalk(source)
    while walk.next():
        value = _number(weight * walk.score)
        known = scores.get(walk.member)
        scores[walk.member] = value if known is None else aggregate(known, value)


def union_counts(weighted: WeightedSources) -> Scores:
    """The members of any source, with the sum of the weights of those that have them. O(N)."""
    scores: Scores = {}
    for source, weight in weighted.ascending():
        walk = SourceWalk(source)
        while walk.next():
            known = scores.get(walk.member)
            scores[walk.member] = _number(weight) if known is None else total(known, weight)
    return scores


def intersection_counts(weighted: WeightedSources) -> Scores:
    """The members of all sources, with the sum of all weights. O(smallest * K)."""
    (smallest, weight), *pairs = weighted.ascending()
    count = _number(weight)
    for _, other in pairs:
        count = total(count, other)
    others = [scores_in(source, size_of(smallest)) for source, _ in pairs]
    scores: Scores = {}
    walk = SourceWalk(smallest)
    while walk.next():
        if _is_in_all(walk.member, others):
            scores[walk.member] = count
    return scores


def intersection(weighted: WeightedSources) -> Scores:
    """The members of all sources. O(smallest * K)."""
    (smallest, weight), *pairs = weighted.ascending()
    others = [(scores_in(source, size_of(smallest)), other) for source, other in pairs]
    scores: Scores = {}
    walk = SourceWalk(smallest)
    while walk.next():
        score = _score_in_all(walk, weight, others, weighted.aggregate)
        if score is not None:
            scores[walk.member] = score
    return scores


def _score_in_all(
    walk: SourceWalk,
    weight: float,
    others: list[tuple[Source | Scores, float]],
    aggregate: Aggregate,
) -> float | None:
    """What the scores of the current member make, if all others have it, too."""
    value = _number(weight * walk.score)
    for source, other_weight in others:
        found = score_in(source, walk.member)
        if found is None:
            return None
        value = aggregate(value, found * other_weight)
    return value


def intersection_size(sources: list[Source], limit: int) -> int:
    """How many members all sources have, up to *limit*; 0 means no limit. O(smallest * K)."""
    smallest, *rest = sorted(sources, key=size_of)
    others = [scores_in(source, size_of(smallest)) for source in rest]
    size = 0
    walk = SourceWalk(smallest)
    while walk.next():
        if _is_in_all(walk.member, others):
            size += 1
            if size == limit:
                break
    return size


def difference(sources: list[Source]) -> Scores:
    """The members of the first source that no other has, with their scores there. O(first * K)."""
    first, *rest = sources
    others = [scores_in(source, size_of(first)) for source in rest]
    scores: Scores = {}
    walk = SourceWalk(first)
    while walk.next():
        if not _is_in_any(walk.member, others):
            scores[walk.member] = walk.score
    return scores


def _is_in_all(member: bytes, sources: list[Source | Scores]) -> bool:
    for source in sources:  # noqa: SIM110  compiled, this is faster
        if score_in(source, member) is None:
            return False
    return True


def _is_in_any(member: bytes, sources: list[Source | Scores]) -> bool:
    for source in sources:  # noqa: SIM110  as above
        if score_in(source, member) is not None:
            return True
    return False
