"""The sections of INFO: what is true of the server now.

A section is a function that gives fields; SECTIONS lists them in the order in which they are shown.
Behind its fields come those of the parts of the server (Part.info), and those of ABSENT.
"""

from __future__ import annotations

import os
import resource
import struct
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TypeAlias

from server.dispatch.state import ServerState
from server.observe.memory import resident_and_file_bytes, total_bytes
from server.observe.part import Part
from server.observe.sizes import human
from server.persistence.append_only import Mode
from server.persistence.load_progress import LoadProgress
from server.persistence.persistence import Persistence
from server.process import build
from server.process.supervision import supervisor
from server.table.command import TABLE
from storage.keyspace.key_table import PLACE_BYTES

Field: TypeAlias = tuple[str, object]
Fields: TypeAlias = Iterator[Field]
Section: TypeAlias = Callable[[ServerState], Fields]

UNSAFE = str.maketrans("#:\n\r", "____")  # in the name of a field
TTL_SAMPLE = 64  # keys in the sample for avg_ttl
SECONDS_A_DAY = 86400
LRU_CLOCK = 2**24 - 1  # seconds; Redis counts them in 24 bits


def server(state: ServerState) -> Fields:
    config = state.config
    system = os.uname()
    uptime_s = max(0, state.events.clock.now_ms - state.instance.started_ms) // 1000
    yield "redis_version", build.REDIS_VERSION
    yield "redis_git_sha1", "00000000"
    yield "redis_git_dirty", 0
    yield "redis_build_id", build.build_id()
    yield "redis_mode", "standalone"
    yield "penstock_version", build.VERSION
    yield "penstock_compiled", _yes_no(build.compiled())
    yield "python_version", sys.version.split()[0]
    yield "os", f"{system.sysname} {system.release} {system.machine}"
    yield "arch_bits", struct.calcsize("P") * 8
    yield "monotonic_clock", "POSIX clock_gettime"
    yield "atomicvar_api", "gil"  # one thread at a time runs, so nothing else is needed
    yield "gcc_version", build.compiler_version()
    yield "multiplexing_api", "epoll" if build.uses_epoll() else config.event_loop
    yield "process_id", os.getpid()
    yield "process_supervised", supervisor(config)
    yield "run_id", state.instance.run_id
    yield "tcp_port", config.port or config.tls_port
    yield "server_time_usec", state.clock.unix_us()
    yield "uptime_in_seconds", uptime_s
    yield "uptime_in_days", uptime_s // SECONDS_A_DAY
    yield "hz", config.hz
    yield "configured_hz", config.hz
    yield "lru_clock", state.events.clock.now_ms // 1000 & LRU_CLOCK
    yield "executable", sys.executable
    yield "config_file", config.file or ""
    yield from state.addresses.descriptions.items()


def clients(state: ServerState) -> Fields:
    connected = state.all_clients()
    waiters = [client.waiter for client in connected if client.waiter is not None]
    blocking_keys, on_no_key = state.blocking.waiting_keys()
    yield "connected_clients", len(connected) - len(state.replication.replicas.all)
    yield "maxclients", state.config.maxclients
    yield "blocked_clients", state.blocking.waiting + state.pausing.waiting
    yield "watching_clients", sum(1 for client in connected if client.watching)
    held = [client.endpoint.buffers() for client in connected]
    outputs = [at.replies + len(client.out) for client, at in zip(connected, held, strict=True)]
    yield "client_recent_max_input_buffer", max((at.requests + at.room for at in held), default=0)
    yield "client_recent_max_output_buffer", max(outputs, default=0)
    yield "clients_in_timeout_table", sum(1 for waiter in waiters if waiter.due_ms)
    yield "total_watched_keys", len(state.watching.watchers)
    yield "total_blocking_keys", blocking_keys
    yield "total_blocking_keys_on_nokey", on_no_key


