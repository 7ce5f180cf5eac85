"""How long values are, and how much memory those of each type take: INFO keysizes and types.

    db0_distrib_strings_sizes:4=2,2K=1             two strings of 4 to 7 bytes, one of 2048 to 4095
    penstock_type_stream:keys=3,memory=1048576     as MEMORY USAGE says it, of all three together

Redis counts lengths at each write. Here nothing is counted until somebody asks: that has all keys
walked, a slice of SLICE_S at each tick of cron, and what the last walk has found is shown. So the
figures of many keys are some seconds old, and missing until the first walk is done. A few keys are
counted at once. Memory is measured only if that was asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from server.observe.fact import BYTES, COUNT, Family, Spread, gauge
from server.observe.part import Part
from storage import types
from storage.keyspace.keyspace import Keyspace
from storage.strings.value_type import STRING, text_of
from storage.value_type import ValueType

AT_ONCE = 1000  # keys whose lengths INFO itself counts; more would hold all clients up for long
MEASURED_AT_ONCE = 100  # keys whose memory is measured at once
PAGE = 32  # keys between two looks at the clock
SLICE_S = 0.0005  # of a tick: defends clients against a walk over many keys
PAUSE_MS = 5000  # from the end of a walk to the next; or as long as the walk took, if that is more
SAMPLES = 5  # parts of a large value that are measured, as MEMORY USAGE does

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


class TypeSum(NamedTuple):
    """What the keys of one type have together. *memory*: bytes, with those of the keys."""

    keys: int
    memory: int


TYPES = Family[TypeSum](
    "penstock_type_", "type",
    gauge("keys", COUNT, lambda sum_: sum_.keys, "Keys"),
    gauge("memory", BYTES, lambda sum_: sum_.memory,
          "What the keys take with their values; large values are judged by a part of them"),
    when="Of more than 100 keys as they were some time ago",
)  # fmt: skip

Counts = dict[tuple[int, int], Counter[int]]  # (database, number of the type) -> by bit length


class KeySizes(Part):
    """The sizes of the values in *databases*. *monotonic_s* measures the slices."""

    def __init__(self, databases: Sequence[Keyspace], monotonic_s: Callable[[], float]) -> None:
        self._databases = databases
        self._monotonic_s = monotonic_s
        self._counts: Counts = {}  # of the last walk that has ended
        self._sums: dict[int, TypeSum] | None = None  # of the last one that has measured
        self._walk: Iterator[None] | None = None  # that is on
        self._is_wanted = False  # since the last walk has begun
        self._is_memory_wanted = False
        self._began_ms = self._rests_until_ms = 0  # on the monotonic clock

    def lines(self) -> Iterator[tuple[str, dict[str, float]]]:
        """What INFO shows: names, and counts by the least length. O(1), but for up to 1000 keys."""
        if self._keys() <= AT_ONCE:
            self._walk_now(measures=False)
        else:
            self._is_wanted = True
        for (index, number), counts in sorted(self._counts.items()):
            name = LENGTHS[types.of_number(number).name]
            bins: dict[str, float] = {_least(bits): counts[bits] for bits in sorted(counts)}
            yield f"db{index}_distrib_{name}", bins

    def by_type(self) -> list[tuple[str, TypeSum]]:
        """The sums of each type that there is; none until all keys have been looked at once.

        O(1), but for up to 100 keys.
        """
        if self._keys() <= MEASURED_AT_ONCE:
            self._walk_now(measures=True)
        else:
            self._is_wanted = self._is_memory_wanted = True
        sums = self._sums or {}
        return [(types.of_number(number).name.decode(), sums[number]) for number in sorted(sums)]

    def tick(self, now_ms: int) -> None:
        if self._walk is None:
            if not self._is_wanted or now_ms < self._rests_until_ms:
                return
            self._began_ms = now_ms
            self._walk = self._walked(self._is_memory_wanted)
            self._is_wanted = self._is_memory_wanted = False
        until_s = self._monotonic_s() + SLICE_S
        while next(self._walk, self) is not self:
            if self._monotonic_s() >= until_s:
                return
        self._walk = None
        self._rests_until_ms = now_ms + max(PAUSE_MS, now_ms - self._began_ms)

    def emptied(self, databases: Sequence[Keyspace]) -> None:
        self._counts = {}
        self._sums = None
        self._walk = None

    def _keys(self) -> int:
        return sum(map(len, self._databases))

    def _walk_now(self, measures: bool) -> None:
        """Beside a walk that is on: one that only counts must not end one that measures."""
        for _ in self._walked(measures):
            pass

    def _walked(self, measures: bool) -> Iterator[None]:
        """Count all values, a page at each step, and keep the counts; measure them, if asked to."""
        counts: Counts = {}
        sizes: Counter[int] = Counter()
        for db in self._databases:
            cursor = 0
            while len(db):
                cursor, keys = db.scan(cursor, PAGE)
                for key in keys:
                    value = db.peek(key)
                    if value is None:
                        continue
                    row = types.of(value)
                    of_type = counts.setdefault((db.index, row.number), Counter())
                    of_type[_length(row, value).bit_length()] += 1
                    if measures:
                        sizes[row.number] += db.bytes_of(key, SAMPLES)
                        yield
                yield
                if not cursor:
                    break
        self._counts = counts
        if measures:
            self._sums = {
                number: TypeSum(_keys_of(counts, number), sizes[number]) for number in sizes
            }


def _keys_of(counts: Counts, number: int) -> int:
    """How many values of that type are in all databases."""
    return sum(of_type.total() for (_, each), of_type in counts.items() if each == number)


def _length(row: ValueType, value: Any) -> int:
    return len(text_of(value)) if row is STRING else row.length(value)


def _least(bits: int) -> str:
    """The least length of those that have so many binary digits: 0, 1, 2, .. 512, 1K, .."""
    if not bits:
        return "0"
    unit, digits = divmod(bits - 1, 10)
    return f"{1 << digits}{UNITS[unit]}"
