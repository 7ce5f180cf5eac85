"""The stock configuration files of Redis and Valkey start this server unchanged.

stock_configs/ has the lines of each that are no comments.
"""

import os
from pathlib import Path

import pytest

from server.config.accepted_parameters import (
    NO_CLUSTER,
    NO_MARKS,
    NO_RDMA,
    NO_REPAIR,
    NO_SEED,
    NO_SOCKET_GROUP,
    NO_TLS_BUS,
)
from server.config.command_line import BadOptions, read_command_line
from server.config.parameters import Config
from server.config.redis_conf import NO_MODULES, REFUSED, BadLine, lines_of, numbered, read_lines

STOCK = sorted((Path(__file__).parent / "stock_configs").iterdir())
INSTALLED = [Path("/etc/redis/redis.conf"), Path("/etc/valkey/valkey.conf")]


def read(path):
    config = Config()
    read_lines(config, lines_of(path))
    return config


@pytest.mark.parametrize("path", STOCK, ids=lambda path: path.stem)
def test_a_stock_file_starts_the_server(path):
    assert read_command_line([str(path)]).port == 6379


@pytest.mark.parametrize("path", STOCK, ids=lambda path: path.stem)
def test_every_parameter_of_a_stock_file_has_an_effect_or_its_default(path):
    assert read(path).without_effect == []


def test_a_default_of_redis_or_of_valkey_is_not_named_and_other_values_are():
    config = Config()
    lines = "lazyfree-lazy-expire yes\nrepl-backlog-size 10mb\nio-threads 4\nactivedefrag no"
    read_lines(config, numbered(lines, "valkey.conf"))
    assert config.without_effect == ["io-threads"]


@pytest.mark.parametrize("path", INSTALLED, ids=lambda path: path.stem)
def test_the_installed_file_is_accepted(path):
    if not os.access(path, os.R_OK):
        pytest.skip(f"no {path} here")
    assert read(path).port


# ---------------------------------------------------------------------- examples in these files

# Examples in the comments of those files. These are accepted.
ACCEPTED_EXAMPLES = """
    min-replicas-to-write 3
    replicaof 10.0.0.1 6379
    slaveof 10.0.0.1 6379
    acl-pubsub-default resetchannels
    active-defrag-cycle-max 25
    active-defrag-cycle-min 1
    active-defrag-cycle-us 500
    active-defrag-ignore-bytes 100mb
    active-defrag-max-scan-fields 1000
    active-defrag-threshold-lower 10
    active-defrag-threshold-upper 100
    active-expire-effort 1
    activedefrag no
    activedefrag yes
    aof-rewrite-cpulist 8-11
    aof_rewrite_cpulist 8-11
    appendfsync always
    appendfsync no
    aof-load-corrupt-tail-max-size 0
    availability-zone "zone-name"
    bgsave-cpulist 1,10-11
    bgsave_cpulist 1,10-11
    bind * -::*
    bind 127.0.0.1 ::1
    bind 192.168.1.100 10.0.0.1
    bind-source-addr 10.0.0.1
    bio-cpulist 1,3
    bio_cpulist 1,3
    busy-reply-threshold 5000
    client-query-buffer-limit 1gb
    cluster-allow-pubsubshard-when-down yes
    cluster-allow-reads-when-down no
    cluster-allow-replica-migration yes
    cluster-announce-bus-port 6380
    cluster-announce-client-ipv4 123.123.123.5
    cluster-announce-client-ipv6 2001:db8::8a2e:370:7334
    cluster-announce-client-port 0
    cluster-announce-client-tls-port 6479
    cluster-announce-hostname ""
    cluster-announce-human-nodename ""
    cluster-announce-ip 10.1.1.5
    cluster-announce-port 0
    cluster-announce-tls-port 6379
    cluster-blacklist-ttl 60
    cluster-compatibility-sample-ratio 0
    cluster-config-file nodes-6379.conf
    cluster-config-save-behavior sync
    cluster-databases 1
    cluster-link-sendbuf-limit 0
    cluster-manual-failover-timeout 5000
    cluster-migration-barrier 1
    cluster-node-timeout 15000
    cluster-port 0
    cluster-preferred-endpoint-type ip
    cluster-replica-no-failover no
    cluster-replica-validity-factor 10
    cluster-require-full-coverage yes
    cluster-slot-migration-log-max-len 1000
    cluster-slot-stats-enabled no
    crash-log-enabled no
    crash-memcheck-enabled no
    enable-debug-command no
    enable-module-command no
    enable-protected-configs no
    events-per-io-thread 2
    extended-redis-compatibility no
    hash-max-template-entries 512
    hash-min-template-entries 4
    hash-rdb-load-max-template-entries 512
    hash-rdb-load-min-template-entries 4
    hash-rdb-load-template-disassembly-threshold 10
    hide-user-data-from-log yes
    ignore-warnings ARM64-COW-BUG
    import-mode no
    io-threads 4
    io-threads-do-reads no
    latency-tracking yes
    latency-tracking-info-percentiles 50 99 99.9
    lfu-decay-time 1
    lfu-log-factor 10
    log-format legacy
    lookahead 16
    key-memory-histograms no
    slowlog-entry-max-argc 32
    stream-idmp-duration 100
    stream-idmp-maxsize 100
    log-timestamp-format legacy
    lua-time-limit 5000
    masterauth secret
    masteruser replica
    max-new-connections-per-cycle 10
    max-new-tls-connections-per-cycle 1
    maxclients 10000
    maxmemory 100mb
    maxmemory-clients 0
    maxmemory-clients 0%
    maxmemory-clients 1g
    maxmemory-clients 5%
    maxmemory-eviction-tenacity 10
    maxmemory-policy noeviction
    maxmemory-samples 5
    min-replicas-max-lag 10
    mptcp yes
    port 0
    prefetch-batch-max-size 16
    primaryauth secret
    primaryuser replica
    propagation-error-behavior ignore
    proto-max-bulk-len 512mb
    rdma-bind 192.168.1.100
    rdma-completion-vector 0
    rdma-rx-size 1048576
    repl-backlog-size 10mb
    repl-backlog-ttl 3600
    repl-mptcp no
    repl-ping-replica-period 10
    repl-timeout 60
    replica-announce-ip 5.5.5.5
    replica-announce-port 1234
    replica-announced yes
    replica-full-sync-buffer-limit 0
    replica-ignore-disk-write-errors no
    replica-ignore-maxmemory yes
    replicaof no one
    requirepass foobared
    sanitize-dump-payload no
    save ""
    save 3600 1 300 100 60 10000
    server-cpulist 0-7:2
    server_cpulist 0-7:2
    shutdown-on-sigint default
    shutdown-on-sigterm default
    shutdown-timeout 10
    slot-migration-max-failover-repl-bytes 0
    socket-mark-id 0
    supervised auto
    syslog-enabled no
    syslog-facility local0
    syslog-ident redis
    tls-auth-clients no
    tls-auth-clients optional
    tls-auto-reload-interval 86400
    tls-ca-cert-dir /etc/ssl/certs
    tls-ca-cert-file ca.crt
    tls-cert-file redis.crt
    tls-ciphers DEFAULT:!MEDIUM
    tls-ciphersuites TLS_CHACHA20_POLY1305_SHA256
    tls-client-cert-file client.crt
    tls-client-key-file client.key
    tls-client-key-file-pass secret
    tls-dh-params-file redis.dh
    tls-key-file redis.key
    tls-key-file-pass secret
    tls-prefer-server-ciphers yes
    tls-protocols "TLSv1.2 TLSv1.3"
    tls-session-cache-size 5000
    tls-session-cache-timeout 60
    tls-session-caching no
    notify-keyspace-events Elg
    notify-keyspace-events Ex
    tracking-table-max-keys 1000000
    unixsocket /run/redis/redis-server.sock
    unixsocketperm 700
"""

