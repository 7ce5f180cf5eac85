"""All facts of the server, in the order of INFO, and where each subject is in the state.

What is here is in INFO, in docs/info.md and in metrics. A room declares its facts in its facts.py;
those of commands, memory, clients and the process are in server/observe.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator

from server.observe import (
    client_facts,
    command_facts,
    hot_keys,
    key_facts,
    key_sizes,
    memory_facts,
    process_facts,
    slow_log,
    stats_facts,
)
from server.observe.client_facts import Connected, buffers_of
from server.observe.fact import BYTES, COUNT, FLAG, Facts, Section, flag, gauge, nothing
from server.observe.memory_facts import MemoryFigures
from server.observe.process_facts import Run
from server.observe.stats_facts import Thread
from server.parts.access import facts as access
from server.parts.eviction import facts as eviction
from server.parts.expiry import facts as expiry
from server.parts.hash_imports import Prepared
from server.parts.persistence import facts as persistence
from server.parts.propagation import facts as propagation
from server.parts.pubsub import facts as pubsub
from server.parts.replication import facts as replication
from server.parts.replication.facts import Standing
from server.parts.scripting import facts as scripting
from server.parts.state import ServerState
from server.parts.stream_survey import facts as stream_survey
from server.parts.tracking import facts as tracking
from server.parts.waiting import facts as waiting
from server.parts.watching import Watching
from server.process import build
from server.table.command import TABLE

WATCHED = Facts[Watching](
    gauge("total_watched_keys", COUNT, lambda watching: len(watching.watchers),
          "Keys that clients watch"),
)  # fmt: skip

TEMPLATES = Facts[Prepared](
    gauge("hash_templates", COUNT, lambda prepared: prepared.count,
          "Fieldsets that clients have prepared by HIMPORT PREPARE, and not discarded"),
    nothing("hash_template_keys", COUNT,
            "Keys that are stored by a prepared fieldset: none, a hash has its own fields"),
)  # fmt: skip

MEMORY_OF_TEMPLATES = Facts[Prepared](
    gauge("used_memory_hash_templates", BYTES, lambda prepared: prepared.bytes,
          "What the fieldsets of hash_templates take: a part of mem_clients_normal"),
)  # fmt: skip

LOADING = Facts[ServerState](
    flag("loading", lambda state: state.restrictions.loading,
         "Whether data are loaded, and clients have to wait"),
    flag("async_loading",
         lambda state: state.persistence.progress is not None and not state.restrictions.loading,
         "Whether a replica loads a copy while its clients read the older data"),
)  # fmt: skip

CLUSTER = Facts[object](
    nothing("cluster_enabled", FLAG, "Whether this is a node of a cluster: it is not"),
)


# ---------------------------------------------------------------------- subjects of several parts


def state_itself(state: ServerState) -> ServerState:
    """The subject of facts that depend on no part, or on several."""
    return state


def run(state: ServerState) -> Run:
    """The run that is on, now."""
    return Run(state.config, state.instance, state.events.clock.now_ms, state.clock.unix_us())


def listeners(state: ServerState) -> list[tuple[str, str]]:
    """Where the server listens, by the listeners' numbers."""
    lines = state.addresses.descriptions.items()
    return [(name.removeprefix("listener"), line) for name, line in lines]


def connected(state: ServerState) -> Connected:
    """The clients, and how many there may be."""
    clients, replicas = state.all_clients(), state.replication.replicas.all
    return Connected(len(clients) - len(replicas), state.config.maxclients)


def memory(state: ServerState) -> MemoryFigures:
    """The memory now, with what is still to be logged."""
    state.memory.log = state.persistence.append_only.log.pending
    now_s = state.events.clock.now_ms // 1000
    return MemoryFigures(state.memory, state.databases, state.config, now_s)


def sent_to_clients(state: ServerState) -> int:
    """Bytes. What was meant for a replica that has gone since is in the second only."""
    return max(0, state.stats.output_bytes - state.replication.traffic.sent)


def standing(state: ServerState) -> Standing:
    """Replication, with its parameters."""
    return Standing(state.replication, state.config)


def latencies(state: ServerState) -> Iterator[tuple[str, dict[str, float]]]:
    """Of each command that was called, what its calls took."""
    percents = state.config.latency_tracking_info_percentiles
    return command_facts.spread(state.command_stats, TABLE.all_rows(), percents)


