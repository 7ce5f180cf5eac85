"""Metrics that are facts of INFO, under the names that dashboards for Redis know.

A fact that a row below names is a metric; its unit and its meaning are the fact's. Where INFO has
-1 for what is not known, or for what there is none of, the metric has no sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from server.metrics.family import Column, Table, alone, column
from server.observe.fact import Always, Fact, Facts, Unit
from server.parts.server_facts import SECTIONS
from server.parts.state import ServerState

PREFIX = "redis_"

# The facts that have another name as metrics.
RENAMED = {
    "maxclients": "max_clients",
    "client_recent_max_input_buffer": "client_recent_max_input_buffer_bytes",
    "client_recent_max_output_buffer": "client_recent_max_output_buffer_bytes",
    "used_memory": "memory_used_bytes",
    "used_memory_rss": "memory_used_rss_bytes",
    "used_memory_peak": "memory_used_peak_bytes",
    "used_memory_overhead": "memory_used_overhead_bytes",
    "used_memory_startup": "memory_used_startup_bytes",
    "used_memory_dataset": "memory_used_dataset_bytes",
    "used_memory_lua": "memory_used_lua_bytes",
    "used_memory_vm_eval": "memory_used_vm_eval_bytes",
    "used_memory_vm_functions": "memory_used_vm_functions_bytes",
    "used_memory_vm_total": "memory_used_vm_total",
    "used_memory_scripts": "memory_used_scripts_bytes",
    "used_memory_scripts_eval": "memory_used_scripts_eval_bytes",
    "used_memory_functions": "memory_used_functions_bytes",
    "maxmemory": "memory_max_bytes",
    "total_system_memory": "total_system_memory_bytes",
    "allocator_active": "allocator_active_bytes",
    "allocator_allocated": "allocator_allocated_bytes",
    "allocator_resident": "allocator_resident_bytes",
    "mem_aof_buffer": "mem_aof_buffer_bytes",
    "mem_replication_backlog": "mem_replication_backlog_bytes",
    "mem_total_replication_buffers": "mem_total_replication_buffers_bytes",
    "mem_not_counted_for_evict": "mem_not_counted_for_eviction_bytes",
    "loading": "loading_dump_file",
    "current_cow_peak": "current_cow_peak_bytes",
    "current_cow_size": "current_cow_size_bytes",
    "rdb_last_save_time": "rdb_last_save_timestamp_seconds",
    "rdb_last_bgsave_time_sec": "rdb_last_bgsave_duration_sec",
    "rdb_current_bgsave_time_sec": "rdb_current_bgsave_duration_sec",
    "rdb_saves": "rdb_saves_total",
    "rdb_last_cow_size": "rdb_last_cow_size_bytes",
    "aof_current_size": "aof_current_size_bytes",
    "aof_base_size": "aof_base_size_bytes",
    "aof_last_rewrite_time_sec": "aof_last_rewrite_duration_sec",
    "aof_current_rewrite_time_sec": "aof_current_rewrite_duration_sec",
    "aof_last_cow_size": "aof_last_cow_size_bytes",
    "total_connections_received": "connections_received_total",
    "total_commands_processed": "commands_processed_total",
    "rejected_connections": "rejected_connections_total",
    "total_net_input_bytes": "net_input_bytes_total",
    "total_net_output_bytes": "net_output_bytes_total",
    "total_net_repl_input_bytes": "net_repl_input_bytes_total",
    "total_net_repl_output_bytes": "net_repl_output_bytes_total",
    "expired_keys": "expired_keys_total",
    "expired_subkeys": "expired_subkeys_total",
    "expired_stale_perc": "expired_stale_percentage",
    "expired_time_cap_reached_count": "expired_time_cap_reached_total",
    "expire_cycle_cpu_milliseconds": "expire_cycle_cpu_time_ms_total",
    "evicted_keys": "evicted_keys_total",
    "evicted_clients": "evicted_clients_total",
    "evicted_scripts": "evicted_scripts_total",
    "total_eviction_exceeded_time": "eviction_exceeded_time_ms_total",
    "current_eviction_exceeded_time": "current_eviction_exceeded_time_ms",
    "keyspace_hits": "keyspace_hits_total",
    "keyspace_misses": "keyspace_misses_total",
    "acl_access_denied_auth": "acl_access_denied_auth_total",
    "acl_access_denied_cmd": "acl_access_denied_cmd_total",
    "acl_access_denied_key": "acl_access_denied_key_total",
    "acl_access_denied_channel": "acl_access_denied_channel_total",
    "eventloop_cycles": "eventloop_cycles_total",
    "eventloop_duration_sum": "eventloop_duration_sum_usec_total",
    "eventloop_duration_cmd_sum": "eventloop_duration_cmd_sum_usec_total",
    "instantaneous_eventloop_cycles_per_sec": "instantaneous_eventloop_cycles_per_second",
    "used_cpu_sys": "cpu_sys_seconds_total",
    "used_cpu_user": "cpu_user_seconds_total",
    "used_cpu_sys_children": "cpu_sys_children_seconds_total",
    "used_cpu_user_children": "cpu_user_children_seconds_total",
    "used_cpu_sys_main_thread": "cpu_sys_main_thread_seconds_total",
    "used_cpu_user_main_thread": "cpu_user_main_thread_seconds_total",
    "sync_full": "replica_resyncs_full",
    "sync_partial_ok": "replica_partial_resync_accepted",
    "sync_partial_err": "replica_partial_resync_denied",
    "repl_backlog_size": "replication_backlog_bytes",
    "repl_backlog_active": "repl_backlog_is_active",
    "repl_backlog_histlen": "repl_backlog_history_bytes",
}
# Those that have not.
NAMED = (
    "uptime_in_seconds",
    "process_id",
    "connected_clients",
    "blocked_clients",
    "pubsub_clients",
    "tracking_clients",
    "watching_clients",
    "clients_in_timeout_table",
    "total_watched_keys",
    "total_blocking_keys",
    "total_blocking_keys_on_nokey",
    "allocator_frag_ratio",
    "allocator_frag_bytes",
    "allocator_rss_ratio",
    "allocator_rss_bytes",
    "rss_overhead_ratio",
    "rss_overhead_bytes",
    "mem_fragmentation_ratio",
    "mem_fragmentation_bytes",
    "mem_clients_normal",
    "mem_clients_slaves",
    "number_of_cached_scripts",
    "number_of_functions",
    "number_of_libraries",
    "lazyfree_pending_objects",
    "async_loading",
    "current_cow_size_age",
    "current_fork_perc",
    "current_save_keys_processed",
    "current_save_keys_total",
    "rdb_changes_since_last_save",
    "rdb_bgsave_in_progress",
    "rdb_last_bgsave_status",
    "rdb_last_load_keys_expired",
    "rdb_last_load_keys_loaded",
    "aof_enabled",
    "aof_rewrite_in_progress",
    "aof_rewrite_scheduled",
    "aof_last_bgrewrite_status",
    "aof_last_write_status",
    "aof_buffer_length",
    "aof_pending_bio_fsync",
    "aof_delayed_fsync",
    "aof_pending_rewrite",
    "loading_start_time",
    "loading_total_bytes",
    "loading_loaded_bytes",
    "loading_eta_seconds",
    "instantaneous_ops_per_sec",
    "instantaneous_input_kbps",
    "instantaneous_output_kbps",
    "instantaneous_eventloop_duration_usec",
    "latest_fork_usec",
    "unexpected_error_replies",
    "total_error_replies",
    "total_reads_processed",
    "total_writes_processed",
    "client_query_buffer_limit_disconnections",
    "client_output_buffer_limit_disconnections",
    "pubsub_channels",
    "pubsub_patterns",
    "pubsubshard_channels",
    "tracking_total_keys",
    "tracking_total_items",
    "tracking_total_prefixes",
    "slave_expires_tracked_keys",
    "connected_slaves",
    "master_repl_offset",
    "second_repl_offset",
    "repl_backlog_first_byte_offset",
    "slave_priority",
    "min_slaves_good_slaves",
    "cluster_enabled",
)
NAMES = {**{name: name for name in NAMED}, **RENAMED}
UNIT_OF_FLAG = "0 or 1"


def tables() -> Iterator[Table[ServerState, Any]]:
    """A table for each group of facts of one subject."""
    for section in SECTIONS:
        for entry in section.entries:
            if isinstance(entry.facts, Facts):
                columns = [_column(fact) for fact in entry.facts.facts if fact.name in NAMES]
                if columns:
                    yield Table(columns, alone(entry.find))


def _column(fact: Fact[Any]) -> Column[Any]:
    unit = UNIT_OF_FLAG if fact.unit is Unit.FLAG else fact.unit.value
    read = fact.read if isinstance(fact.read, Always) else _known(fact.read)
    return column(PREFIX + NAMES[fact.name], unit, fact.meaning, read)


def _known(read: Callable[[Any], Any]) -> Callable[[Any], float | None]:
    """Reads a number; None for -1: nothing here counts below 0."""

    def known(subject: Any) -> float | None:
        value: float = read(subject)
        return None if value == -1 else value

    return known
