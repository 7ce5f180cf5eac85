"""Parameters of Redis and Valkey that this server accepts but does not act on.

They make existing configuration files work: the values are checked, kept and shown. Those that
differ from the default, of Redis or of Valkey, are named in one line of the server log.

Where ignoring a value would lose data, open the server to others, or let a client wait for what
never comes, the parameter is *unsupported*: only the value that switches the feature off is
accepted, and others are refused with the reason.
"""

from __future__ import annotations

import re

from server.config.parameter import (
    INT64,
    PORT,
    TEXT,
    UINT32,
    UINT64,
    YES_NO,
    BadValue,
    Kind,
    Parameter,
    integer,
    memory,
    one_of,
    unsupported,
)

LONG = integer(0, INT64)


def _parse_oom_scores(text: str, _old: object) -> str:
    words = text.split()
    if len(words) != 3:
        raise BadValue("wrong number of arguments")
    if not all(
        re.fullmatch(r"-?[0-9]{1,4}", word) and -2000 <= int(word) <= 2000 for word in words
    ):
        raise BadValue("Invalid oom-score-adj-values, elements must be between -2000 and 2000.")
    return " ".join(words)


# ---------------------------------------------------------------------- what is missing

NO_TLS_BUS = "this server is no cluster node, and its MIGRATE speaks no TLS"
NO_RDMA = "this server speaks no RDMA"
NO_CLUSTER = "this server is no cluster node"
NO_REPAIR = "this server cuts off no corrupt end of the log: see penstock check --fix"
NO_MARKS = "this server marks no sockets"
NO_SOCKET_GROUP = "this server gives its Unix socket no group: see unixsocketperm"
NO_SEED = "this server cannot fix the order of SCAN"
NO_IMPORT = "this server cannot put off what expires"