SECTIONS: tuple[Section[ServerState], ...] = (
    Section(
        "server",
        "The program, and this run of it.",
        process_facts.RUN.of(run),
        process_facts.LISTENERS.of(listeners),
        process_facts.SHUTDOWN.of(lambda state: state.shutdown.left_ms),
        process_facts.IO_THREADS.of(state_itself),
    ),
    Section(
        "clients",
        "The clients, what they wait for, and what their buffers hold.",
        client_facts.CONNECTED.of(connected),
        waiting.BLOCKED.of(lambda state: state.blocking.waiting + state.pausing.waiting),
        client_facts.BUFFERS.of(lambda state: buffers_of(state.all_clients())),
        WATCHED.of(lambda state: state.watching),
        waiting.KEYS.of(lambda state: state.blocking.waiting_keys()),
        pubsub.SUBSCRIBERS.of(lambda state: state.pubsub),
        tracking.CLIENTS.of(lambda state: state.tracking),
        client_facts.CLUSTER.of(state_itself),
    ),
    Section(
        "memory",
        "The memory in use, by the server's own count, and what the process holds.",
        memory_facts.MEMORY.of(memory),
        key_facts.FREED.of(lambda state: state.events),
        scripting.MEMORY.of(lambda state: scripting.figures_of(state.scripting)),
        MEMORY_OF_TEMPLATES.of(lambda state: state.hash_imports.prepared),
        replication.MEMORY.of(lambda state: state.replication.memory()),
        memory_facts.ABSENT.of(state_itself),
    ),
    Section(
        "persistence",
        "Loading, snapshots (RDB), and the append-only file (AOF).",
        LOADING.of(state_itself),
        persistence.CHILD.of(lambda state: state.persistence.children),
        persistence.SNAPSHOTS.of(lambda state: state.persistence.snapshots),
        persistence.LOADED.of(lambda state: state.persistence),
        persistence.AOF.of(lambda state: state.persistence.append_only),
        persistence.LOG.of(lambda state: persistence.log(state.persistence.append_only)),
        propagation.OF_LOG.of(lambda state: state.replay_failures),
        persistence.LOADING.of(lambda state: state.persistence.progress),
        persistence.MODULES.of(state_itself),
        persistence.BACKUP.of(lambda state: state.persistence.backup),
    ),
    Section(
        "threads",
        "The threads that serve sockets: there is the one.",
        stats_facts.THREADS.of(lambda state: [("0", Thread(len(state.clients), state.stats))]),
    ),
    Section(
        "stats",
        "What was done since the start, or since CONFIG RESETSTAT.",
        stats_facts.RECEIVED.of(lambda state: state.stats),
        stats_facts.SENT.of(sent_to_clients),
        stats_facts.RATES.of(lambda state: state.stats),
        key_facts.EXPIRED.of(lambda state: state.events),
        stats_facts.EXPIRY_CYCLES.of(lambda state: state.stats),
        key_facts.FOUND.of(lambda state: state.events),
        persistence.FORKS.of(lambda state: state.persistence.children),
        expiry.KEYS.of(lambda state: state.events.replica_expiry),
        propagation.ALL.of(lambda state: state.replay_failures),
        stats_facts.REPLIES.of(lambda state: state.stats),
        stats_facts.LOOP.of(lambda state: state.loop_times if build.uses_epoll() else None),
        pubsub.CHANNELS.of(lambda state: state.pubsub),
        tracking.KEYS.of(lambda state: state.tracking),
        access.DENIED.of(lambda state: state.access),
        scripting.EVICTED.of(lambda state: state.scripting),
        replication.SYNCS.of(lambda state: state.replication),
        replication.TRAFFIC.of(lambda state: state.replication.traffic),
        eviction.KEYS.of(lambda state: state.key_eviction),
        eviction.CLIENTS.of(lambda state: state.client_eviction),
        slow_log.SLOW.of(lambda state: state.slow_log),
        TEMPLATES.of(lambda state: state.hash_imports.prepared),
        stats_facts.ABSENT.of(state_itself),
    ),
    Section(
        "replication",
        "The role of the server, its primary or its replicas, and the history that they share.",
        replication.ROLE.of(lambda state: state.replication),
        replication.LINK.of(lambda state: replication.link(state.replication)),
        replication.COPY.of(lambda state: replication.copying_link(state.replication)),
        replication.DOWN.of(lambda state: replication.broken_link(state.replication)),
        replication.AS_REPLICA.of(lambda state: standing(state).replica),
        replication.REPLICAS.of(lambda state: state.replication),
        replication.GOOD_REPLICAS.of(lambda state: standing(state).demanding),
        replication.SERVED.of(lambda state: replication.served(state.replication)),
        replication.CONFIRMATIONS.of(lambda state: replication.confirming(state.replication)),
        replication.QUORUM.of(lambda state: replication.leased(state.replication)),
        replication.HISTORY.of(standing),
    ),
    Section(
        "cpu",
        "The CPU time that the process has taken.",
        process_facts.CPU.of(lambda _: resource.getrusage(resource.RUSAGE_SELF)),
        process_facts.CPU_OF_CHILDREN.of(lambda _: resource.getrusage(resource.RUSAGE_CHILDREN)),
        process_facts.CPU_OF_THREAD.of(lambda _: resource.getrusage(resource.RUSAGE_THREAD)),
        title="CPU",
    ),
    Section(
        "hotkeys",
        "The keys that HOTKEYS counts, if it does or did.",
        hot_keys.SESSION.of(lambda state: state.hot_keys.figures()),
    ),
    Section("modules", "Modules that are loaded: there are none."),
    Section(
        "commandstats",
        "The commands that were called or refused since the start, or since CONFIG RESETSTAT.",
        command_facts.CALLS.of(lambda state: state.command_stats.used(TABLE.all_rows())),
        is_default=False,
    ),
    Section(
        "errorstats",
        "The errors that were answered since the start, or since CONFIG RESETSTAT.",
        command_facts.ERRORS.of(lambda state: command_facts.codes(state.stats.errors_by_code)),
    ),
    Section(
        "latencystats",
        "How long the calls of each command took, at latency-tracking-info-percentiles.",
        command_facts.LATENCIES.of(latencies),
        is_default=False,
    ),
    Section("cluster", "The cluster: there is none.", CLUSTER.of(state_itself)),
    Section(
        "keyspace",
        "The databases that have keys.",
        key_facts.DATABASES.of(
            lambda state: key_facts.filled(state.databases, state.events.clock.now_ms)
        ),
    ),
    Section(
        "streams",
        "All streams together. XINFO STREAMS has each of them.",
        stream_survey.STREAMS.of(lambda state: stream_survey.surveyed(state.survey)),
        is_default=False,
    ),
    Section(
        "types",
        "The types of values: how many keys have one, and what these take.",
        key_sizes.TYPES.of(lambda state: state.key_sizes.by_type()),
        is_default=False,
    ),
    Section(
        "keysizes",
        "How long values are, by powers of two.",
        key_sizes.SIZES.of(lambda state: state.key_sizes.lines()),
    ),
)
