"""The health of consumer groups: lag, idle time of pending entries, redelivery, dead consumers.

The servers are asked directly, without Spark. The groups come worst first: those with most entries
that are stuck, then those with most entries that wait.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import redis

from pyspark_penstock.connect.stream_info import (
    GroupState,
    StreamState,
    consumer_states,
    group_states,
    is_glob,
    matching_streams,
    stream_state,
)
from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.server_options import ServerOptions, connect, one_by_one
from pyspark_penstock.read.views import pending_entries
from pyspark_penstock.shared.group_queue import lost as lost_to

MIN_IDLE_MS = 60_000
TOP = 10
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
AGES = (
    ("< 1 s", SECOND), ("< 10 s", 10 * SECOND), ("< 1 min", MINUTE), ("< 10 min", 10 * MINUTE),
    ("< 1 h", HOUR), ("< 1 d", DAY), ("longer", None),
)  # fmt: skip


@dataclass(frozen=True)
class Redelivered:
    """A pending entry that was delivered more than once."""

    id: str
    consumer: str
    deliveries: int
    idle_ms: int


@dataclass(frozen=True)
class DeadConsumer:
    """A consumer with pending entries that has not read for a long time."""

    name: str
    pending: int
    idle_ms: int


@dataclass(frozen=True)
class GroupHealth:
    """The health of one group. *ages* counts pending entries by AGES.

    *lag* is None if the server does not know it. *stuck* entries have been pending for the minimum
    idle time of the request, or longer. *lost* ones were removed before the group gave them out.
    *server* is empty if only one was asked.
    """

    stream: str
    group: str
    lag: int | None
    consumers: int
    pending: int
    stuck: int
    oldest_idle_ms: int
    ages: tuple[int, ...]
    redelivered: int
    most_redelivered: tuple[Redelivered, ...]
    dead: tuple[DeadConsumer, ...]
    lost: int = 0
    server: str = ""

    @property
    def waiting(self) -> int:
        """How many entries are not acknowledged, as far as the server knows."""
        return (self.lag or 0) + self.pending

    def to_json(self) -> dict[str, Any]:
        """The form for programs."""
        ages = {name: count for (name, _), count in zip(AGES, self.ages, strict=True)}
        return asdict(self) | {"ages": ages}


@dataclass(frozen=True)
class Totals:
    """The sums over groups. The *lag* is of those whose lag is known."""

    groups: int
    streams: int
    lag: int
    pending: int
    stuck: int
    redelivered: int
    lost: int
    dead: int

    @classmethod
    def of(cls, groups: Sequence[GroupHealth]) -> Totals:
        """The sums over *groups*."""
        return cls(
            groups=len(groups),
            streams=len({(group.server, group.stream) for group in groups}),
            lag=sum(group.lag or 0 for group in groups),
            pending=sum(group.pending for group in groups),
            stuck=sum(group.stuck for group in groups),
            redelivered=sum(group.redelivered for group in groups),
            lost=sum(group.lost for group in groups),
            dead=sum(len(group.dead) for group in groups),
        )


def health(
    server: ServerOptions,
    streams: Sequence[str] = (),
    group: str = "",
    min_idle_ms: int = MIN_IDLE_MS,
) -> list[GroupHealth]:
    """The health of the groups of *streams*, by default of all; or only of those named *group*.

    *streams* are names and globs. Raises OptionError for a stream or group that does not exist; of
    several servers, if none has it.
    """
    found, problems = list[GroupHealth](), list[OptionError]()
    servers = one_by_one(server)
    for name, at in servers:
        try:
            found += health_of_server(name, at, streams, group, min_idle_ms)
        except OptionError as problem:
            problems.append(problem)
    if len(problems) == len(servers):
        raise problems[0]
    if group and not found:
        raise OptionError(f"no stream that was asked about has a group {group!r}")
    return worst_first(found)


def worst_first(groups: Sequence[GroupHealth]) -> list[GroupHealth]:
    """Groups with most stuck entries, then those with most that wait; else in their order."""
    return sorted(groups, key=lambda group: (-group.stuck, -group.waiting))


def health_of_server(
    name: str, server: ServerOptions, streams: Sequence[str], group: str, min_idle_ms: int
) -> list[GroupHealth]:
    """The health of the groups of one server. Raises OptionError."""
    with connect(server) as client:
        return [
            replace(group_health(client, stream, state, min_idle_ms), server=name, lost=lost)
            for stream in asked_for(client, streams)
            for state, lost in groups_of(client, stream, group)
        ]


def asked_for(client: redis.Redis, streams: Sequence[str]) -> list[str]:
    """The streams that the names and globs match, each once. Raises OptionError."""
    if not streams:
        return matching_streams(client, "*")
    return list(dict.fromkeys(found for one in streams for found in meant_by(client, one)))


def meant_by(client: redis.Redis, name: str) -> list[str]:
    """The streams that a glob matches, or the one of this name.

    Raises OptionError if none matches.
    """
    if not is_glob(client, name):
        return [name]
    found = matching_streams(client, name)
    if not found:
        raise OptionError(f"no stream matches {name!r}")
    return found


def groups_of(client: redis.Redis, stream: str, group: str) -> list[tuple[GroupState, int]]:
    """The groups of *stream*, or the one named *group*, and what was lost to each.

    Raises OptionError if there is no such stream.
    """
    state: StreamState = stream_state(client, stream)
    if not state.exists:
        raise OptionError(f"there is no stream {stream!r}")
    found = group_states(client, stream)
    return [(each, lost_to(state, each)) for each in found if group in {"", each.name}]


def group_health(
    client: redis.Redis, stream: str, state: GroupState, min_idle_ms: int
) -> GroupHealth:
    """The health of one group. Reads all of its pending entries once."""
    pending = PendingSummary(min_idle_ms)
    for consumer, entry, idle_ms, deliveries in pending_entries(client, stream, state.name):
        pending.add(Redelivered(str(entry), consumer, deliveries, idle_ms))
    return GroupHealth(
        stream=stream,
        group=state.name,
        lag=state.lag,
        consumers=state.consumers,
        pending=sum(pending.ages),
        stuck=pending.stuck,
        oldest_idle_ms=pending.oldest_idle_ms,
        ages=tuple(pending.ages),
        redelivered=pending.redelivered,
        most_redelivered=tuple(pending.most_redelivered()),
        dead=tuple(dead_consumers(client, stream, state.name, min_idle_ms)),
    )


class PendingSummary:
    """A summary of a group's pending entries, of which there may be millions."""

    def __init__(self, min_idle_ms: int) -> None:
        self.ages = [0] * len(AGES)
        self.stuck = 0
        self.oldest_idle_ms = 0
        self.redelivered = 0
        self._min_idle_ms = min_idle_ms
        self._top: list[tuple[int, int, str, Redelivered]] = []

    def add(self, entry: Redelivered) -> None:
        """Add one entry."""
        self.ages[age_of(entry.idle_ms)] += 1
        self.stuck += entry.idle_ms >= self._min_idle_ms
        self.oldest_idle_ms = max(self.oldest_idle_ms, entry.idle_ms)
        if entry.deliveries > 1:
            self.redelivered += 1
            heapq.heappush(self._top, (entry.deliveries, entry.idle_ms, entry.id, entry))
            if len(self._top) > TOP:
                heapq.heappop(self._top)

    def most_redelivered(self) -> Iterator[Redelivered]:
        """The entries delivered most often, in descending order."""
        for *_, entry in sorted(self._top, reverse=True):
            yield entry


def age_of(idle_ms: int) -> int:
    """The index in AGES for an idle time."""
    limits = (limit for _, limit in AGES)
    return next(at for at, limit in enumerate(limits) if limit is None or idle_ms < limit)


def dead_consumers(
    client: redis.Redis, stream: str, group: str, min_idle_ms: int
) -> list[DeadConsumer]:
    """Consumers with pending entries that have been idle for long; most entries first."""
    found = [
        DeadConsumer(consumer.name, consumer.pending, consumer.idle_ms)
        for consumer in consumer_states(client, stream, group)
        if consumer.pending and consumer.idle_ms >= min_idle_ms
    ]
    return sorted(found, key=lambda consumer: -consumer.pending)
