# cython: boundscheck=False, wraparound=False
"""Walking over the members of a set without making an object for each."""

from __future__ import annotations

from octets import buffers
from storage import octets
from storage.hash_table.packed_iterator import PackedIterator
from storage.hash_table.packed_table import PackedTable
from storage.listpack.listpack import Element, Listpack
from storage.sets import intset

NONE = -1


class MemberWalk:
    """A walk over the members of a set, made by MemberSet.walk. The set must not change meanwhile.

    After each next() that returns True the member is *number* if *is_int*; else *whole* if that is
    not None; else the *size* bytes of *data* from *start* on.
    """

    __slots__ = (
        "_at", "_element", "_left", "_numbers", "_pack", "_table", "data", "is_int", "number",
        "size", "start", "whole",
    )  # fmt: skip

    def __init__(self, members: bytes | Listpack | PackedTable) -> None:
        self.is_int = False
        self.number = 0
        self.whole: bytes | None = None
        self.data: bytearray | None = None
        self.start = 0
        self.size = 0
        self._at = 0  # of the next member: its index in an intset, its position in a listpack
        self._numbers: bytes | None = None
        self._pack: Listpack | None = None
        self._table: PackedIterator | None = None
        if isinstance(members, bytes):
            self._numbers = members
            self._left = intset.length(members)
            self.is_int = True
        elif isinstance(members, Listpack):
            self._pack = members
            self._at = members.first()
            self._element = Element()
            self.data = members.data
        else:
            self._table = members.iterate()

    def next(self) -> bool:
        """Go to the next member. False if there is none. O(1)."""
        if self._table is not None:
            return self._next_in_table(self._table)
        if self._pack is not None:
            return self._next_in_listpack(self._pack)
        if self._left == 0 or self._numbers is None:
            return False
        self.number = intset.get(self._numbers, self._at)
        self._at += 1
        self._left -= 1
        return True

    def _next_in_listpack(self, pack: Listpack) -> bool:
        if self._at == NONE:
            return False
        element = self._element
        self._at = pack.read(self._at, element)
        self.is_int = element.is_int
        self.number = element.number
        self.start = element.start
        self.size = element.size
        return True

    def _next_in_table(self, table: PackedIterator) -> bool:
        if not table.next():
            return False
        self.whole = table.far_key
        self.data = table.data
        self.start = table.key_start
        self.size = table.key_size
        return True

    def value(self) -> bytes:
        """The current member."""
        if self.is_int:
            return octets.decimal(self.number)
        if self.whole is not None:
            return self.whole
        assert self.data is not None
        return buffers.cut(self.data, self.start, self.start + self.size)
