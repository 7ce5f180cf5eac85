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
from server.parts.stream_survey.figures import StreamFigures, figures_of
from server.parts.stream_survey.stream_index import StreamIndex
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.keyspace import Keyspace
from storage.keyspace.settings import Clock
from storage.stream.stream import Stream

PAGE = 32  # streams between two looks at who else there is
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


class Sums(NamedTuple):
    """What all streams have together. *lag* is the largest of those that are known."""

    counted_ms: int = 0  # when the walk has ended, by the clock of the ticks
    streams: int = 0
    entries: int = 0
    bytes: int = 0
    groups: int = 0
    consumers: int = 0
    pending: int = 0
    lag: int = 0
    unknown_lags: int = 0
    oldest_pending_ms: int = 0
    redelivered: int = 0
    dead_lettered: int = 0
    scheduled: int = 0

    def plus(self, figures: StreamFigures) -> Sums:
        """The sums with one stream more."""
        unknown = sum(group.lag is None for group in figures.groups)
        lags = [group.lag for group in figures.groups if group.lag is not None]
        return Sums(
            self.counted_ms,
            self.streams + 1,
            self.entries + figures.length,
            self.bytes + figures.bytes,
            self.groups + len(figures.groups),
            self.consumers + figures.consumers,
            self.pending + figures.pending,
            max([self.lag, *lags]),
            self.unknown_lags + unknown,
            max(self.oldest_pending_ms, figures.oldest_pending_ms or 0),
            self.redelivered + figures.redelivered,
            self.dead_lettered + figures.dead_lettered,
            self.scheduled + figures.scheduled,
        )


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
                side = found.db.side.get(found.key)
                sums = sums.plus(figures_of(found.stream, side, self._clock.now_ms))
        self._sums = sums._replace(counted_ms=self._ticked_ms)
