"""The figures of all streams: for metrics one after the other, for INFO their sums.

    walk(databases, index, clock)      yields the streams; None where others may have their turn

INFO itself walks over a few streams. With more of them it shows what the last walk has found, and
has another one begun: cron takes a slice of SLICE_S at each tick. So while nobody asks for INFO
streams nothing is counted, and the sums of many streams are some seconds old.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from server.observe.part import Part
from server.parts.stream_survey.figures import GroupFigures, group_figures
from server.parts.stream_survey.stream_index import StreamIndex
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.keyspace import Keyspace
from storage.keyspace.settings import Clock
from storage.side_data.schedule import SCHEDULE
from storage.stream.stream import Stream

PAGE = 32  # streams, or groups, between two looks at who else there is
AT_ONCE = 100  # keys of which INFO itself looks at all
SLICE_S = 0.001  # of a tick: defends clients against a walk over many streams
PAUSE_MS = 1000  # from the end of a walk to the next


class Found(NamedTuple):
    """A stream that a walk has come to."""

    db: Keyspace
    key: bytes
    stream: Stream


def walk(databases: Sequence[Keyspace], index: StreamIndex, clock: Clock) -> Iterator[Found | None]:
    """All streams that have not expired. O(PAGE) between two times that it yields None.

    Those that are new since the names were gathered are left out: so it ends, however fast they
    come. What it yields may be gone when the next one is asked for: the caller looks at it at once.
    """
    for db in databases:
        if not len(db):
            continue
        cursor, last, is_end = 0, 0, False
        while not is_end:
            names = index.of(db)
            if names.is_complete and not last:
                last = names.end
            end, page = names.page(cursor, PAGE)
            for _, key in page:
                stream = db.table.look(key)
                expiry = db.expiry(key)
                if type(stream) is Stream and (expiry == NO_EXPIRY or expiry >= clock.now_ms):
                    yield Found(db, key, stream)
            cursor = names.next_page(end)
            is_end = cursor == 0 or 0 < last <= cursor
            yield None


class Sums:
    """What all streams have together. *lag* is the largest of those that are known."""

    __slots__ = (
        "bytes", "consumers", "counted_ms", "dead_lettered", "entries", "groups", "lag",
        "oldest_pending_ms", "pending", "redelivered", "scheduled", "streams", "unknown_lags",
    )  # fmt: skip

    def __init__(self) -> None:
        self.counted_ms = 0  # when the walk has ended, by the clock of the ticks
        self.streams = self.entries = self.bytes = self.scheduled = 0
        self.groups = self.consumers = self.pending = self.redelivered = self.dead_lettered = 0
        self.lag = self.unknown_lags = self.oldest_pending_ms = 0

    def add_stream(self, stream: Stream, scheduled: int) -> None:
        """Add what a stream has, without its groups."""
        self.streams += 1
        self.entries += stream.length
        self.bytes += stream.node_bytes()
        self.scheduled += scheduled

    def add_group(self, group: GroupFigures) -> None:
        self.groups += 1
        self.consumers += group.consumers
        self.pending += group.pending
        self.redelivered += group.redelivered
        self.dead_lettered += group.dead_lettered
        self.oldest_pending_ms = max(self.oldest_pending_ms, group.oldest_pending_ms or 0)
        if group.lag is None:
            self.unknown_lags += 1
        else:
            self.lag = max(self.lag, group.lag)


class Survey(Part):
    """Walks when INFO asks. *monotonic_s* measures the slices, *clock* has the unix time."""

    def __init__(
        self,
        databases: Sequence[Keyspace],
        index: StreamIndex,
        clock: Clock,
        monotonic_s: Callable[[], float],
    ) -> None:
        self._databases = databases
        self._index = index
        self._clock = clock
        self._monotonic_s = monotonic_s
        self._sums: Sums | None = None  # of the last walk that has ended
        self._walk: Iterator[None] | None = None
        self._is_wanted = False  # since the last walk has begun
        self._ticked_ms = 0
        self._rests_until_ms = 0

    def sums(self) -> Sums | None:
        """What the last walk has found; None: there was none yet. Few streams are walked over."""
        if sum(map(len, self._databases)) <= AT_ONCE:
            self._walk = None
            for _ in self._walked():
                pass
        else:
            self._is_wanted = True
        return self._sums

    def age_s(self, sums: Sums) -> int:
        """How old *sums* are."""
        return max(0, self._ticked_ms - sums.counted_ms) // 1000

    def tick(self, now_ms: int) -> None:
        self._ticked_ms = now_ms
        if self._walk is None:
            if not self._is_wanted or now_ms < self._rests_until_ms:
                return
            self._is_wanted = False
            self._walk = self._walked()
        until_s = self._monotonic_s() + SLICE_S
        while next(self._walk, self) is not self:
            if self._monotonic_s() >= until_s:
                return
        self._walk = None
        self._rests_until_ms = now_ms + PAUSE_MS

    def emptied(self, databases: Sequence[Keyspace]) -> None:
        self._walk = None

    def _walked(self) -> Iterator[None]:
        """Look at all streams, some at each step, and keep the sums."""
        sums = Sums()
        for found in walk(self._databases, self._index, self._clock):
            if found is None:
                yield
            else:
                yield from self._add(sums, found)
        sums.counted_ms = self._ticked_ms
        self._sums = sums

    def _add(self, sums: Sums, found: Found) -> Iterator[None]:
        """Add a stream, and its groups, some at each step: those that it has now."""
        stream = found.stream
        side = found.db.side.get(found.key)
        schedule = None if side is None else side.get(SCHEDULE)
        sums.add_stream(stream, 0 if schedule is None else len(schedule))
        for number, (name, group) in enumerate(stream.sorted_groups(), 1):
            sums.add_group(group_figures(stream, name, group, None, self._clock.now_ms))
            if number % PAGE == 0:
                yield
