"""INFO keysizes: how long values are, as counts by powers of two, for each type and database.

    db0_distrib_strings_sizes:4=2,2K=1     two strings of 4 to 7 bytes, one of 2048 to 4095

Redis counts at each write. Here nothing is counted until somebody asks: INFO has all keys walked, a
part at each tick of cron, and shows what the last walk has found. So the figures of many keys are
some seconds old, and missing until the first walk is done. A few keys are counted at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from server.observe.fact import COUNT, Spread, gauge
from server.observe.part import Part
from storage import types
from storage.keyspace.keyspace import Keyspace
from storage.strings.value_type import STRING, text_of
from storage.value_type import ValueType

AT_ONCE = 1000  # keys that INFO itself counts; more would hold all clients up for long
A_TICK = 1000  # keys that a tick counts: a millisecond or two
PAUSE_MS = 5000  # from the end of a walk to the next

LENGTHS = {
    b"string": "strings_sizes",
    b"list": "lists_items",
    b"set": "sets_items",
    b"zset": "zsets_items",
    b"hash": "hashes_items",
    b"stream": "streams_items",
}
UNITS = ("", "K", "M", "G", "T")

SIZES = Spread(
    "", "distribution", "least",
    gauge("", COUNT, lambda count: count,
          "Values with so many bytes (strings) or items, up to twice as many"),
    when="Of more than 1000 keys as they were some time ago",
)  # fmt: skip

Counts = dict[tuple[int, int], Counter[int]]  # (database, number of the type) -> by bit length


class KeySizes(Part):
    """The lengths of the values in *databases*."""

    def __init__(self, databases: Sequence[Keyspace]) -> None:
        self._databases = databases
        self._counts: Counts = {}  # of the last walk that has ended
        self._walk: Iterator[None] | None = None  # that is on
        self._is_wanted = False  # since the last walk has ended
        self._rests_until_ms = 0  # on the monotonic clock

    def lines(self) -> Iterator[tuple[str, dict[str, float]]]:
        """What INFO shows: names, and counts by the least length. O(1), but for up to 1000 keys."""
        if sum(map(len, self._databases)) <= AT_ONCE:
            self._walk = None
            for _ in self._walked():
                pass
        else:
            self._is_wanted = True
        for (index, number), counts in sorted(self._counts.items()):
            name = LENGTHS[types.of_number(number).name]
            bins: dict[str, float] = {_least(bits): counts[bits] for bits in sorted(counts)}
            yield f"db{index}_distrib_{name}", bins

    def tick(self, now_ms: int) -> None:
        if self._walk is None:
            if not self._is_wanted or now_ms < self._rests_until_ms:
                return
            self._is_wanted = False
            self._walk = self._walked()
        if next(self._walk, self) is self:
            self._walk = None
            self._rests_until_ms = now_ms + PAUSE_MS

    def emptied(self, databases: Sequence[Keyspace]) -> None:
        self._counts = {}
        self._walk = None

    def _walked(self) -> Iterator[None]:
        """Count all values, A_TICK of them at each step, and keep the counts."""
        counts: Counts = {}
        for db in self._databases:
            cursor = 0
            while len(db):
                cursor, keys = db.scan(cursor, A_TICK)
                for key in keys:
                    value = db.peek(key)
                    if value is not None:
                        row = types.of(value)
                        of_type = counts.setdefault((db.index, row.number), Counter())
                        of_type[_length(row, value).bit_length()] += 1
                yield
                if not cursor:
                    break
        self._counts = counts


def _length(row: ValueType, value: Any) -> int:
    return len(text_of(value)) if row is STRING else row.length(value)


def _least(bits: int) -> str:
    """The least length of those that have so many binary digits: 0, 1, 2, .. 512, 1K, .."""
    if not bits:
        return "0"
    unit, digits = divmod(bits - 1, 10)
    return f"{1 << digits}{UNITS[unit]}"
