"""A walk over all keys of a table by borrowed references; see storage/rdb/borrowed.py."""

from __future__ import annotations

from typing import Any

from storage.keyspace.key_table import KeyTable
from storage.rdb import borrowed
from storage.snapshot import borrowed_table


class KeyWalk:
    """Stands at a *key* and its *value*; at first, before all keys.

    The table must not change meanwhile.
    """

    __slots__ = ("_at", "_segment", "_slot", "_table", "key", "value")

    def __init__(self, table: KeyTable) -> None:
        self._table = table
        self._slot = 0
        self._segment = borrowed_table.segment_at(table, 0)
        self._at = 0  # in the segment
        self.key = self.value = borrowed.nothing()

    def step(self) -> bool:
        """Go to the next key. False if there is none."""
        entry = borrowed_table.entry_at(self._segment, self._at)
        while entry.next < 0:
            if not self._next_segment():
                return False
            entry = borrowed_table.entry_at(self._segment, 0)
        self.key = entry.key
        self.value = entry.value
        self._at = entry.next
        return True

    def _next_segment(self) -> bool:
        slots = borrowed_table.slots(self._table)
        self._segment = borrowed.nothing()
        while borrowed.is_nothing(self._segment):
            self._slot += 1
            if self._slot >= slots:
                return False
            self._segment = borrowed_table.segment_at(self._table, self._slot)
        borrowed_table.prefetch(self._segment)
        return True

    def last_use(self) -> int:
        """The last use of the key; see storage/keyspace/usage.py."""
        return borrowed_table.last_use_at(self._segment, self._at - 1)

    def current_key(self) -> bytes:
        """The key as an ordinary reference."""
        key: bytes = borrowed.held(self.key)
        return key

    def current_value(self) -> Any:
        """The value as an ordinary reference."""
        return borrowed.held(self.value)
