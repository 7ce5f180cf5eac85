"""What is known of all streams at the moment: rows, filtered and sorted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from penstock.shown import text
from penstock.top import trouble
from penstock.top.figures import NO_DEAD_LETTERS, Group, Number, Stream
from penstock.top.history import StreamHistory
from penstock.top.trouble import STEADY, Trouble


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: a stream, or one of its groups."""

    stream: Stream
    name: str  # of the stream, as it is shown
    trouble: Trouble
    dead: Number  # dead letters there are now
    has_dead: bool  # whether there is a place for dead letters at all, as far as that is known
    rate: float | None
    rates: tuple[float | None, ...]
    seen_s: float
    lag: Number
    group: Group | None = None
    group_name: str = ""

    @property
    def key(self) -> tuple[bytes, bytes]:
        """What tells it from other rows of its table."""
        return self.stream.key, self.group.name if self.group else b""

    @property
    def pending(self) -> Number:
        return self.group.pending if self.group else self.stream.pending

    @property
    def consumers(self) -> Number:
        return self.group.consumers if self.group else self.stream.consumers

    @property
    def oldest_ms(self) -> Number:
        return self.group.oldest_ms if self.group else self.stream.oldest_ms


class Board:
    """All streams that have been seen, and what is remembered of them."""

    def __init__(self) -> None:
        self._streams: dict[bytes, Row] = {}
        self._groups: dict[bytes, list[Row]] = {}
        self._histories: dict[bytes, StreamHistory] = {}
        self._sources: dict[bytes, set[bytes]] = {}  # of dead letters: whose go to a stream

    def __len__(self) -> int:
        return len(self._streams)

    def __contains__(self, key: bytes) -> bool:
        return key in self._streams

    def clear(self) -> None:
        """Forget everything: another database, or another server."""
        self._streams.clear()
        self._groups.clear()
        self._histories.clear()
        self._sources.clear()

    def take(self, stream: Stream, now_s: float) -> None:
        """These are the stream's figures now."""
        history = self._histories.setdefault(stream.key, StreamHistory())
        history.look(stream, now_s)
        before = self._streams.get(stream.key)
        for group in stream.groups or ():
            if group.dead_letter:
                self._sources.setdefault(group.dead_letter, set()).add(stream.key)
        self._put(stream, history, now_s)
        if stream.key in self._sources and (
            before is None or before.stream.length != stream.length
        ):
            for key in self._sources[stream.key] & self._streams.keys():
                row = self._streams[key]
                self._put(row.stream, self._histories[key], row.seen_s)

    def _put(self, stream: Stream, history: StreamHistory, seen_s: float) -> None:
        """Make the rows of *stream*."""
        name, rates = text(stream.key), tuple(history.rates)
        groups = []
        for group in stream.groups or ():
            dead = self._dead_of(group)
            trend = history.trends.get(group.name, STEADY)
            groups.append(
                Row(
                    stream, name, trouble.of_group(group, trend, dead), dead,
                    group.dead_letter != NO_DEAD_LETTERS, history.rate, rates, seen_s,
                    group.lag, group,
                    text(group.name),
                )
            )  # fmt: skip
        self._groups[stream.key] = groups
        worst = trouble.of_stream(row.trouble for row in groups)
        places = {row.group.dead_letter: row.dead for row in groups if row.group and row.has_dead}
        counts = [count for count in places.values() if count is not None]
        self._streams[stream.key] = Row(
            stream, name, worst, sum(counts) if counts and len(counts) == len(places) else None,
            bool(places) or stream.groups is None, history.rate, rates, seen_s,
            stream.lag,
        )  # fmt: skip

    def forget(self, keys: Iterable[bytes]) -> None:
        """These streams are no more."""
        for key in keys:
            self._streams.pop(key, None)
            self._groups.pop(key, None)
            self._histories.pop(key, None)

    def keep_only(self, keys: Collection[bytes]) -> None:
        """All streams are among *keys*."""
        self.forget([key for key in self._streams if key not in keys])

    def stream(self, key: bytes) -> Row | None:
        return self._streams.get(key)

    def group(self, key: bytes, group: bytes) -> Row | None:
        return next((row for row in self._groups.get(key, ()) if row.key[1] == group), None)

    def streams(self) -> Iterator[Row]:
        yield from self._streams.values()

    def groups(self, key: bytes | None = None) -> Iterator[Row]:
        """The groups of one stream, or of all."""
        if key is not None:
            yield from self._groups.get(key, ())
            return
        for groups in self._groups.values():
            yield from groups

    def oldest_look_s(self) -> float | None:
        """When the figures that are the oldest were got."""
        return min((row.seen_s for row in self._streams.values()), default=None)

    def _dead_of(self, group: Group) -> Number:
        """The length of the stream with its dead letters, if that one has been seen."""
        row = self._streams.get(group.dead_letter or NO_DEAD_LETTERS)
        return row.stream.length if row else None
