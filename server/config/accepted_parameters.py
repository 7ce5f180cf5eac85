"""Parameters that redis and valkey have and this server takes without acting on them.

So that their configuration files and clients' habits work: the values are checked, kept and shown.
Those that differ from the default are named at the start, in one line of the log.

Where being ignored would lose data, open the server to others, or have somebody wait for what never
comes, a row is *unsupported*: only the value that asks for nothing is taken, and all else is
refused with what is missing here.
"""

from __future__ import annotations

import re

from server.config.parameter import (
    INT64,
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
    parse_bytes,
    unsupported,
)

P = Parameter
FIXED = False  # not mutable

PORT = integer(0, 65535)
LONG = integer(0, INT64)


def _parse_memory_or_percent(text: str, _old: object) -> str:
    if re.fullmatch(r"[0-9]{1,3}%", text):
        percent = int(text[:-1])
        if percent > 100:
            raise BadValue("percentage argument must be less or equal to 100")
        return f"{percent}%" if percent else "0"
    try:
        return str(parse_bytes(text))
    except BadValue:
        raise BadValue("argument must be a memory or percent value") from None


def _parse_percentiles(text: str, _old: object) -> str:
    words = text.split()
    if not all(re.fullmatch(r"[-+]?[0-9]{1,40}(\.[0-9]{1,40})?", word) for word in words):
        raise BadValue("Invalid latency-tracking-info-percentiles parameters")
    if not all(0 <= float(word) <= 100 for word in words):
        raise BadValue(
            "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]"
        )
    return " ".join(repr(float(word)).removesuffix(".0") for word in words)


def _parse_oom_scores(text: str, _old: object) -> str:
    words = text.split()
    if len(words) != 3:
        raise BadValue("wrong number of arguments")
    if not all(
        re.fullmatch(r"-?[0-9]{1,4}", word) and -2000 <= int(word) <= 2000 for word in words
    ):
        raise BadValue("Invalid oom-score-adj-values, elements must be between -2000 and 2000.")
    return " ".join(words)


