"""A walk over all keys of a table by borrowed references; see storage/rdb/borrowed.py."""

from __future__ import annotations

from typing import Any

from storage import types
from storage.hash_table import borrowed_packed
from storage.keyspace import item_octets
from storage.keyspace.key_table import KeyTable
from storage.rdb import borrowed, raw
from storage.snapshot import borrowed_table


class KeyWalk:
    """Stands at a *key* and its *value*; at first, before all keys.

    The table must not change meanwhile. Keys and small values are copies, which the walk holds;
    they may be new objects at each step.
    """

    __slots__ = ("_at", "_copy", "_key", "_segment", "_slot", "_table", "key", "value")

    def __init__(self, table: KeyTable) -> None:
        self._table = table
        self._slot = 0
        self._segment = borrowed_packed.segment_at(borrowed.of(table), 0)
        self._at = -1  # in the segment
        self._key = b""
        self._copy: Any = None  # of a small value
        self.key = self.value = borrowed.nothing()

    def step(self) -> bool:
        """Go to the next key. False if there is none."""
        self._at += 1
        while self._at >= borrowed_packed.count(self._segment):
            if not self._next_segment():
                return False
        self._key = _copy(borrowed_packed.key_at(self._segment, self._at))
        self.key = borrowed.of(self._key)
        kind = borrowed_table.kind_at(self._segment, self._at)
        if kind == item_octets.OBJECT:
            self.value = borrowed_table.object_at(self._segment, self._at)
        else:
            self._copy = self._copy_of_value(kind)
            self.value = borrowed.of(self._copy)
        return True

    def _copy_of_value(self, kind: int) -> Any:
        if kind == item_octets.NUMBER:
            return borrowed_table.number_at(self._segment, self._at)
        text = _copy(borrowed_table.text_at(self._segment, self._at))
        if kind == item_octets.TEXT:
            return text
        return types.of_number(kind - item_octets.PACKED).unpacked(text)

    def _next_segment(self) -> bool:
        table = borrowed.of(self._table)
        slots = borrowed_packed.slots(table)
        self._segment = borrowed.nothing()
        while borrowed.is_nothing(self._segment):
            self._slot += 1
            if self._slot >= slots:
                return False
            self._segment = borrowed_packed.segment_at(table, self._slot)
        self._at = 0
        borrowed_table.prefetch(self._segment)
        return True

    def last_use(self) -> int:
        """The last use of the key; see storage/keyspace/usage.py."""
        return borrowed_table.last_use_at(self._segment, self._at)

    def current_key(self) -> bytes:
        """The key as an ordinary reference."""
        return self._key

    def current_value(self) -> Any:
        """The value as an ordinary reference."""
        return borrowed.held(self.value)


def _copy(text: borrowed_packed.Text) -> bytes:
    return raw.cut(text.octets, 0, text.size)
