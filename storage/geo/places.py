# cython: boundscheck=False, wraparound=False
"""The places that a search has found, in the order of the search until they are sorted.

Of each is known how far it is from the centre, its score, and where its member is: its *spot*
(place_marks.py).

    spot in a listpack   the position of the member
    spot in a tree       number of its leaf << 32 | its number in there

So no member is copied, and nothing is made for one but a mark.
"""

from __future__ import annotations

from typing import Final

from octets import buffers
from storage import octets
from storage.geo import place_marks, place_order
from storage.listpack.listpack import Element
from storage.sorted_sets import score_octets
from storage.sorted_sets.leaf import Leaf
from storage.sorted_sets.sorted_set import SortedSet

LEAF_SHIFT: Final = 32
AT_MASK: Final = 0xFFFFFFFF
START: Final = 16 * place_marks.MARK  # bytes


class Places:
    """*count* places of one sorted set, which must not change meanwhile.

    After go() the distance in m and the score are *distance* and *score*, and the member is
    *number* if *is_int*, else the *size* bytes of *data* from *start* on.
    """

    __slots__ = (
        "_element", "_marks", "_values", "count", "data", "distance", "is_int", "number", "score",
        "size", "start",
    )  # fmt: skip

    def __init__(self, values: SortedSet) -> None:
        self._values = values
        self._marks = bytearray(START)
        self._element = Element()
        self.count = 0
        self.distance = 0.0
        self.score = 0.0
        self.is_int = False
        self.number = 0
        self.data: bytearray | None = None
        self.start = 0
        self.size = 0

    def add(self, distance: float, score: float, spot: int) -> None:
        """Add a place after those that are there."""
        if len(self._marks) == self.count * place_marks.MARK:
            buffers.resize(self._marks, 2 * len(self._marks))
        place_marks.put(self._marks, self.count, distance, score, spot)
        self.count += 1

    def sort(self, order: int, first: int) -> None:
        """Sort them by distance, ASCENDING or DESCENDING, so far that the *first* are in place."""
        if first < self.count:
            place_order.sort_first(self._marks, self.count, first, order)
        else:
            place_order.sort(self._marks, self.count, order)

    def go(self, at: int) -> None:
        """Go to the place number *at*."""
        self.distance = place_marks.distance_at(self._marks, at)
        self.score = place_marks.score_at(self._marks, at)
        spot = place_marks.spot_at(self._marks, at)
        pack = self._values.pack
        if pack is None:
            self._go_in_tree(spot)
            return
        element = self._element
        pack.read(spot, element)
        self.is_int = element.is_int
        self.number = element.number
        self.data = pack.data
        self.start = element.start
        self.size = element.size

    def _go_in_tree(self, spot: int) -> None:
        assert self._values.tree is not None
        leaf: Leaf = self._values.tree.leaves[spot >> LEAF_SHIFT]
        offset = score_octets.place_at(leaf.marks, spot & AT_MASK)
        self.data = leaf.data
        self.start = score_octets.text_start(leaf.data, offset)
        self.size = score_octets.text_size(leaf.data, offset)

    def member(self) -> bytes:
        """The member of the place where it is now."""
        if self.is_int:
            return octets.decimal(self.number)
        assert self.data is not None
        return buffers.cut(self.data, self.start, self.start + self.size)