def memory(state: ServerState) -> Fields:
    """Used memory is what data, clients and the log hold; see server/observe/memory.py."""
    memory = state.memory
    (resident, in_files), total = resident_and_file_bytes(), total_bytes()
    memory.log = state.persistence.append_only.log.pending
    memory.note_peak(state.events.clock.now_ms // 1000)
    used, limit = memory.used(), state.config.maxmemory
    held = resident - in_files
    keys = sum(len(db) + len(db.expiring) for db in state.databases)
    overhead = memory.startup + memory.clients + memory.scripts + memory.log
    overhead += keys * PLACE_BYTES
    dataset = max(used - overhead, 0)
    yield "used_memory", used
    yield "used_memory_human", human(used)
    yield "used_memory_rss", resident
    yield "used_memory_rss_human", human(resident)
    yield "used_memory_peak", memory.peak
    yield "used_memory_peak_human", human(memory.peak)
    yield "used_memory_peak_time", memory.peak_s
    yield "used_memory_peak_perc", f"{used * 100 / memory.peak:.2f}%"
    yield "used_memory_overhead", overhead
    yield "used_memory_startup", memory.startup
    yield "used_memory_dataset", dataset
    yield "used_memory_dataset_perc", f"{dataset * 100 / max(used - memory.startup, 1):.2f}%"
    yield "allocator_allocated", used
    yield "allocator_active", held
    yield "allocator_resident", held
    yield "total_system_memory", total
    yield "total_system_memory_human", human(total)
    yield "maxmemory", limit
    yield "maxmemory_human", human(limit)
    yield "maxmemory_policy", state.config.maxmemory_policy
    yield "allocator_frag_ratio", f"{held / used:.2f}"
    yield "allocator_frag_bytes", held - used
    yield "allocator_rss_ratio", "1.00"
    yield "allocator_rss_bytes", 0
    yield "rss_overhead_ratio", f"{resident / max(held, 1):.2f}"
    yield "rss_overhead_bytes", in_files
    yield "mem_fragmentation_ratio", f"{resident / used:.2f}"
    yield "mem_fragmentation_bytes", resident - used
    yield "mem_not_counted_for_evict", memory.log
    yield "mem_clients_normal", memory.clients
    yield "mem_aof_buffer", memory.log
    yield "mem_allocator", "pymalloc"


def persistence(state: ServerState) -> Fields:
    kept = state.persistence
    snapshots, child = kept.snapshots, kept.children
    yield "loading", int(state.restrictions.loading)
    yield "async_loading", int(kept.progress is not None and not state.restrictions.loading)
    yield "current_cow_peak", child.cow_peak
    yield "current_cow_size", child.cow_size
    yield "current_cow_size_age", child.cow_size_age
    yield "current_fork_perc", f"{child.fork_perc:.2f}"
    yield "current_save_keys_processed", child.keys_done
    yield "current_save_keys_total", child.keys_total
    yield "rdb_changes_since_last_save", snapshots.changes_since_save
    yield "rdb_bgsave_in_progress", int(snapshots.in_progress)
    yield "rdb_last_save_time", snapshots.last_save_s
    yield "rdb_saves_consecutive_failures", snapshots.failures
    yield "rdb_last_bgsave_status", _ok_err(snapshots.last_ok)
    yield "rdb_last_bgsave_time_sec", snapshots.last_duration_s
    yield "rdb_current_bgsave_time_sec", snapshots.running_s
    yield "rdb_saves", snapshots.saves
    yield "rdb_last_cow_size", snapshots.last_cow_bytes
    yield "rdb_last_load_keys_expired", kept.keys_expired
    yield "rdb_last_load_keys_loaded", kept.keys_loaded
    yield from _append_only(kept)
    yield "aof_load_failed_commands", state.replay_failures.of_log
    if kept.progress is not None:
        yield from _loading(kept.progress)


def _append_only(kept: Persistence) -> Fields:
    file, log = kept.append_only, kept.append_only.log
    is_on = file.mode is not Mode.OFF
    yield "aof_enabled", int(is_on)
    yield "aof_rewrite_in_progress", int(file.is_rewriting)
    yield "aof_rewrite_scheduled", int(file.scheduled)
    yield "aof_last_rewrite_time_sec", file.last_duration_s
    yield "aof_current_rewrite_time_sec", int(kept.children.running_s) if file.is_rewriting else -1
    yield "aof_last_bgrewrite_status", _ok_err(file.last_ok)
    yield "aof_rewrites", file.rewrites
    yield "aof_rewrites_consecutive_failures", file.failures
    yield "aof_last_write_status", _ok_err(not log.error)
    yield "aof_last_cow_size", file.last_cow_bytes
    if is_on:
        yield "aof_current_size", file.size
        yield "aof_base_size", file.rewritten_size
        yield "aof_pending_rewrite", int(file.scheduled)
        yield "aof_buffer_length", log.pending
        yield "aof_pending_bio_fsync", int(log.is_syncing)
        yield "aof_delayed_fsync", log.delayed_syncs


def _loading(progress: LoadProgress) -> Fields:
    yield "loading_start_time", progress.started_s
    yield "loading_total_bytes", progress.total_bytes
    yield "loading_rdb_used_mem", progress.rdb_used_memory
    yield "loading_loaded_bytes", progress.loaded_bytes
    yield "loading_loaded_perc", f"{progress.percent:.2f}"
    yield "loading_eta_seconds", progress.eta_s


def threads(state: ServerState) -> Fields:
    """The threads that serve sockets: there is the one."""
    counted = state.stats
    yield (
        "io_thread_0",
        f"clients={len(state.clients)},reads={counted.reads},writes={counted.writes}",
    )


def stats(state: ServerState) -> Fields:
    counted = state.stats
    per_second, kib_in, kib_out = counted.rates
    yield "total_connections_received", counted.connections
    yield "total_commands_processed", counted.commands
    yield "instantaneous_ops_per_sec", round(per_second)
    yield "total_net_input_bytes", counted.input_bytes
    # What was meant for a replica that has gone since is in the second only.
    yield "total_net_output_bytes", max(0, counted.output_bytes - state.replication.traffic.sent)
    yield "instantaneous_input_kbps", f"{kib_in:.2f}"
    yield "instantaneous_output_kbps", f"{kib_out:.2f}"
    yield "rejected_connections", counted.rejected_connections
    yield "expired_subkeys", state.events.expired_fields
    yield "expired_keys", state.events.expired
    yield "expired_subkeys_active", counted.expired_fields_in_cycles
    yield "expired_keys_active", counted.expired_in_cycles
    yield "expired_stale_perc", f"{counted.stale_percent:.2f}"
    yield "expired_time_cap_reached_count", counted.expire_time_cap_reached
    yield "expire_cycle_cpu_milliseconds", int(counted.expire_cycle_ms)
    yield "keyspace_hits", state.events.hits
    yield "keyspace_misses", state.events.misses
    yield "latest_fork_usec", state.persistence.children.latest_fork_usec
    yield "total_forks", state.persistence.children.total_forks
    yield "slave_expires_tracked_keys", len(state.events.replica_expiry)
    yield "unexpected_error_replies", state.replay_failures.total
    yield "total_error_replies", counted.errors
    yield "total_reads_processed", counted.reads
    yield "total_writes_processed", counted.writes
    yield "io_threaded_total_prefetch_batches", counted.prefetches
    yield "io_threaded_total_prefetch_entries", counted.prefetched_keys
    yield "client_query_buffer_limit_disconnections", counted.query_limit_disconnections
    yield "client_output_buffer_limit_disconnections", counted.output_limit_disconnections


def replication(_state: ServerState) -> Fields:
    """No field of its own: server.replication.replication adds them all."""
    yield from ()


def cpu(_state: ServerState) -> Fields:
    """CPU time in seconds. The main thread's is all but that of uvloop's threads."""
    for who, suffix in (
        (resource.RUSAGE_SELF, ""),
        (resource.RUSAGE_CHILDREN, "_children"),
        (resource.RUSAGE_THREAD, "_main_thread"),
    ):
        usage = resource.getrusage(who)
        yield f"used_cpu_sys{suffix}", f"{usage.ru_stime:.6f}"
        yield f"used_cpu_user{suffix}", f"{usage.ru_utime:.6f}"


def modules(_state: ServerState) -> Fields:
    """No field: the server loads no modules."""
    yield from ()


def commandstats(state: ServerState) -> Fields:
    """The commands called or refused since the start or CONFIG RESETSTAT."""
    for row in TABLE.all_rows():
        if row.calls or row.rejected or row.failed:
            usec = row.nanoseconds // 1000
            each = row.nanoseconds / 1000 / row.calls if row.calls else 0
            yield (
                f"cmdstat_{row.name}",
                f"calls={row.calls},usec={usec},usec_per_call={each:.2f},"
                f"rejected_calls={row.rejected},failed_calls={row.failed}",
            )


def latencystats(state: ServerState) -> Fields:
    """How long the calls of each command take, in us: latency-tracking-info-percentiles."""
    percents = state.config.latency_tracking_info_percentiles.split()
    for row in TABLE.all_rows():
        if row.latencies.calls:
            times = [(text, row.latencies.percentile(float(text))) for text in percents]
            shown = ",".join(f"p{text}={ns / 1000:.3f}" for text, ns in times)
            yield f"latency_percentiles_usec_{row.name}", shown


def errorstats(state: ServerState) -> Fields:
    for code, count in sorted(state.stats.errors_by_code.items()):
        yield f"errorstat_{code.translate(UNSAFE)}", f"count={count}"


def cluster(_state: ServerState) -> Fields:
    """There is none."""
    yield from ()


def keyspace(state: ServerState) -> Fields:
    """The databases that are not empty. avg_ttl is the mean of a random sample, in ms."""
    for db in state.databases:
        if len(db):
            sample = db.expiring.sample(db.events.chance, TTL_SAMPLE)
            left_ms = [max(0, db.expiry(key) - state.events.clock.now_ms) for key in sample]
            mean_ms = sum(left_ms) // len(left_ms) if left_ms else 0
            yield (
                f"db{db.index}",
                f"keys={len(db)},expires={len(db.expiring)},avg_ttl={mean_ms}"
                f",subexpiry={len(db.field_expiries)}",
            )


# Fields of parts that are not there, as Redis 8.0 shows them while they have nothing to do: all are
# 0. The part that comes gives them itself, and its row goes.
ABSENT: dict[str, dict[str, tuple[str, ...]]] = {
    "threads for I/O": {
        "server": ("io_threads_active",),
        "stats": ("io_threaded_reads_processed", "io_threaded_writes_processed"),
    },
    "cluster": {
        "clients": ("cluster_connections",),
        "memory": (
            "mem_cluster_links",
            "mem_cluster_slot_migration_output_buffer",
            "mem_cluster_slot_migration_input_buffer",
            "mem_cluster_slot_migration_input_buffer_peak",
        ),
        "cluster": ("cluster_enabled",),
    },
    "buffers of a client that grow and shrink": {
        "stats": ("reply_buffer_shrinks", "reply_buffer_expands"),
    },
    "users that a certificate names": {"stats": ("acl_access_denied_tls_cert",)},
    "defragmentation": {
        "memory": ("allocator_muzzy", "active_defrag_running"),
        "stats": (
            "active_defrag_hits",
            "active_defrag_misses",
            "active_defrag_key_hits",
            "active_defrag_key_misses",
            "total_active_defrag_time",
            "current_active_defrag_time",
        ),
    },
    "hash tables that are rehashed": {"memory": ("mem_overhead_db_hashtable_rehashing",)},
    "sockets that MIGRATE keeps": {"stats": ("migrate_cached_sockets",)},
    "payloads that are not checked": {"stats": ("dump_payload_sanitizations",)},
    "replicas": {
        "memory": ("mem_replica_full_sync_buffer",),
    },
    "modules": {"persistence": ("module_fork_in_progress", "module_fork_last_cow_size")},
}

SECTIONS: dict[str, Section] = {
    "server": server,
    "clients": clients,
    "memory": memory,
    "persistence": persistence,
    "threads": threads,
    "stats": stats,
    "replication": replication,
    "cpu": cpu,
    "modules": modules,
    "commandstats": commandstats,
    "errorstats": errorstats,
    "latencystats": latencystats,
    "cluster": cluster,
    "keyspace": keyspace,
}
TITLES = {name: "CPU" if name == "cpu" else name.capitalize() for name in SECTIONS}
ABSENT_LINES = {
    name: "".join(f"{field}:0\r\n" for part in ABSENT.values() for field in part.get(name, ()))
    for name in SECTIONS
}
WITH_PARTS = ("server", "clients", "memory", "stats", "replication")  # parts have fields in these
ON_REQUEST = ("commandstats", "latencystats")  # long: not among the default sections
DEFAULT = tuple(name for name in SECTIONS if name not in ON_REQUEST)
GROUPS = {"default": DEFAULT, "all": tuple(SECTIONS), "everything": tuple(SECTIONS)}


def report(state: ServerState, names: list[str]) -> str:
    """The text of INFO for the sections *names*; none means the default ones."""
    wanted = {section for name in names or ["default"] for section in GROUPS.get(name, (name,))}
    parts = [part for part in state.parts if type(part).info is not Part.info]  # who has some
    text = []
    for name, section in SECTIONS.items():
        if name in wanted:
            of_parts = [part.info(name) for part in parts] if name in WITH_PARTS else []
            fields = chain(section(state), *of_parts)
            lines = "".join([f"{field}:{value}\r\n" for field, value in fields])
            text.append(f"# {TITLES[name]}\r\n{lines}{ABSENT_LINES[name]}")
    return "\r\n".join(text)


def _ok_err(value: bool) -> str:
    return "ok" if value else "err"


def _yes_no(value: bool) -> str:
    return "yes" if value else "no"
