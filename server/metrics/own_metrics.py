"""Metrics that no other server has, without those of streams: all begin with ``penstock_``.

The event loop, blocked clients by what they wait for, the AOF's disk, forks, the memory's parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from server.client.client import Waiter
from server.metrics.family import Column, Family, Kind, Row, Table, alone, column
from server.observe.key_sizes import TypeSum
from server.observe.memory_facts import MemoryFigures
from server.parts import server_facts
from server.parts.persistence.append_only import AppendOnly, Mode
from server.parts.persistence.child import ChildSlot
from server.parts.state import ServerState
from server.process import build
from storage import types

KEYLESS = {b"WAIT": "replicas", b"WAITAOF": "disk"}
PAUSE, SHUTDOWN = "pause", "shutdown"


class Sum(NamedTuple):
    """What many events took together, in seconds."""

    events: int
    seconds: float


def summary(name: str, meaning: str, read: Callable[[Any], Sum]) -> tuple[Column[Any], ...]:
    """The two samples of a summary without quantiles."""
    family = Family(name, Kind.SUMMARY, "seconds", meaning)
    return (
        Column(family, lambda subject: read(subject).events, "_count"),
        Column(family, lambda subject: read(subject).seconds, "_sum"),
    )


LOOP = Table(
    [
        *summary("penstock_loop_lag_seconds", "How late the ticks of the event loop have come",
                  lambda state: Sum(state.loop_lag.count, state.loop_lag.sum_s)),
        column("penstock_loop_lag_last_seconds", "seconds", "How late the last one came",
               lambda state: state.loop_lag.last_s if state.loop_lag.count else None),
        column("penstock_loop_lag_peak_seconds", "seconds",
               "How late the latest of the last minute or two came",
               lambda state: state.loop_lag.peak_s if state.loop_lag.count else None),
        column("penstock_compiled", "0 or 1", "Whether the core runs compiled",
               lambda _state: build.compiled()),
    ],
    alone(lambda state: state),
)  # fmt: skip

# ---------------------------------------------------------------------- blocked clients


def blocked(state: ServerState) -> Iterator[Row[int]]:
    """How many wait for what; all that there may be, also if nobody waits. O(clients)."""
    found = Counter(
        _awaited(client.waiter) for client in state.clients.values() if client.waiter is not None
    )
    found[PAUSE] += state.pausing.waiting
    for awaited in ("list", "zset", "stream", *KEYLESS.values(), PAUSE, SHUTDOWN):
        yield Row((awaited,), found[awaited])


def _awaited(waiter: Waiter) -> str:
    """What *waiter* waits for: a value of some type, or what its command says."""
    kind = waiter.block.kind
    if kind is not object:
        return types.of_class(kind).name.decode()
    return KEYLESS.get(waiter.argv[0].upper(), SHUTDOWN)


BLOCKED = Table(
    [
        column("penstock_blocked_clients", "number",
               "Clients that wait, by what they wait for: a list, a zset or a stream; replicas"
               " (WAIT), the disk (WAITAOF), the end of a pause, or of the server",
               lambda count: count, ("waiting_for",)),
    ],
    blocked,
)  # fmt: skip

# ---------------------------------------------------------------------- the disk, forks


def log_of(state: ServerState) -> AppendOnly | None:
    """The AOF; None while it is off."""
    aof: AppendOnly = state.persistence.append_only
    return None if aof.mode is Mode.OFF else aof


AOF = Table(
    [
        *summary("penstock_aof_fsync_seconds", "How long the fsyncs of the AOF have taken",
                  lambda aof: Sum(aof.log.syncs, aof.log.syncs_s)),
        column("penstock_aof_fsync_last_seconds", "seconds", "How long the last one took",
               lambda aof: aof.log.last_sync_s if aof.log.syncs else None),
        column("penstock_aof_fsync_delayed_total", "number",
               "Fsyncs in another thread that have taken two seconds",
               lambda aof: aof.log.delayed_syncs),
        column("penstock_aof_not_synced_bytes", "bytes", "What is not on the disk yet",
               lambda aof: aof.log.offset - aof.log.synced_offset),
        column("penstock_aof_rewrites_total", "number", "Rewrites that were begun",
               lambda aof: aof.rewrites),
        column("penstock_aof_rewrites_failed", "number",
               "Rewrites that have failed since one has not", lambda aof: aof.failures),
    ],
    alone(log_of),
)  # fmt: skip


def children(state: ServerState) -> ChildSlot:
    """Where forked children are started."""
    return state.persistence.children


FORKS = Table(
    [
        *summary("penstock_fork_seconds", "How long forks have held the server up",
                  lambda slot: Sum(slot.total_forks, slot.forks_ns / 1e9)),
        column("penstock_fork_last_seconds", "seconds", "How long the last one did",
               lambda slot: slot.latest_fork_usec / 1e6 if slot.total_forks else None),
    ],
    alone(children),
)  # fmt: skip

# ---------------------------------------------------------------------- memory


def memory_parts(state: ServerState) -> Iterator[Row[int]]:
    """What used_memory is made of."""
    now: MemoryFigures = server_facts.memory(state)
    scripts, readers = state.memory.scripts, state.memory.readers
    tables = now.overhead - now.startup - now.clients - readers - scripts - now.log
    for name, size in (
        ("startup", now.startup), ("keys", now.dataset), ("tables", tables),
        ("clients", now.clients), ("readers", readers), ("scripts", scripts),
        ("aof_buffer", now.log),
    ):  # fmt: skip
        yield Row((name,), max(size, 0))


MEMORY = Table(
    [
        column("penstock_memory_bytes", "bytes",
               "What redis_memory_used_bytes is made of: keys with their values, their tables,"
               " clients with what they are sent, what is kept for readers by patterns, scripts,"
               " the AOF's buffer, and the server itself",
               lambda size: size, ("part",)),
    ],
    memory_parts,
)  # fmt: skip


def type_sums(state: ServerState) -> Iterator[Row[TypeSum]]:
    """The types of values that there are."""
    for name, sum_ in state.key_sizes.by_type():
        yield Row((name,), sum_)


TYPES = Table(
    [
        column("penstock_type_keys", "number", "Keys with a value of that type",
               lambda sum_: sum_.keys, ("type",)),
        column("penstock_type_memory_bytes", "bytes",
               "What they take with their values, as MEMORY USAGE says it. Of more than 100 keys as"
               " it was some time ago",
               lambda sum_: sum_.memory, ("type",)),
    ],
    type_sums,
)  # fmt: skip

TABLES = (LOOP, BLOCKED, AOF, FORKS, MEMORY, TYPES)
