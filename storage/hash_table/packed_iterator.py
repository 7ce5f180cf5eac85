# cython: boundscheck=False, wraparound=False
"""Walking over the items of a packed table without making an object for each."""

from __future__ import annotations

from octets import buffers
from storage.hash_table import mark_octets, packed_octets
from storage.hash_table.directory import Directory
from storage.hash_table.packed_segment import PackedSegment


class PackedIterator:
    """A walk over a table, made by PackedTable.iterate. The table must not change meanwhile.

    After each next() that returns True, the key is *far_key* if that is not None, otherwise the
    *key_size* bytes of *data* from *key_start* on; *far_value*,
    *value_size* and *value_start* give the value in this way.
    """

    __slots__ = (
        "_at",
        "_items",
        "_segment",
        "_slot",
        "_table",
        "data",
        "far_key",
        "far_value",
        "key_size",
        "key_start",
        "value_size",
        "value_start",
    )

    def __init__(self, table: Directory) -> None:
        """Start so that next() goes to the first item of *table*, whose segments are packed."""
        self._table = table
        self.far_key: bytes | None = None
        self.far_value: bytes | None = None
        self.key_start = self.key_size = 0
        self.value_start = self.value_size = 0
        self._enter(0)

    def _enter(self, slot: int) -> None:
        """Make the segment at *slot* the current one."""
        segment: PackedSegment = self._table._directory[slot]  # noqa: SLF001  read here only
        self._slot = slot
        self._segment = segment
        self._items = mark_octets.count(segment.marks)
        self._at = 0  # the number of the item that next() goes to
        self.data = segment.data

    def next(self) -> bool:
        """Go to the next item. False if there is none. O(1)."""
        while self._at == self._items:
            if not self._next_segment():
                return False
        segment = self._segment
        data = segment.data
        offset = mark_octets.number_at(segment.marks, self._at)
        self._at += 1
        start = packed_octets.behind(data, offset)
        if packed_octets.is_far(data, offset):
            self.far_key = packed_octets.text_at(data, offset, segment.far)
        else:
            self.far_key = None
            self.key_start = packed_octets.start_of(data, offset)
            self.key_size = packed_octets.size_of(data, offset)
        if packed_octets.is_far(data, start):
            self.far_value = packed_octets.text_at(data, start, segment.far)
        else:
            self.far_value = None
            self.value_start = packed_octets.start_of(data, start)
            self.value_size = packed_octets.size_of(data, start)
        return True

    def _next_segment(self) -> bool:
        """Go to the next segment, if there is one."""
        slot = self._table._next_slot(self._slot)  # noqa: SLF001
        if slot == len(self._table._directory):  # noqa: SLF001
            return False
        self._enter(slot)
        return True

    def key(self) -> bytes:
        """The current key."""
        if self.far_key is not None:
            return self.far_key
        return buffers.cut(self.data, self.key_start, self.key_start + self.key_size)

    def value(self) -> bytes:
        """The current value."""
        if self.far_value is not None:
            return self.far_value
        return buffers.cut(self.data, self.value_start, self.value_start + self.value_size)
