"""A big hash of which some fields expire: a table, and their times beside it.

    table    field -> value
    times    field -> time             of the fields that expire
    order    time, field               a radix tree: the first is the next to expire

*time* is 8 bytes, big-endian: unix ms. So the keys of *order* are in the order of the times.
"""

from __future__ import annotations

from collections.abc import Iterator

from storage import allocation
from storage.hash_table.packed_table import PackedTable
from storage.hashes.timed_fields import NO_EXPIRY, TimedFields
from storage.rax.rax import Rax

TIME = 8  # bytes
OBJECT = 64  # bytes


class TimedTable(TimedFields):
    """What concerns one field is O(1), with a time O(length of the field)."""

    __slots__ = ("order", "table", "times")

    encoding = b"hashtable"

    def __init__(self) -> None:
        self.table = PackedTable()
        self.times = PackedTable()
        self.order = Rax()
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= OBJECT

    @staticmethod
    def of_table(table: PackedTable) -> TimedTable:
        """What *table* has, which belongs to this from now on; nothing expires."""
        made = TimedTable()
        made.table = table
        return made

    @staticmethod
    def of_items(items: Iterator[tuple[bytes, bytes, int]]) -> TimedTable:
        """Fields, values and times."""
        made = TimedTable()
        for field, value, when_ms in items:
            made.table.set(field, value)
            made._note(field, when_ms)
        return made

    # ------------------------------------------------------------------ fields

    def length(self) -> int:
        return self.table.used

    def get(self, field: bytes) -> bytes | None:
        return self.table.get(field)  # type: ignore[no-any-return]

    def set(self, field: bytes, value: bytes, keeps_time: bool) -> bool:
        is_new = self.table.set(field, value)
        if not is_new and not keeps_time:
            self._forget(field)
        return is_new

    def remove(self, field: bytes) -> bool:
        self._forget(field)
        return self.table.discard(field)

    def items(self) -> Iterator[tuple[bytes, bytes, int]]:
        for field, value in self.table.items():
            yield field, value, self.expiry(field)

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        return self.table.scan_items(cursor, count)

    def copy(self) -> TimedTable:
        made = TimedTable()
        made.table = self.table.copy()
        made.times = self.times.copy()
        for key, _ in self.order:
            made.order.insert(key, None)
        return made

    # ------------------------------------------------------------------ times

    def expiry(self, field: bytes) -> int:
        time = self.times.get(field)
        return NO_EXPIRY if time is None else int.from_bytes(time, "big")

    def expire_at(self, field: bytes, when_ms: int) -> None:
        self._forget(field)
        self._note(field, when_ms)

    def _note(self, field: bytes, when_ms: int) -> None:
        """Note the time of *field*, which has none."""
        if when_ms != NO_EXPIRY:
            time = when_ms.to_bytes(TIME, "big")
            self.times.set(field, time)
            self.order.insert(time + field, None)

    def _forget(self, field: bytes) -> None:
        """Forget the time of *field*, if it has one."""
        time = self.times.pop(field)
        if time is not None:
            self.order.remove(time + field)

    def next_expiry(self) -> int:
        first = self.order.seek("^")
        return int.from_bytes(first.key[:TIME], "big") if first.next() else NO_EXPIRY

    def due(self, now_ms: int, most: int) -> list[bytes]:
        found: list[bytes] = []
        at = self.order.seek("^")
        while len(found) < most and at.next() and int.from_bytes(at.key[:TIME], "big") < now_ms:
            found.append(at.key[TIME:])
        return found
