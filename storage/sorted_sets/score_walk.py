# cython: boundscheck=False, wraparound=False
"""Walking over the members of a sorted set, in order or back, without an object for each."""

from __future__ import annotations

from octets import buffers
from storage import octets
from storage.listpack.listpack import Element, Listpack
from storage.sorted_sets import score_listpack, score_octets
from storage.sorted_sets.leaf import Leaf
from storage.sorted_sets.score_tree import ScoreTree

NONE = -1
LEAF_SHIFT = 32
AT_MASK = 0xFFFFFFFF


class ScoreWalk:
    """A walk, made by begin(). The set must not change meanwhile.

    After each next() that returns True the score is *score*, and the member is *number* if
    *is_int*, else the *size* bytes of *data* from *start* on.
    """

    __slots__ = (
        "_at", "_element", "_end", "_leaf", "_pack", "_reverse", "_tree",
        "data", "is_int", "number", "score", "size", "start",
    )  # fmt: skip

    data: bytearray | None
    _at: int  # of the next member: its position in a listpack, its number in a leaf
    _element: Element
    _end: int  # how many members the leaf has
    _leaf: Leaf | None
    _pack: Listpack | None
    _reverse: bool
    _tree: ScoreTree | None

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
        """Go to the next leaf in the walk's direction. False if there is none."""
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
        return buffers.cut(self.data, self.start, self.start + self.size)


def begin(pack: Listpack | None, tree: ScoreTree | None, rank: int, reverse: bool) -> ScoreWalk:
    """A walk of which next() goes to the member of *rank*; there may be none."""
    made = ScoreWalk.__new__(ScoreWalk)
    made.is_int = False
    made.number = made.start = made.size = 0
    made.score = 0.0
    made.data = made._leaf = None  # noqa: SLF001
    made._reverse = reverse  # noqa: SLF001
    made._pack = pack  # noqa: SLF001
    made._tree = tree  # noqa: SLF001
    made._at = NONE  # noqa: SLF001
    made._end = 0  # noqa: SLF001
    if pack is not None:
        made.data = pack.data
        made._element = Element()  # noqa: SLF001
        made._at = NONE if rank < 0 else pack.seek(2 * rank)  # noqa: SLF001
    elif tree is not None and 0 <= rank < tree.length():
        made._enter(tree.spot_of(rank))  # noqa: SLF001
    return made
