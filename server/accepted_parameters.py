"""Parameters that redis has and this server takes without acting on them.

So that a redis.conf and clients' habits work: their values are checked, kept and shown. What is
set explicitly at the start is named in a warning, once.

Where being ignored would lose data or open the server to others, only the default is taken, and
all else is refused with a reason: whoever asks for a replica must not believe in one.
"""

from __future__ import annotations

import re

from server.parameter import (
    INT64,
    TEXT,
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
        if int(text[:-1]) > 100:
            raise BadValue("percentage argument must be less or equal to 100")
        return text
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


ALL_EVENTS = "g$lshzxetd"  # what A stands for


def _parse_events(text: str, _old: object) -> str:
    if set(text) - set(ALL_EVENTS + "AnKEm"):
        raise BadValue("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
    chosen = set(text.replace("A", ALL_EVENTS))
    if chosen >= set(ALL_EVENTS):
        chosen = chosen - set(ALL_EVENTS) | {"A"}
    return "".join(letter for letter in "A" + ALL_EVENTS + "nKEm" if letter in chosen)


ACCEPTED_PARAMETERS = (
    # snapshots and the append-only file
    P("aof-disable-auto-gc", YES_NO, False),
    P("rdb-del-sync-files", YES_NO, False),
    P("sanitize-dump-payload", one_of("no", "yes", "clients"), "no"),  # always done
    # replicas
    P("replicaof", unsupported(TEXT, "", "this server is no replica yet"), "", ("slaveof",), FIXED),
    P("masterauth", TEXT, ""),
    P("masteruser", TEXT, ""),
    P("replica-serve-stale-data", YES_NO, True, ("slave-serve-stale-data",)),
    P("replica-read-only", YES_NO, True, ("slave-read-only",)),
    P("replica-priority", integer(), 100, ("slave-priority",)),
    P("replica-announce-ip", TEXT, "", ("slave-announce-ip",)),
    P("replica-announce-port", PORT, 0, ("slave-announce-port",)),
    P("replica-announced", YES_NO, True),
    P("replica-ignore-maxmemory", YES_NO, True, ("slave-ignore-maxmemory",)),
    P("replica-ignore-disk-write-errors", YES_NO, False),
    P("replica-lazy-flush", YES_NO, False, ("slave-lazy-flush",)),
    P("repl-backlog-size", memory(1), 1024**2),
    P("repl-backlog-ttl", LONG, 3600),
    P("repl-disable-tcp-nodelay", YES_NO, False),
    P("repl-diskless-load", one_of("disabled", "on-empty-db", "swapdb"), "disabled"),
    P("repl-diskless-sync", YES_NO, True),
    P("repl-diskless-sync-delay", integer(), 5),
    P("repl-diskless-sync-max-replicas", integer(), 0),
    P("repl-ping-replica-period", integer(1), 10, ("repl-ping-slave-period",)),
    P("repl-timeout", integer(1), 60),
    P(
        "min-replicas-to-write",
        unsupported(integer(), 0, "this server has no replicas yet"),
        0,
        ("min-slaves-to-write",),
    ),
    P("min-replicas-max-lag", integer(), 10, ("min-slaves-max-lag",)),
    P("propagation-error-behavior", one_of("ignore", "panic", "panic-on-replicas"), "ignore"),
    # users
    P("aclfile", unsupported(TEXT, "", "this server knows no users yet"), "", (), FIXED),
    P("acllog-max-len", LONG, 128),
    P("acl-pubsub-default", one_of("allchannels", "resetchannels"), "resetchannels"),
    P("enable-module-command", one_of("no", "yes", "local"), "no", (), FIXED),
    # TLS
    P("tls-port", unsupported(PORT, 0, "this server speaks no TLS"), 0),
    P("tls-auth-clients", one_of("no", "yes", "optional"), "yes"),
    P("tls-cluster", YES_NO, False),
    P("tls-replication", unsupported(YES_NO, False, "this server speaks no TLS"), False),
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
    P(
        "cluster-enabled",
        unsupported(YES_NO, False, "this server is no cluster node"),
        False,
        (),
        FIXED,
    ),
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
    P("cluster-announce-port", PORT, 0),
    P("cluster-announce-tls-port", PORT, 0),
    P("cluster-announce-bus-port", PORT, 0),
    P("cluster-link-sendbuf-limit", memory(0, UINT64), 0),
    P("cluster-preferred-endpoint-type", one_of("ip", "hostname", "unknown-endpoint"), "ip"),
    # memory
    P("maxmemory-clients", Kind(_parse_memory_or_percent), "0"),
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
    P("set-max-listpack-value", memory(), 64),
    P("zset-max-listpack-entries", LONG, 128, ("zset-max-ziplist-entries",)),
    P("zset-max-listpack-value", memory(), 64, ("zset-max-ziplist-value",)),
    P("hll-sparse-max-bytes", memory(), 3000),
    # what is watched
    P("notify-keyspace-events", Kind(_parse_events, many_words=True), ""),
    P("slowlog-log-slower-than", integer(-1, INT64), 10000),
    P("slowlog-max-len", LONG, 128),
    P("latency-monitor-threshold", LONG, 0),
    P("latency-tracking", YES_NO, True),
    P(
        "latency-tracking-info-percentiles",
        Kind(_parse_percentiles, many_words=True),
        "50 99 99.9",
    ),
    P("tracking-table-max-keys", LONG, 1_000_000),
    P("syslog-enabled", YES_NO, False, (), FIXED),
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
    P("supervised", one_of("upstart", "systemd", "auto", "no"), "no", (), FIXED),
    P("set-proc-title", YES_NO, True, (), FIXED),
    P("proc-title-template", TEXT, "{title} {listen-addr} {server-mode}"),
    P("dynamic-hz", YES_NO, True),
    P("io-threads", integer(1, 128), 1, (), FIXED),
    P("io-threads-do-reads", YES_NO, False, (), FIXED),
    P("server_cpulist", TEXT, "", (), FIXED),
    P("bio_cpulist", TEXT, "", (), FIXED),
    P("aof_rewrite_cpulist", TEXT, "", (), FIXED),
    P("bgsave_cpulist", TEXT, "", (), FIXED),
    P("shutdown-timeout", integer(), 10),
    P("busy-reply-threshold", LONG, 5000, ("lua-time-limit",)),
    P("bind-source-addr", TEXT, ""),
    P("socket-mark-id", integer(0, 2**32 - 1), 0, (), FIXED),
)
