"""A walk over all keys of a table that holds none of them; see storage/rdb/borrowed.py."""

from __future__ import annotations

from typing import Any

from storage.keyspace.key_table import KeyTable
from storage.rdb import borrowed


class KeyWalk:
    """Stands at a *key* and its *value*, first before all. The table must not change meanwhile."""

    __slots__ = ("_at", "_segment", "_slot", "_table", "key", "value")

    def __init__(self, table: KeyTable) -> None:
        self._table = table
        self._slot = 0
        self._segment = borrowed.segment_at(table, 0)
        self._at = 0  # in the segment
        self.key = self.value = borrowed.nothing()

    def step(self) -> bool:
        """Go to the next key. False if there is none."""
        entry = borrowed.entry_at(self._segment, self._at)
        while entry.next < 0:
            if not self._next_segment():
                return False
            entry = borrowed.entry_at(self._segment, 0)
        self.key = entry.key
        self.value = entry.value
        self._at = entry.next
        return True

    def _next_segment(self) -> bool:
        slots = borrowed.slots(self._table)
        self._segment = borrowed.nothing()
        while borrowed.is_nothing(self._segment):
            self._slot += 1
            if self._slot >= slots:
                return False
            self._segment = borrowed.segment_at(self._table, self._slot)
        borrowed.foresee(self._segment)
        return True

    def current_key(self) -> bytes:
        """The key, held."""
        key: bytes = borrowed.held(self.key)
        return key

    def current_value(self) -> Any:
        """The value, held."""
        return borrowed.held(self.value)
