# cython: boundscheck=False, wraparound=False
"""The search for the places of a sorted set that are in an area.

Each range of scores is walked in its order (area.py). Only the scores are looked at: the member of
a place that is outside is never touched.
"""

from __future__ import annotations

from typing import Final

from storage.geo import place_marks
from storage.geo.area import Area
from storage.geo.places import Places
from storage.listpack.listpack import Element, Listpack
from storage.sorted_sets import bound, score_listpack, score_octets
from storage.sorted_sets.leaf import Leaf
from storage.sorted_sets.score_tree import ScoreTree
from storage.sorted_sets.sorted_set import SortedSet

NONE: Final = -1
LEAF_SHIFT: Final = 32
AT_MASK: Final = 0xFFFFFFFF


def find(values: SortedSet, area: Area, most: int) -> Places:
    """The places of *values* in *area*, in the order of the search; the first *most*, 0: all.

    O(9 log N + M), where N is the number of members and M of those in the nine cells.
    """
    found = Places(values)
    marks = bytearray() if values.pack is None else _marks_of(values.pack)
    for low, high in area.ranges():
        if values.tree is not None:
            _find_in_tree(found, values.tree, area, low, high, most)
        else:
            _find_in_marks(found, marks, area, low, high, most)
        if found.count == most and most:
            break
    return found


def _find_in_tree(
    found: Places, tree: ScoreTree, area: Area, low: float, high: float, most: int
) -> None:
    """Add those with scores from *low* to before *high*."""
    rank = tree.rank(bound.at_score(low, False))
    if rank == tree.length():
        return
    spot = tree.spot_of(rank)
    number = spot >> LEAF_SHIFT
    at = spot & AT_MASK
    while number != NONE:
        leaf: Leaf = tree.leaves[number]
        end = score_octets.count(leaf.marks)
        while at < end:
            score = score_octets.score_at(leaf.marks, at)
            if score >= high:
                return
            distance = area.distance_of(score)
            if distance >= 0:
                found.add(distance, score, number << LEAF_SHIFT | at)
                if found.count == most:
                    return
            at += 1
        number = leaf.behind
        at = 0


def _marks_of(pack: Listpack) -> bytearray:
    """The scores of a small set and where their members are, so that they are read only once."""
    marks = bytearray((pack.length() >> 1) * place_marks.MARK)
    element = Element()
    at, number = pack.first(), 0
    while at != NONE:
        behind = pack.behind(at)
        score = score_listpack.read_score(pack, behind, element)
        place_marks.put(marks, number, 0.0, score, at)
        number += 1
        at = pack.next(behind)
    return marks


def _find_in_marks(
    found: Places, marks: bytearray, area: Area, low: float, high: float, most: int
) -> None:
    """Add those of a small set, given by *marks*, with scores from *low* to before *high*. O(N)."""
    for at in range(len(marks) // place_marks.MARK):
        score = place_marks.score_at(marks, at)
        if score >= high:
            return
        if score >= low:
            distance = area.distance_of(score)
            if distance >= 0:
                found.add(distance, score, place_marks.spot_at(marks, at))
                if found.count == most:
                    return
