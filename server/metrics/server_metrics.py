"""Metrics of the server with labels, under the names that dashboards for Redis know.

Databases, commands, errors, what was slow, replicas, the primary, and who the server is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from server.config.parameter import OutputLimit
from server.metrics.family import Column, Row, Table, alone, column
from server.observe import command_facts, key_facts
from server.observe.command_stats import CommandCount
from server.observe.key_facts import Filling
from server.observe.latency_events import Series
from server.observe.process_facts import SYSTEM
from server.parts.replication.facts import Link, Served, link, served
from server.parts.state import ServerState
from server.process import build
from server.table.command import TABLE

INSTANCE = (
    "role", "redis_version", "redis_build_id", "redis_mode", "os", "maxmemory_policy", "tcp_port",
    "run_id", "process_id", "master_replid", "penstock_version",
)  # fmt: skip


def one(_subject: object) -> int:
    """The value of a metric of which the labels tell all."""
    return 1


def zero(_subject: object) -> int:
    """The number of what is not there."""
    return 0


# ---------------------------------------------------------------------- the server


def instance(state: ServerState) -> Iterator[Row[ServerState]]:
    """Who the server is."""
    config, history = state.config, state.replication.history
    yield Row(
        (
            "slave" if state.replication.is_replica else "master", config.redis_version,
            build.build_id(), "standalone", SYSTEM, config.maxmemory_policy,
            str(config.port or config.tls_port), state.instance.run_id, str(os.getpid()),
            history.id, build.VERSION,
        ),
        state,
    )  # fmt: skip


ABOUT = Table(
    [column("redis_instance_info", "1", "Who the server is, by the labels", one, INSTANCE)],
    instance,
)

RUN = Table(
    [
        column("redis_up", "0 or 1", "The server answers: else there is no such page", one),
        column("redis_start_time_seconds", "unix time in seconds", "When the server was started",
               lambda state: state.instance.started_ms / 1000),
        column("redis_config_maxmemory", "bytes", "The parameter maxmemory",
               lambda state: state.config.maxmemory),
        column("redis_config_maxclients", "number", "The parameter maxclients",
               lambda state: state.config.maxclients),
        column("redis_config_io_threads", "number", "Threads that serve sockets: one", one),
        column("redis_slowlog_length", "number", "Commands in SLOWLOG",
               lambda state: len(state.slow_log)),
        column("redis_slowlog_last_id", "number", "The number of the last of them",
               lambda state: next((each.id for each in state.slow_log.newest(1)), None)),
        column("redis_last_slow_execution_duration_seconds", "seconds", "What that one took",
               lambda state: next((each.amount / 1e6 for each in state.slow_log.newest(1)), None)),
    ],
    alone(lambda state: state),
)  # fmt: skip


class LimitOfClass(NamedTuple):
    """A limit of client-output-buffer-limit."""

    size: int
    seconds: int


def output_limits(state: ServerState) -> Iterator[Row[LimitOfClass]]:
    limits: dict[str, OutputLimit] = state.config.client_output_buffer_limit
    for name, limit in limits.items():
        yield Row((name, "hard"), LimitOfClass(limit.hard, 0))
        yield Row((name, "soft"), LimitOfClass(limit.soft, limit.soft_seconds))


OUTPUT_LIMITS = Table(
    [
        column("redis_config_client_output_buffer_limit_bytes", "bytes",
               "The parameter client-output-buffer-limit: bytes of replies; 0: no limit",
               lambda limit: limit.size, ("class", "limit")),
        column("redis_config_client_output_buffer_limit_overcome_seconds", "seconds",
               "For how long the soft limit may be exceeded",
               lambda limit: limit.seconds, ("class", "limit")),
    ],
    output_limits,
)  # fmt: skip

# ---------------------------------------------------------------------- databases


def databases(state: ServerState) -> Iterator[Row[Filling]]:
    """All databases, also those without keys."""
    filled = dict(key_facts.filled(state.databases, state.events.clock.now_ms))
    for db in state.databases:
        yield Row((f"db{db.index}",), filled.get(str(db.index), Filling(0, 0, 0, 0)))


DATABASES = Table(
    [
        column("redis_db_keys", "number", "Keys", lambda db: db.keys, ("db",)),
        column("redis_db_keys_expiring", "number", "Keys that will expire",
               lambda db: db.expiring, ("db",)),
        column("redis_db_avg_ttl_seconds", "seconds",
               "How long these still have, on average of a random sample",
               lambda db: db.mean_ttl_ms / 1000 if db.expiring else None, ("db",)),
    ],
    databases,
)  # fmt: skip

# ---------------------------------------------------------------------- commands, errors


def commands(state: ServerState) -> Iterator[Row[CommandCount]]:
    """The commands that were called or refused."""
    for name, count in state.command_stats.used(TABLE.all_rows()):
        yield Row((name,), count)


def _of_command(
    name: str, unit: str, meaning: str, read: Callable[[CommandCount], float]
) -> Column[CommandCount]:
    return column(f"redis_commands_{name}", unit, meaning, read, ("cmd",))


COMMANDS = Table(
    [
        _of_command("total", "number", "Times that the command has run",
                    lambda count: count.calls),
        _of_command("duration_seconds_total", "seconds", "What that took together",
                    lambda count: count.nanoseconds / 1e9),
        _of_command("rejected_calls_total", "number", "Times that it was refused",
                    lambda count: count.rejected),
        _of_command("failed_calls_total", "number", "Times that it has run into an error",
                    lambda count: count.failed),
    ],
    commands,
)  # fmt: skip


def errors(state: ServerState) -> Iterator[Row[int]]:
    for code, count in command_facts.codes(state.stats.errors_by_code):
        yield Row((code,), count)


ERRORS = Table(
    [column("redis_errors_total", "number", "Errors that were answered, by the word that they begin"
            " with", lambda count: count, ("err",))],
    errors,
)  # fmt: skip


def spikes(state: ServerState) -> Iterator[Row[Series]]:
    for event, series in state.latency_events.series.items():
        yield Row((event.decode(),), series)


SPIKES = Table(
    [
        column("redis_latency_spike_last", "unix time in seconds",
               "When the event has last taken latency-monitor-threshold or longer",
               lambda series: series.samples[-1].time_s, ("event_name",)),
        column("redis_latency_spike_duration_seconds", "seconds", "How long it took then",
               lambda series: series.samples[-1].ms / 1000, ("event_name",)),
    ],
    spikes,
)  # fmt: skip

# ---------------------------------------------------------------------- replication


def replicas(state: ServerState) -> Iterator[Row[Served]]:
    for _, each in served(state.replication):
        replica = each.replica
        yield Row((replica.host, str(replica.port), replica.stage.value), each)


SLAVE = ("slave_ip", "slave_port", "slave_state")
REPLICAS = Table(
    [
        column("redis_connected_slave_offset_bytes", "bytes",
               "How much of the history the replica has run",
               lambda served: served.replica.acked, SLAVE),
        column("redis_connected_slave_lag_seconds", "seconds", "How long ago it has told so",
               lambda served: served.lag_s if served.replica.is_online else None, SLAVE),
    ],
    replicas,
)  # fmt: skip


class Primary(NamedTuple):
    """The link to the primary, how far this replica is, and whether it refuses writes."""

    link: Link
    offset: int
    is_read_only: bool


def primary(state: ServerState) -> Iterator[Row[Primary]]:
    found = link(state.replication)
    if found is not None:
        following = found.following
        labels = (following.host, str(following.port))
        yield Row(
            labels, Primary(found, state.replication.history.offset, state.config.replica_read_only)
        )


def read_only(state: ServerState) -> Iterator[Row[Primary]]:
    for labels, of_primary in primary(state):
        yield Row((*labels, str(int(of_primary.is_read_only))), of_primary)


MASTER = ("master_host", "master_port")
PRIMARY = Table(
    [
        column("redis_master_link_up", "0 or 1", "Whether the primary's stream comes",
               lambda primary: primary.link.following.is_up, MASTER),
        column("redis_master_last_io_seconds_ago", "seconds",
               "How long ago the primary was last heard, while the link is up",
               lambda primary: (
                   primary.link.since_s(primary.link.following.heard_ms)
                   if primary.link.following.is_up
                   else None
               ), MASTER),
        column("redis_slave_repl_offset", "bytes", "How much of the history has been run",
               lambda primary: primary.offset, MASTER),
        column("redis_master_sync_in_progress", "0 or 1", "Whether a copy of all data comes",
               lambda primary: primary.link.following.is_copying, MASTER),
    ],
    primary,
)  # fmt: skip
AS_REPLICA = Table(
    [column("redis_slave_info", "1", "That the server is a replica, and of whom", one,
            (*MASTER, "read_only"))],
    read_only,
)  # fmt: skip

# ---------------------------------------------------------------------- what is not here


CLUSTER = Table(
    [
        column("redis_cluster_state", "0 or 1", "There is no cluster that could fail: always 1",
               one),
        column("redis_cluster_slots_fail", "number",
               "Slots of nodes that have failed: there is no cluster, so always 0", zero),
        column("redis_cluster_slots_pfail", "number",
               "Slots of nodes that may have failed: there is no cluster, so always 0", zero),
    ],
    alone(lambda state: state),
)  # fmt: skip

TABLES = (
    RUN, ABOUT, OUTPUT_LIMITS, DATABASES, COMMANDS, ERRORS, SPIKES, REPLICAS, PRIMARY, AS_REPLICA,
    CLUSTER,
)  # fmt: skip