def _parse_events(text: str, _old: object) -> str:
    if set(text) - set("Ag$lshzxeKEtmdn"):
        raise BadValue("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
    return text


def _parse_primary(text: str, _old: object) -> str:
    words = text.split()
    if text.lower() == "no one" or not words:
        return ""
    if len(words) != 2:
        raise BadValue("wrong number of arguments")
    if not re.fullmatch("[0-9]{1,5}", words[1]) or int(words[1]) > 65535:
        raise BadValue("Invalid master port")
    return text


PRIMARY = Kind(_parse_primary, write=lambda _nothing: [], many_words=True)

# ---------------------------------------------------------------------- what is missing

NO_REPLICA = "this server is no replica yet"
NO_REPLICAS = "this server has no replicas yet"
NO_USERS = "this server knows no users yet but the default one; set its password with requirepass"
NO_TLS = "this server speaks no TLS"
NO_RDMA = "this server speaks no RDMA"
NO_CLUSTER = "this server is no cluster node"
NO_EVENTS = "keyspace notifications are not served yet"
NO_CLIENT_EVICTION = "this server evicts no clients yet"
NO_SYSLOG = "this server does not log to syslog: see logfile"
NO_LOG_FORMATS = "this server's log has no other form"
NO_REPAIR = "this server cuts off no corrupt end of the log: see python -m server.check --fix"
NO_MARKS = "this server marks no sockets"
NO_SOCKET_GROUP = "this server gives its Unix socket no group: see unixsocketperm"
NO_SEED = "this server cannot fix the order of SCAN"
NO_IMPORT = "this server cannot put off what expires"

# ---------------------------------------------------------------------- the table

ACCEPTED_PARAMETERS = (
    # snapshots and the append-only file
    P("aof-disable-auto-gc", YES_NO, False),
    P("rdb-del-sync-files", YES_NO, False),
    P("aof-load-corrupt-tail-max-size", unsupported(memory(), 0, NO_REPAIR), 0),
    P("rdb-version-check", one_of("strict", "relaxed"), "strict"),
    P("sanitize-dump-payload", one_of("no", "yes", "clients"), "no"),  # always done
    # replicas
    P("replicaof", unsupported(PRIMARY, "", NO_REPLICA), "", ("slaveof",), FIXED),
    P("masterauth", TEXT, "", ("primaryauth",)),
    P("masteruser", TEXT, "", ("primaryuser",)),
    P("replica-serve-stale-data", YES_NO, True, ("slave-serve-stale-data",)),
    P("replica-read-only", YES_NO, True, ("slave-read-only",)),
    P("replica-priority", integer(), 100, ("slave-priority",)),
    P("replica-announce-ip", TEXT, "", ("slave-announce-ip",)),
    P("replica-announce-port", PORT, 0, ("slave-announce-port",)),
    P("replica-announced", YES_NO, True),
    P("replica-ignore-maxmemory", YES_NO, True, ("slave-ignore-maxmemory",)),
    P("replica-ignore-disk-write-errors", YES_NO, False),
    P("replica-full-sync-buffer-limit", memory(), 0),
    P("replica-lazy-flush", YES_NO, False, ("slave-lazy-flush",)),
    P("repl-backlog-size", memory(1), 1024**2),
    P("repl-backlog-ttl", LONG, 3600),
    P("repl-disable-tcp-nodelay", YES_NO, False),
    P("repl-diskless-load", one_of("disabled", "on-empty-db", "swapdb"), "disabled"),
    P("repl-diskless-sync", YES_NO, True),
    P("repl-diskless-sync-delay", integer(), 5),
    P("repl-diskless-sync-max-replicas", integer(), 0),
    P("dual-channel-replication-enabled", YES_NO, False),
    P("repl-mptcp", YES_NO, False, (), FIXED),
    P("repl-ping-replica-period", integer(1), 10, ("repl-ping-slave-period",)),
    P("repl-timeout", integer(1), 60),
    P(
        "min-replicas-to-write",
        unsupported(integer(), 0, NO_REPLICAS),
        0,
        ("min-slaves-to-write",),
    ),
    P("min-replicas-max-lag", integer(), 10, ("min-slaves-max-lag",)),
    P("propagation-error-behavior", one_of("ignore", "panic", "panic-on-replicas"), "ignore"),
    # users
    P("aclfile", unsupported(TEXT, "", NO_USERS), "", (), FIXED),
    P("acllog-max-len", LONG, 128),
    P("acl-pubsub-default", one_of("allchannels", "resetchannels"), "resetchannels"),
    P("enable-module-command", one_of("no", "yes", "local"), "no", (), FIXED),
    # TLS
    P("tls-port", unsupported(PORT, 0, NO_TLS), 0),
    P("tls-auth-clients", one_of("no", "yes", "optional"), "yes"),
    P("tls-auth-clients-user", one_of("CN", "URI", "off"), "off"),
    P("tls-auto-reload-interval", integer(), 0),
    P("tls-cluster", unsupported(YES_NO, False, NO_TLS), False),  # of MIGRATE too
    P("tls-replication", unsupported(YES_NO, False, NO_TLS), False),
    P("tls-prefer-server-ciphers", YES_NO, False),
    P("tls-session-caching", YES_NO, True),
    P("tls-session-cache-size", integer(), 20480),
    P("tls-session-cache-timeout", integer(), 300),
    P("tls-ca-cert-dir", TEXT, ""),
    P("tls-ca-cert-file", TEXT, ""),
    P("tls-cert-file", TEXT, ""),
    P("tls-key-file", TEXT, ""),
    P("tls-key-file-pass", TEXT, ""),
    P("tls-client-cert-file", TEXT, ""),
    P("tls-client-key-file", TEXT, ""),
    P("tls-client-key-file-pass", TEXT, ""),
    P("tls-dh-params-file", TEXT, ""),
    P("tls-protocols", TEXT, ""),
    P("tls-ciphers", TEXT, ""),
    P("tls-ciphersuites", TEXT, ""),
    # the cluster
    P("cluster-enabled", unsupported(YES_NO, False, NO_CLUSTER), False, (), FIXED),
    P("cluster-config-file", TEXT, "nodes.conf", (), FIXED),
    P("cluster-port", PORT, 0, (), FIXED),
    P("cluster-node-timeout", LONG, 15000),
    P("cluster-migration-barrier", integer(), 1),
    P("cluster-replica-validity-factor", integer(), 10, ("cluster-slave-validity-factor",)),
    P("cluster-replica-no-failover", YES_NO, False, ("cluster-slave-no-failover",)),
    P("cluster-require-full-coverage", YES_NO, True),
    P("cluster-allow-reads-when-down", YES_NO, False),
    P("cluster-allow-pubsubshard-when-down", YES_NO, True),
    P("cluster-allow-replica-migration", YES_NO, True),
    P("cluster-announce-ip", TEXT, ""),
    P("cluster-announce-hostname", TEXT, ""),
    P("cluster-announce-human-nodename", TEXT, ""),
    P("cluster-announce-client-ipv4", TEXT, ""),
    P("cluster-announce-client-ipv6", TEXT, ""),
    P("cluster-announce-client-port", PORT, 0),
    P("cluster-announce-client-tls-port", PORT, 0),
    P("cluster-announce-port", PORT, 0),
    P("cluster-announce-tls-port", PORT, 0),
    P("cluster-announce-bus-port", PORT, 0),
    P("cluster-blacklist-ttl", integer(-INT64 - 1, INT64), 60),
    P("cluster-compatibility-sample-ratio", integer(0, 100), 0),
    P("cluster-config-save-behavior", one_of("sync", "best-effort"), "sync"),
    P("cluster-databases", integer(1), 1, (), FIXED),
    P("cluster-link-sendbuf-limit", memory(0, UINT64), 0),
    P("cluster-manual-failover-timeout", integer(1), 5000),
    P("cluster-slot-migration-handoff-max-lag-bytes", memory(), 1024**2),
    P("cluster-slot-migration-write-pause-timeout", LONG, 10000),
    P("cluster-slot-migration-log-max-len", LONG, 1000),
    P("cluster-slot-stats-enabled", YES_NO, False),
    P("slot-migration-max-failover-repl-bytes", memory(), 0),
    P("cluster-preferred-endpoint-type", one_of("ip", "hostname", "unknown-endpoint"), "ip"),
    # memory
    P(
        "maxmemory-clients",
        unsupported(Kind(_parse_memory_or_percent), "0", NO_CLIENT_EVICTION),
        "0",
    ),
    P("maxmemory-samples", integer(1), 5),
    P("maxmemory-eviction-tenacity", integer(0, 100), 10),
    P("lfu-log-factor", integer(), 10),
    P("lfu-decay-time", integer(), 1),
    P("lazyfree-lazy-eviction", YES_NO, False),
    P("lazyfree-lazy-expire", YES_NO, False),
    P("lazyfree-lazy-server-del", YES_NO, False),
    P("lazyfree-lazy-user-del", YES_NO, False),
    P("lazyfree-lazy-user-flush", YES_NO, False),
    P("activerehashing", YES_NO, True),
    P("activedefrag", YES_NO, False),
    P("active-defrag-cycle-max", integer(1, 99), 25),
    P("active-defrag-cycle-min", integer(1, 99), 1),
    P("active-defrag-cycle-us", integer(0, 100_000), 500),
    P("active-defrag-ignore-bytes", memory(1), 100 * 1024**2),
    P("active-defrag-max-scan-fields", integer(1, INT64), 1000),
    P("active-defrag-threshold-lower", integer(0, 1000), 10),
    P("active-defrag-threshold-upper", integer(0, 1000), 100),
    P("jemalloc-bg-thread", YES_NO, True),
    P("disable-thp", YES_NO, True, (), FIXED),
    P("oom-score-adj", one_of("no", "yes", "relative", "absolute"), "no"),
    P("oom-score-adj-values", Kind(_parse_oom_scores, many_words=True), "0 200 800"),
    # encodings
    P("list-compress-depth", integer(), 0),
    P("hash-max-listpack-entries", LONG, 512, ("hash-max-ziplist-entries",)),
    P("hash-max-listpack-value", memory(), 64, ("hash-max-ziplist-value",)),
    P("set-max-intset-entries", LONG, 512),
    P("set-max-listpack-entries", LONG, 128),
    P("set-max-listpack-value", LONG, 64),
    P("zset-max-listpack-entries", LONG, 128, ("zset-max-ziplist-entries",)),
    P("zset-max-listpack-value", memory(), 64, ("zset-max-ziplist-value",)),
    P("hll-sparse-max-bytes", memory(), 3000),
    P("array-slice-size", LONG, 4096),
    P("array-sparse-kmax", LONG, 10),
    P("array-sparse-kmin", LONG, 5),
    P("stream-idmp-duration", integer(1, 86400), 100),
    P("stream-idmp-maxsize", integer(1, 10000), 100),
    # what is watched
    P("notify-keyspace-events", unsupported(Kind(_parse_events), "", NO_EVENTS), ""),
    P(
        "slowlog-log-slower-than",
        integer(-1, INT64),
        10000,
        ("commandlog-execution-slower-than",),
    ),
    P("slowlog-max-len", LONG, 128, ("commandlog-slow-execution-max-len",)),
    P("slowlog-entry-max-argc", LONG, 32),
    P("slowlog-entry-max-string-len", LONG, 128),
    P("key-memory-histograms", YES_NO, False),
    P("commandlog-request-larger-than", integer(-1, INT64), 1024**2),
    P("commandlog-large-request-max-len", LONG, 128),
    P("commandlog-reply-larger-than", integer(-1, INT64), 1024**2),
    P("commandlog-large-reply-max-len", LONG, 128),
    P("latency-monitor-threshold", LONG, 0),
    P("latency-tracking", YES_NO, True),
    P(
        "latency-tracking-info-percentiles",
        Kind(_parse_percentiles, many_words=True),
        "50 99 99.9",
    ),
    P("tracking-table-max-keys", LONG, 1_000_000),
    P("hide-user-data-from-log", YES_NO, False),  # always done
    P(
        "log-format",
        unsupported(one_of("legacy", "logfmt", "json"), "legacy", NO_LOG_FORMATS),
        "legacy",
    ),
    P(
        "log-timestamp-format",
        unsupported(one_of("legacy", "iso8601", "milliseconds"), "legacy", NO_LOG_FORMATS),
        "legacy",
    ),
    P("syslog-enabled", unsupported(YES_NO, False, NO_SYSLOG), False, (), FIXED),
    P("syslog-ident", TEXT, "redis", (), FIXED),
    P(
        "syslog-facility",
        one_of("user", *(f"local{n}" for n in range(8))),
        "local0",
        (),
        FIXED,
    ),
    P("crash-log-enabled", YES_NO, True),
    P("crash-memcheck-enabled", YES_NO, True),
    P("ignore-warnings", TEXT, ""),
    # the process
    P("set-proc-title", YES_NO, True, (), FIXED),
    P("proc-title-template", TEXT, "{title} {listen-addr} {server-mode}"),
    P("dynamic-hz", YES_NO, True),
    P("io-threads", integer(1, 128), 1, (), FIXED),
    P("io-threads-do-reads", YES_NO, False, (), FIXED),
    P("lookahead", integer(1), 16),
    P("vset-force-single-threaded-execution", YES_NO, False),
    P("prefetch-batch-max-size", integer(0, 128), 16),
    P("server-cpulist", TEXT, "", ("server_cpulist",), FIXED),
    P("bio-cpulist", TEXT, "", ("bio_cpulist",), FIXED),
    P("aof-rewrite-cpulist", TEXT, "", ("aof_rewrite_cpulist",), FIXED),
    P("bgsave-cpulist", TEXT, "", ("bgsave_cpulist",), FIXED),
    P("shutdown-timeout", integer(), 10),
    P("busy-reply-threshold", LONG, 5000, ("lua-time-limit",)),
    P("locale-collate", TEXT, ""),
    P("extended-redis-compatibility", YES_NO, False),
    P("availability-zone", TEXT, ""),
    P("hash-seed", unsupported(TEXT, "", NO_SEED), "", (), FIXED),
    P("import-mode", unsupported(YES_NO, False, NO_IMPORT), False),
    # the network
    P("bind-source-addr", TEXT, ""),
    P("max-new-connections-per-cycle", integer(1, 1000), 10),
    P("max-new-tls-connections-per-cycle", integer(1, 1000), 1),
    P("mptcp", YES_NO, False, (), FIXED),
    P("rdma-bind", TEXT, ""),
    P("rdma-port", unsupported(PORT, 0, NO_RDMA), 0),
    P("rdma-completion-vector", integer(-1), -1, (), FIXED),
    P("rdma-rx-size", integer(64 * 1024, 16 * 1024**2), 1024**2, (), FIXED),
    P("socket-mark-id", unsupported(integer(0, UINT32), 0, NO_MARKS), 0, (), FIXED),
    P("unixsocketgroup", unsupported(TEXT, "", NO_SOCKET_GROUP), "", (), FIXED),
)