# ---------------------------------------------------------------------- the table
class AcceptedParameters:
    """Their values; Config adds the parameters that this server acts on."""

    # snapshots and the append-only file
    aof_disable_auto_gc = Parameter(YES_NO, False)
    rdb_del_sync_files = Parameter(YES_NO, False)
    aof_load_corrupt_tail_max_size = Parameter(unsupported(memory(), 0, NO_REPAIR), 0)
    rdb_version_check = Parameter(one_of("strict", "relaxed"), "strict")
    sanitize_dump_payload = Parameter(one_of("no", "yes", "clients"), "no")  # always done
    # replicas
    replica_lazy_flush = Parameter(YES_NO, False, aliases=("slave-lazy-flush",), valkey=True)
    repl_disable_tcp_nodelay = Parameter(YES_NO, False)
    replica_ignore_disk_write_errors = Parameter(YES_NO, False)
    replica_full_sync_buffer_limit = Parameter(memory(), 0)
    dual_channel_replication_enabled = Parameter(YES_NO, False)
    repl_mptcp = Parameter(YES_NO, False, mutable=False)
    # modules
    enable_module_command = Parameter(one_of("no", "yes", "local"), "no", mutable=False)
    # TLS
    tls_auto_reload_interval = Parameter(integer(), 0)
    tls_cluster = Parameter(unsupported(YES_NO, False, NO_TLS_BUS), False)
    # the cluster
    cluster_enabled = Parameter(unsupported(YES_NO, False, NO_CLUSTER), False, mutable=False)
    cluster_config_file = Parameter(TEXT, "nodes.conf", mutable=False)
    cluster_port = Parameter(PORT, 0, mutable=False)
    cluster_node_timeout = Parameter(LONG, 15000)
    cluster_migration_barrier = Parameter(integer(), 1)
    cluster_replica_validity_factor = Parameter(
        integer(), 10, aliases=("cluster-slave-validity-factor",)
    )
    cluster_replica_no_failover = Parameter(YES_NO, False, aliases=("cluster-slave-no-failover",))
    cluster_require_full_coverage = Parameter(YES_NO, True)
    cluster_allow_reads_when_down = Parameter(YES_NO, False)
    cluster_allow_pubsubshard_when_down = Parameter(YES_NO, True)
    cluster_allow_replica_migration = Parameter(YES_NO, True)
    cluster_announce_ip = Parameter(TEXT, "")
    cluster_announce_hostname = Parameter(TEXT, "")
    cluster_announce_human_nodename = Parameter(TEXT, "")
    cluster_announce_client_ipv4 = Parameter(TEXT, "")
    cluster_announce_client_ipv6 = Parameter(TEXT, "")
    cluster_announce_client_port = Parameter(PORT, 0)
    cluster_announce_client_tls_port = Parameter(PORT, 0)
    cluster_announce_port = Parameter(PORT, 0)
    cluster_announce_tls_port = Parameter(PORT, 0)
    cluster_announce_bus_port = Parameter(PORT, 0)
    cluster_blacklist_ttl = Parameter(integer(-INT64 - 1, INT64), 60)
    cluster_compatibility_sample_ratio = Parameter(integer(0, 100), 0)
    cluster_config_save_behavior = Parameter(one_of("sync", "best-effort"), "sync")
    cluster_databases = Parameter(integer(1), 1, mutable=False)
    cluster_link_sendbuf_limit = Parameter(memory(0, UINT64), 0)
    cluster_manual_failover_timeout = Parameter(integer(1), 5000)
    cluster_slot_migration_handoff_max_lag_bytes = Parameter(memory(), 1024**2)
    cluster_slot_migration_write_pause_timeout = Parameter(LONG, 10000)
    cluster_slot_migration_log_max_len = Parameter(LONG, 1000)
    cluster_slot_stats_enabled = Parameter(YES_NO, False)
    slot_migration_max_failover_repl_bytes = Parameter(memory(), 0)
    cluster_preferred_endpoint_type = Parameter(one_of("ip", "hostname", "unknown-endpoint"), "ip")
    # memory
    activerehashing = Parameter(YES_NO, True)
    activedefrag = Parameter(YES_NO, False)
    active_defrag_cycle_max = Parameter(integer(1, 99), 25)
    active_defrag_cycle_min = Parameter(integer(1, 99), 1)
    active_defrag_cycle_us = Parameter(integer(0, 100_000), 500)
    active_defrag_ignore_bytes = Parameter(memory(1), 100 * 1024**2)
    active_defrag_max_scan_fields = Parameter(integer(1, INT64), 1000)
    active_defrag_threshold_lower = Parameter(integer(0, 1000), 10)
    active_defrag_threshold_upper = Parameter(integer(0, 1000), 100)
    jemalloc_bg_thread = Parameter(YES_NO, True)
    disable_thp = Parameter(YES_NO, True, mutable=False)
    oom_score_adj = Parameter(one_of("no", "yes", "relative", "absolute"), "no")
    oom_score_adj_values = Parameter(Kind(_parse_oom_scores, many_words=True), "0 200 800")
    # encodings
    list_compress_depth = Parameter(integer(), 0)
    hash_min_template_entries = Parameter(LONG, 0)  # a hash has its own fields, always
    hash_max_template_entries = Parameter(LONG, 0)
    hash_rdb_load_min_template_entries = Parameter(LONG, 0)
    hash_rdb_load_max_template_entries = Parameter(LONG, 0)
    hash_rdb_load_template_disassembly_threshold = Parameter(LONG, 0)
    array_slice_size = Parameter(LONG, 4096)
    array_sparse_kmax = Parameter(LONG, 10)
    array_sparse_kmin = Parameter(LONG, 5)
    # what is watched
    key_memory_histograms = Parameter(YES_NO, False)
    hide_user_data_from_log = Parameter(YES_NO, False, valkey=True)  # always done
    crash_memcheck_enabled = Parameter(YES_NO, True)
    ignore_warnings = Parameter(TEXT, "")
    # the process
    set_proc_title = Parameter(YES_NO, True, mutable=False)
    proc_title_template = Parameter(TEXT, "{title} {listen-addr} {server-mode}")
    dynamic_hz = Parameter(YES_NO, True)
    io_threads = Parameter(integer(1, 128), 1, mutable=False)
    io_threads_do_reads = Parameter(YES_NO, False, mutable=False)
    lookahead = Parameter(integer(1), 16)
    vset_force_single_threaded_execution = Parameter(YES_NO, False)
    prefetch_batch_max_size = Parameter(integer(0, 128), 16)
    server_cpulist = Parameter(TEXT, "", aliases=("server_cpulist",), mutable=False)
    bio_cpulist = Parameter(TEXT, "", aliases=("bio_cpulist",), mutable=False)
    aof_rewrite_cpulist = Parameter(TEXT, "", aliases=("aof_rewrite_cpulist",), mutable=False)
    bgsave_cpulist = Parameter(TEXT, "", aliases=("bgsave_cpulist",), mutable=False)
    shutdown_timeout = Parameter(integer(), 10)
    locale_collate = Parameter(TEXT, "")
    extended_redis_compatibility = Parameter(YES_NO, False)
    availability_zone = Parameter(TEXT, "")
    hash_seed = Parameter(unsupported(TEXT, "", NO_SEED), "", mutable=False)
    import_mode = Parameter(unsupported(YES_NO, False, NO_IMPORT), False)
    # the network
    max_new_connections_per_cycle = Parameter(integer(1, 1000), 10)
    mptcp = Parameter(YES_NO, False, mutable=False)
    rdma_bind = Parameter(TEXT, "")
    rdma_port = Parameter(unsupported(PORT, 0, NO_RDMA), 0)
    rdma_completion_vector = Parameter(integer(-1), -1, mutable=False)
    rdma_rx_size = Parameter(integer(64 * 1024, 16 * 1024**2), 1024**2, mutable=False)
    socket_mark_id = Parameter(unsupported(integer(0, UINT32), 0, NO_MARKS), 0, mutable=False)
    unixsocketgroup = Parameter(unsupported(TEXT, "", NO_SOCKET_GROUP), "", mutable=False)
