"""Metrics of streams, groups and consumers: redis_stream_*, and penstock_stream_* beside them.

The streams whose names metrics-streams matches are shown, with their groups, and with consumers if
metrics-consumers says so, until there are metrics-max-series samples: these defend the server, and
those who store its metrics, against many names. A stream that has no room with all its groups is
left out; those that were there first have it. penstock_metrics_streams_left_out counts the rest.

Figures are taken in steps, so that others have their turn. All samples of a family stand together
on the page, so the figures of all streams are kept until it is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from server.config.parameters import Config
from server.metrics.exposition import label_of, labels_text
from server.metrics.family import Column, Readings, column
from server.parts.state import ServerState
from server.parts.stream_survey.figures import GroupFigures, group_figures
from server.parts.stream_survey.survey import Found, walk
from storage import glob
from storage.keyspace.settings import Clock
from storage.side_data.group_policy import GROUP_POLICY
from storage.side_data.schedule import SCHEDULE
from storage.stream.consumer_group import Consumer, ConsumerGroup
from storage.stream.stream import Stream

IDLE_MS = 60_000  # since a consumer has asked for anything: then it counts as idle
MOST_CONSUMERS = 5000  # of one group that are looked at: defends others against a pause

OF_STREAM = ("db", "stream")
OF_GROUP = (*OF_STREAM, "group")
OF_CONSUMER = (*OF_GROUP, "consumer")


class StreamRow(NamedTuple):
    """A stream, and how many entries are added to it later."""

    stream: Stream
    scheduled: int


class GroupRow(NamedTuple):
    """What is told of a group besides its figures."""

    figures: GroupFigures
    idle_consumers: int | None
    nacked: int | None


class ConsumerRow(NamedTuple):
    """What is told of a consumer."""

    pending: int
    idle_ms: int


def _stream(name: str, unit: str, meaning: str, read: Any) -> Column[StreamRow]:
    return column(name, unit, meaning, read, OF_STREAM)


def _of_producers(name: str, unit: str, meaning: str, read: Any) -> Column[StreamRow]:
    """There is no sample of a stream to which nobody adds each entry once."""

    def known(row: StreamRow) -> float | None:
        value: float | None = None
        if row.stream.producers is not None:
            value = read(row.stream.producers)
        return value

    return _stream(name, unit, meaning, known)


def _group(name: str, unit: str, meaning: str, read: Any) -> Column[GroupRow]:
    return column(name, unit, meaning, read, OF_GROUP)


STREAM_COLUMNS: tuple[Column[StreamRow], ...] = (
    _stream("redis_stream_length", "number", "Entries", lambda row: row.stream.length),
    _stream("redis_stream_radix_tree_keys", "number", "Nodes of entries",
            lambda row: len(row.stream.rax)),
    _stream("redis_stream_radix_tree_nodes", "number", "Nodes of the tree above them",
            lambda row: row.stream.rax.node_count),
    _stream("redis_stream_last_generated_id", "unix time in ms", "The last id that was given",
            lambda row: row.stream.last_id.ms),
    _stream("redis_stream_groups", "number", "Consumer groups",
            lambda row: len(row.stream.groups)),
    _stream("redis_stream_max_deleted_entry_id", "unix time in ms",
            "The greatest id that was deleted; 0: none was",
            lambda row: row.stream.max_deleted_id.ms),
    _stream("redis_stream_first_entry_id", "unix time in ms", "The id of the first entry",
            lambda row: row.stream.first_id.ms if row.stream.length else None),
    _stream("redis_stream_last_entry_id", "unix time in ms", "The id of the last entry",
            lambda row: row.stream.last_entry_id().ms if row.stream.length else None),
    _stream("redis_stream_entries_added_total", "number", "Entries that were ever added",
            lambda row: row.stream.entries_added),
    _of_producers("redis_stream_idmp_duration_seconds", "seconds",
                  "For how long entries of producers are known that add each of them once",
                  lambda tracked: tracked.seconds),
    _of_producers("redis_stream_idmp_max_size", "number", "How many of each producer are known",
                  lambda tracked: tracked.ids),
    _of_producers("redis_stream_idmp_producer_ids_tracked", "number", "Such producers",
                  lambda tracked: tracked.count()),
    _of_producers("redis_stream_idmp_idempotent_ids_tracked", "number", "Their known entries",
                  lambda tracked: tracked.tracked),
    _of_producers("redis_stream_idmp_entries_added_total", "number",
                  "Entries that such producers have added", lambda tracked: tracked.added),
    _of_producers("redis_stream_idmp_duplicates_total", "number",
                  "Entries that they sent once more, and which were not added",
                  lambda tracked: tracked.duplicates),
    _stream("penstock_stream_bytes", "bytes", "What the nodes of the entries take",
            lambda row: row.stream.node_bytes()),
    _stream("penstock_stream_scheduled", "number", "Entries that are added later",
            lambda row: row.scheduled),
)  # fmt: skip

GROUP_COLUMNS: tuple[Column[GroupRow], ...] = (
    _group("redis_stream_group_consumers", "number", "Consumers",
           lambda row: row.figures.consumers),
    _group("redis_stream_group_messages_pending", "number",
           "Entries that were delivered and not acknowledged", lambda row: row.figures.pending),
    _group("redis_stream_group_last_delivered_id", "unix time in ms",
           "The id of the last entry that was delivered", lambda row: row.figures.last_id.ms),
    _group("redis_stream_group_entries_read", "number",
           "Entries of the stream up to the last one that was delivered, if that is known",
           lambda row: row.figures.entries_read),
    _group("redis_stream_group_lag", "number",
           "Entries that the group has still to read, if that is known",
           lambda row: row.figures.lag),
    _group("redis_stream_group_messages_nacked", "number",
           "Those of the pending entries that were given back, and are nobody's",
           lambda row: row.nacked),
    _group("penstock_stream_group_oldest_pending_seconds", "seconds",
           "How long ago the oldest delivery was that is not acknowledged, if there is one",
           lambda row: (
               None
               if row.figures.oldest_pending_ms is None
               else row.figures.oldest_pending_ms / 1000
           )),
    _group("penstock_stream_group_redeliveries_total", "number",
           "Deliveries of entries that had been delivered before, since the server has started",
           lambda row: row.figures.redelivered),
    _group("penstock_stream_group_dead_letters_total", "number",
           "Entries that have become dead letters, since the server has started",
           lambda row: row.figures.dead_lettered),
    _group("penstock_stream_group_idle_consumers", "number",
           "Consumers that have not asked for anything for a minute",
           lambda row: row.idle_consumers),
    _group("penstock_stream_group_paused", "0 or 1", "Whether XGROUP PAUSE holds it",
           lambda row: row.figures.policy is not None and row.figures.policy.paused),
)  # fmt: skip

CONSUMER_COLUMNS: tuple[Column[ConsumerRow], ...] = (
    column("redis_stream_group_consumer_messages_pending", "number",
           "Entries that the consumer was given and has not acknowledged",
           lambda row: row.pending, OF_CONSUMER),
    column("redis_stream_group_consumer_idle_seconds", "seconds",
           "How long the consumer has not asked for anything",
           lambda row: row.idle_ms / 1000, OF_CONSUMER),
)  # fmt: skip


class Streams:
    """What a page has of streams. *left_out* counts the streams that there was no room for."""

    def __init__(self, config: Config) -> None:
        self._patterns = [
            pattern.encode("utf-8", "surrogateescape") for pattern in config.metrics_streams
        ]
        self._room = config.metrics_max_series
        self._with_consumers = config.metrics_consumers
        self._streams = Readings(STREAM_COLUMNS)
        self._groups = Readings(GROUP_COLUMNS)
        self._consumers = Readings(CONSUMER_COLUMNS)
        self.left_out = 0

    def collect(self, state: ServerState) -> Iterator[None]:
        """Look at all streams, in steps."""
        if not self._patterns:
            return
        clock = state.events.clock
        for found in walk(state.databases, state.stream_index, clock):
            if found is not None and self._is_wanted(found.key):
                yield from self._add(found, clock)
            yield

    def _is_wanted(self, key: bytes) -> bool:
        return any(pattern == b"*" or glob.match(pattern, key) for pattern in self._patterns)

    def _add(self, found: Found, clock: Clock) -> Iterator[None]:
        """Note what is told of a stream, if there is room for all of it. O(1) in a step.

        While others have their turn it may change, or go: its groups are those that it had.
        """
        stream = found.stream
        samples = len(STREAM_COLUMNS) + len(GROUP_COLUMNS) * len(stream.groups)
        if self._with_consumers:
            consumers = sum(len(group.consumers) for group in stream.groups.values())
            samples += len(CONSUMER_COLUMNS) * consumers
        if samples > self._room:
            self.left_out += 1
            return
        self._room -= samples
        side = found.db.side.get(found.key)
        schedule = None if side is None else side.get(SCHEDULE)
        labels = (f"db{found.db.index}", label_of(found.key))
        row = StreamRow(stream, 0 if schedule is None else len(schedule))
        self._streams.add(labels_text(labels), row)
        for name, group in stream.sorted_groups():
            policy = None if side is None else side.get(GROUP_POLICY, name)
            of_group = (*labels, label_of(name))
            figures = group_figures(stream, name, group, policy, clock.now_ms)
            self._groups.add(labels_text(of_group), _group_row(group, figures, clock.now_ms))
            yield
            for member in list(group.consumers.values()) if self._with_consumers else ():
                of_consumer = labels_text((*of_group, label_of(member.name)))
                self._consumers.add(of_consumer, _consumer_row(member, clock.now_ms))
                yield

    @property
    def readings(self) -> tuple[Readings[Any], ...]:
        """What was found."""
        return self._streams, self._groups, self._consumers


def _group_row(group: ConsumerGroup, figures: GroupFigures, now_ms: int) -> GroupRow:
    """What depends on the consumers is not known if they are too many to look at."""
    if len(group.consumers) > MOST_CONSUMERS:
        return GroupRow(figures, None, None)
    seen_before = now_ms - IDLE_MS
    idle = sum(member.seen_time <= seen_before for member in group.consumers.values())
    return GroupRow(figures, idle, group.released())


def _consumer_row(member: Consumer, now_ms: int) -> ConsumerRow:
    return ConsumerRow(len(member.pel), max(0, now_ms - member.seen_time))
