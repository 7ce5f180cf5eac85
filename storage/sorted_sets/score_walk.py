# cython: boundscheck=False, wraparound=False
"""Walking over the members of a sorted set, in order or back, without an object for each."""

from __future__ import annotations

from storage import octets
from storage.listpack.listpack import Element, Listpack
from storage.sorted_sets import score_listpack, score_octets
from storage.sorted_sets.leaf import Leaf
from storage.sorted_sets.score_tree import ScoreTree

NONE = -1
LEAF_SHIFT = 32
AT_MASK = 0xFFFFFFFF


class ScoreWalk:
    """A walk, made by SortedSet.walk. The set must not change meanwhile.

    After each next() that returns True the score is *score*, and the member is *number* if
    *is_int*, else the *size* bytes of *data* from *start* on.
    """

    __slots__ = (
        "_at", "_element", "_end", "_leaf", "_pack", "_reverse", "_tree",
        "data", "is_int", "number", "score", "size", "start",
    )  # fmt: skip

    def __init__(
        self, pack: Listpack | None, tree: ScoreTree | None, rank: int, reverse: bool
    ) -> None:
        """Start so that next() goes to the member of *rank*; there may be none."""
        self.is_int = False
        self.number = 0
        self.data: bytearray | None = None
        self.start = 0
        self.size = 0
        self.score = 0.0
        self._reverse = reverse
        self._pack = pack
        self._tree = tree
        self._leaf: Leaf | None = None
        self._at = NONE  # of the next member: its position in a listpack, its number in a leaf
        self._end = 0  # how many members the leaf has
        if pack is not None:
            self.data = pack.data
            self._element = Element()
            self._at = NONE if rank < 0 else pack.seek(2 * rank)
        elif tree is not None and 0 <= rank < tree.length():
            self._enter(tree.spot_of(rank))

    def _enter(self, spot: int) -> None:
        """Make the leaf of *spot* the current one, and the member there the next."""
        assert self._tree is not None
        leaf: Leaf = self._tree.leaves[spot >> LEAF_SHIFT]
        self._leaf = leaf
        self._at = spot & AT_MASK
        self._end = score_octets.count(leaf.marks)
        self.data = leaf.data

    def next(self) -> bool:
        """Go to the next member. False if there is none. O(1)."""
        if self._pack is not None:
            return self._next_in_listpack(self._pack)
        if self._leaf is None:
            return False
        if self._at in (NONE, self._end):
            return self._next_leaf() and self.next()
        leaf = self._leaf
        offset = score_octets.place_at(leaf.marks, self._at)
        self.score = score_octets.score_at(leaf.marks, self._at)
        self.start = score_octets.text_start(leaf.data, offset)
        self.size = score_octets.text_size(leaf.data, offset)
        self._at += -1 if self._reverse else 1
        return True

    def _next_leaf(self) -> bool:
        """Go to the leaf behind, or to the one before. False if there is none."""
        assert self._leaf is not None
        assert self._tree is not None
        number = self._leaf.before if self._reverse else self._leaf.behind
        if number == NONE:
            self._leaf = None
            return False
        self._enter(number << LEAF_SHIFT)
        if self._reverse:
            self._at = self._end - 1
        return True

    def _next_in_listpack(self, pack: Listpack) -> bool:
        at = self._at
        if at == NONE:
            return False
        element = self._element
        behind = pack.read(at, element)
        self.is_int = element.is_int
        self.number = element.number
        self.start = element.start
        self.size = element.size
        self.score = score_listpack.read_score(pack, behind, element)
        if not self._reverse:
            self._at = pack.next(behind)
        else:
            at = pack.prev(at)
            self._at = NONE if at == NONE else pack.prev(at)
        return True

    def member(self) -> bytes:
        """The current member."""
        if self.is_int:
            return octets.decimal(self.number)
        assert self.data is not None
        return octets.cut(self.data, self.start, self.start + self.size)