# These need a feature that is missing. They are refused, and the error names it.
REFUSED_EXAMPLES = [
    ("cluster-enabled yes", NO_CLUSTER),
    ("hash-seed example-seed-val", NO_SEED),
    ("loadmodule /path/to/my_module.so", NO_MODULES),
    ("loadmodule /path/to/args_module.so arg arg", NO_MODULES),
    ("search.threads 4", NO_MODULES),
    ("rdma-port 6379", NO_RDMA),
    ("sentinel monitor mymaster 127.0.0.1 6379 2", REFUSED["sentinel"]),
    ("socket-mark-id 7", NO_MARKS),
    ("aof-load-corrupt-tail-max-size 1kb", NO_REPAIR),
    ("tls-cluster yes", NO_TLS_BUS),
    ("unixsocketgroup wheel", NO_SOCKET_GROUP),
]


@pytest.mark.parametrize("line", ACCEPTED_EXAMPLES.strip().splitlines(), ids=str.strip)
def test_a_harmless_example_is_accepted(line):
    read_lines(Config(), numbered(line, "redis.conf"))


@pytest.mark.parametrize(("line", "missing"), REFUSED_EXAMPLES)
def test_an_example_of_a_missing_feature_is_refused_with_what_is_missing(line, missing):
    with pytest.raises(BadLine) as raised:
        read_lines(Config(), numbered(line, "redis.conf"))
    assert str(raised.value) == f"redis.conf, line 1: '{line}': {missing}"


# ---------------------------------------------------------------------- common command lines


@pytest.mark.parametrize(
    "words",
    [
        "--save 60 1 --loglevel warning",
        "--save --appendonly no",
        "--appendonly yes --maxmemory 256mb --maxmemory-policy allkeys-lru --requirepass secret",
        "--bind 0.0.0.0 --protected-mode no --port 6380 --daemonize no",
        "--supervised systemd --daemonize no",
        "--enable-debug-command yes --enable-module-command yes --io-threads 4",
        "--masterauth secret --replica-announce-ip 10.0.0.1 --repl-diskless-sync no",
        "--lazyfree-lazy-user-del yes --activedefrag yes --oom-score-adj yes --dynamic-hz no",
        "--tcp-keepalive 60 --timeout 0 --client-output-buffer-limit pubsub 64mb 16mb 90",
        "--notify-keyspace-events ''",
        "--notify-keyspace-events Ex",
    ],
)
def test_common_redis_command_lines_are_accepted(words):
    read_command_line([word.strip("'") for word in words.split()])


def test_an_option_that_is_refused_says_what_is_missing():
    with pytest.raises(BadOptions) as raised:
        read_command_line(["--rdma-port", "6379"])
    assert str(raised.value) == f"option --rdma-port: 'rdma-port \"6379\"': {NO_RDMA}"
