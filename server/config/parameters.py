"""The configuration: redis.conf's parameters that this server acts on, and their present values.

A parameter is declared by one line in the class Config. From that line come the typed attribute,
the option of the command line, the line of redis.conf, and CONFIG GET and SET. The parameter's name
is the attribute's, with dashes for underscores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from server.config.accepted_parameters import AcceptedParameters
from server.config.event_classes import EVENT_CLASSES, NO_EVENTS
from server.config.parameter import (
    ADDRESSES,
    FILE_NAME,
    INT64,
    MEMORY_OR_PERCENT,
    OUTPUT_LIMITS,
    PERCENTILES,
    PORT,
    SAVE_POINTS,
    STREAM_POLICIES,
    TEXT,
    UINT32,
    UINT64,
    VERSION,
    WORDS,
    YES_NO,
    BadValue,
    OutputLimit,
    Parameter,
    clamped,
    integer,
    memory,
    octal,
    one_of,
    some_of,
    take_parameters,
)
from server.config.replication_parameters import ReplicationParameters
from server.config.user_lines import UserRules
from server.table.renaming import Renaming
from storage.limits import SetLimits
from storage.rdb.options import WriteOptions
from storage.stream.producers import MOST_IDS, MOST_SECONDS

__all__ = ["BadValue", "Config", "OutputLimit", "Parameter"]

T = TypeVar("T")

POLICIES = (
    "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl", "volatile-lrm",
    "allkeys-lru", "allkeys-lfu", "allkeys-random", "allkeys-lrm", "noeviction",
)  # fmt: skip

SIGNALS = some_of("default", "save", "nosave", "now", "force")

RDB_VERSIONS = {"7.0": 10, "7.2": 11, "7.4": 12, "8.6": 13, "8.8": 14}  # that each Redis reads

NO_WORDS: list[str] = []
NO_POLICIES: list[tuple[str, ...]] = []

DEFAULT_OUTPUT_LIMITS = {
    "normal": OutputLimit(0, 0, 0),
    "slave": OutputLimit(256 * 1024**2, 64 * 1024**2, 60),
    "pubsub": OutputLimit(32 * 1024**2, 8 * 1024**2, 60),
}


class DebugSwitches:
    """What DEBUG changes for tests. Not parameters: redis.conf and CONFIG do not have them."""

    def __init__(self) -> None:
        self.cron = True  # PAUSE-CRON
        self.active_expire = True  # SET-ACTIVE-EXPIRE
        self.checksums = True  # SET-SKIP-CHECKSUM-VALIDATION: verify the checksums of values
        self.scripts_run_all = False  # SET-DISABLE-DENY-SCRIPTS: noscript commands, too
        self.flush_sleep_s = 0.0  # AOF-FLUSH-SLEEP: before each write to the append-only file


class Config(ReplicationParameters, AcceptedParameters):
    """The present values, one attribute a parameter.

    *file* is the redis.conf that was read, and *given* the parameters that were set in it or by
    options, whatever their values; *user_rules* and *renamed_commands* are what its lines say
    of users and of names; *switches* are what DEBUG sets.
    """

    # the network
    port = Parameter(PORT, 6379)
    bind = Parameter(ADDRESSES, ["127.0.0.1", "-::1"])
    unixsocket = Parameter(TEXT, "", mutable=False)
    unixsocketperm = Parameter(octal(0o777), 0, mutable=False)
    tcp_backlog = Parameter(integer(), 511, mutable=False)
    tcp_keepalive = Parameter(integer(), 300)
    timeout = Parameter(integer(), 0)
    busy_reply_threshold = Parameter(integer(0, INT64), 5000, aliases=("lua-time-limit",))
    # Less than 1 GiB: beyond 2^26 items in one table Lua throws errors where none may be thrown.
    lua_memory_limit = Parameter(memory(1024**2, 1024**3 - 1), 512 * 1024**2)
    maxclients = Parameter(integer(1, UINT32), 10000)
    protected_mode = Parameter(YES_NO, True)
    requirepass = Parameter(TEXT, "")
    aclfile = Parameter(TEXT, "", mutable=False)
    acllog_max_len = Parameter(integer(0, INT64), 128)
    acl_pubsub_default = Parameter(one_of("allchannels", "resetchannels"), "resetchannels")
    proto_max_bulk_len = Parameter(memory(1024**2), 512 * 1024**2)
    client_query_buffer_limit = Parameter(memory(1024**2), 1024**3)
    client_output_buffer_limit = Parameter(OUTPUT_LIMITS, DEFAULT_OUTPUT_LIMITS)
    # TLS
    tls_port = Parameter(PORT, 0)
    tls_cert_file = Parameter(TEXT, "")
    tls_key_file = Parameter(TEXT, "")
    tls_key_file_pass = Parameter(TEXT, "")
    tls_ca_cert_file = Parameter(TEXT, "")
    tls_ca_cert_dir = Parameter(TEXT, "")
    tls_dh_params_file = Parameter(TEXT, "")
    tls_auth_clients = Parameter(one_of("no", "yes", "optional"), "yes")
    tls_auth_clients_user = Parameter(one_of("CN", "off"), "off")
    tls_protocols = Parameter(TEXT, "")
    tls_ciphers = Parameter(TEXT, "")
    tls_ciphersuites = Parameter(TEXT, "")
    tls_prefer_server_ciphers = Parameter(YES_NO, False)
    tls_session_caching = Parameter(YES_NO, True)
    tls_session_cache_size = Parameter(integer(), 20480)
    tls_session_cache_timeout = Parameter(integer(), 300)
    max_new_tls_connections_per_cycle = Parameter(integer(1, 1000), 1)
    # metrics and the console, over HTTP
    metrics_port = Parameter(PORT, 0)
    metrics_bind = Parameter(ADDRESSES, ["127.0.0.1", "-::1"])
    metrics_tls = Parameter(YES_NO, False, mutable=False)
    metrics_streams = Parameter(WORDS, ["*"])
    metrics_consumers = Parameter(YES_NO, False)
    metrics_keys = Parameter[list[str]](WORDS, [])
    metrics_key_groups = Parameter[list[str]](WORDS, [])
    metrics_max_series = Parameter(integer(0, INT64), 20_000)
    console = Parameter(YES_NO, False)
    console_hosts = Parameter(WORDS, NO_WORDS)
    console_allow_remote = Parameter(YES_NO, False, protected=True)
    # the process
    redis_version = Parameter(VERSION, "8.6.3")  # as build.REDIS_VERSION
    event_loop = Parameter(one_of("uvloop", "asyncio"), "uvloop", mutable=False)
    databases = Parameter(integer(1), 16, mutable=False)
    hz = Parameter(clamped(1, 500), 10)
    loglevel = Parameter(one_of("debug", "verbose", "notice", "warning", "nothing"), "notice")
    logfile = Parameter(TEXT, "", mutable=False)
    log_format = Parameter(one_of("legacy", "logfmt", "json"), "legacy")
    log_timestamp_format = Parameter(one_of("legacy", "iso8601", "milliseconds"), "legacy")
    syslog_enabled = Parameter(YES_NO, False, mutable=False)
    syslog_ident = Parameter(TEXT, "redis", mutable=False, valkey="valkey")
    syslog_facility = Parameter(
        one_of("user", *(f"local{n}" for n in range(8))), "local0", mutable=False
    )
    crash_log_enabled = Parameter(YES_NO, True)
    use_exit_on_panic = Parameter(YES_NO, False, hidden=True)
    always_show_logo = Parameter(YES_NO, False, mutable=False)
    daemonize = Parameter(YES_NO, False, mutable=False)
    pidfile = Parameter(TEXT, "", mutable=False)
    supervised = Parameter(one_of("upstart", "systemd", "auto", "no"), "no", mutable=False)
    dir = Parameter(TEXT, "", protected=True)
    enable_debug_command = Parameter(one_of("no", "yes", "local"), "no", mutable=False)
    enable_protected_configs = Parameter(one_of("no", "yes", "local"), "no", mutable=False)
    shutdown_on_sigint = Parameter(SIGNALS, "default")
    shutdown_on_sigterm = Parameter(SIGNALS, "default")
    # snapshots
    save = Parameter(SAVE_POINTS, [(3600, 1), (300, 100), (60, 10000)])
    dbfilename = Parameter(FILE_NAME, "dump.rdb", protected=True)
    rdbcompression = Parameter(YES_NO, True)
    rdbchecksum = Parameter(YES_NO, True, mutable=False)
    rdb_oldest_reader = Parameter(one_of(*RDB_VERSIONS), "7.2")
    rdb_save_incremental_fsync = Parameter(YES_NO, True)
    rdb_key_save_delay = Parameter(integer(-(2**31)), 0, hidden=True)
    key_load_delay = Parameter(integer(-(2**31)), 0, hidden=True)  # us, for tests
    stop_writes_on_bgsave_error = Parameter(YES_NO, True)
    # the append-only file
    appendonly = Parameter(YES_NO, False)
    appendfilename = Parameter(FILE_NAME, "appendonly.aof", mutable=False)
    appenddirname = Parameter(FILE_NAME, "appendonlydir", mutable=False)
    appendfsync = Parameter(one_of("everysec", "always", "no"), "everysec")
    no_appendfsync_on_rewrite = Parameter(YES_NO, False)
    auto_aof_rewrite_percentage = Parameter(integer(), 100)
    auto_aof_rewrite_min_size = Parameter(memory(), 64 * 1024**2)
    aof_load_truncated = Parameter(YES_NO, True)
    aof_use_rdb_preamble = Parameter(YES_NO, True)
    aof_timestamp_enabled = Parameter(YES_NO, False)
    aof_checksums = Parameter(YES_NO, True)
    backupdirname = Parameter(FILE_NAME, "backupdir", mutable=False)
    backup_sealed_ttl = Parameter(integer(), 0)
    aof_rewrite_incremental_fsync = Parameter(YES_NO, True)
    # data
    list_max_listpack_size = Parameter(integer(-(2**31)), -2, aliases=("list-max-ziplist-size",))
    set_max_intset_entries = Parameter(integer(0, INT64), 512)
    set_max_listpack_entries = Parameter(integer(0, INT64), 128)
    set_max_listpack_value = Parameter(integer(0, INT64), 64)
    hash_max_listpack_entries = Parameter(
        integer(0, INT64), 512, aliases=("hash-max-ziplist-entries",)
    )
    hash_max_listpack_value = Parameter(memory(), 64, aliases=("hash-max-ziplist-value",))
    zset_max_listpack_entries = Parameter(
        integer(0, INT64), 128, aliases=("zset-max-ziplist-entries",)
    )
    zset_max_listpack_value = Parameter(memory(), 64, aliases=("zset-max-ziplist-value",))
    hll_sparse_max_bytes = Parameter(memory(), 3000)
    stream_node_max_bytes = Parameter(memory(), 4096)
    stream_node_max_entries = Parameter(integer(0, INT64), 100)
    stream_idmp_duration = Parameter(integer(1, MOST_SECONDS), 100)
    stream_idmp_maxsize = Parameter(integer(1, MOST_IDS), 100)
    stream_policy = Parameter(STREAM_POLICIES, NO_POLICIES)
    notify_keyspace_events = Parameter(EVENT_CLASSES, NO_EVENTS)
    # what is watched
    slowlog_log_slower_than = Parameter(
        integer(-1, INT64), 10000, aliases=("commandlog-execution-slower-than",)
    )
    slowlog_max_len = Parameter(
        integer(0, INT64), 128, aliases=("commandlog-slow-execution-max-len",)
    )
    slowlog_entry_max_argc = Parameter(integer(0, INT64), 32)
    slowlog_entry_max_string_len = Parameter(integer(0, INT64), 128)
    commandlog_request_larger_than = Parameter(integer(-1, INT64), 1024**2)
    commandlog_large_request_max_len = Parameter(integer(0, INT64), 128)
    commandlog_reply_larger_than = Parameter(integer(-1, INT64), 1024**2)
    commandlog_large_reply_max_len = Parameter(integer(0, INT64), 128)
    latency_monitor_threshold = Parameter(integer(0, INT64), 0)
    latency_tracking = Parameter(YES_NO, True)
    latency_tracking_info_percentiles = Parameter(PERCENTILES, "50 99 99.9")
    tracking_table_max_keys = Parameter(integer(0, INT64), 1_000_000)
    # expiry and memory
    active_expire_effort = Parameter(integer(1, 10), 1)
    # eviction
    maxmemory = Parameter(memory(0, UINT64), 0)
    maxmemory_policy = Parameter(one_of(*POLICIES), "noeviction")
    maxmemory_samples = Parameter(integer(1), 5)
    maxmemory_eviction_tenacity = Parameter(integer(0, 100), 10)
    maxmemory_clients = Parameter(MEMORY_OR_PERCENT, 0)
    lfu_log_factor = Parameter(integer(), 10)
    lfu_decay_time = Parameter(integer(), 1)
    lazyexpire_nested_arbitrary_keys = Parameter(YES_NO, True, hidden=True)
    lazyfree_lazy_eviction = Parameter(YES_NO, False)
    lazyfree_lazy_expire = Parameter(YES_NO, False, valkey=True)
    lazyfree_lazy_server_del = Parameter(YES_NO, False, valkey=True)
    lazyfree_lazy_user_del = Parameter(YES_NO, False, valkey=True)
    lazyfree_lazy_user_flush = Parameter(YES_NO, False)

    def __init__(self) -> None:
        self.file: str | None = None
        self.given: set[str] = set()
        self.user_rules: UserRules = {}
        self.renamed_commands: list[Renaming] = []
        self.switches = DebugSwitches()
        for row in PARAMETERS:
            self.set(row, row.default)

    def __iter__(self) -> Iterator[Parameter[Any]]:
        return iter(PARAMETERS)

    def parameter(self, name: str) -> Parameter[Any] | None:
        """The parameter of that name or alias, in upper or lower case."""
        return _BY_NAME.get(name.lower())

    def names(self) -> dict[str, Parameter[Any]]:
        """All names, aliases included."""
        return _BY_NAME

    def value(self, row: Parameter[T]) -> T:
        """The present value."""
        value: T = getattr(self, row.attribute)
        return value

    def show(self, row: Parameter[Any]) -> str:
        """The value as CONFIG GET has it."""
        return row.kind.show(self.value(row))

    def parse(self, row: Parameter[T], text: str) -> T:
        """What *text* means for *row*. Raises BadValue."""
        return row.kind.parse(text, self.value(row))

    def set(self, row: Parameter[T], value: T) -> None:
        """Give *row* a value that parse() has made."""
        setattr(self, row.attribute, value)

    def set_from_line(self, row: Parameter[Any], words: list[str]) -> None:
        """Set *row* as a line of redis.conf does. Raises BadValue.

        Lines of one cumulative parameter add up; one with an empty value starts over.
        """
        if len(words) != 1 and not row.kind.many_words:
            raise BadValue("wrong number of arguments")
        value = self.parse(row, " ".join(words))
        if row.kind.cumulative and value and row.name in self.given:
            value = self.value(row) + value
        self.set(row, value)
        self.given.add(row.name)

    def write_options(self, version: int | None = None) -> WriteOptions:
        """How RDBs are written: files, and what DUMP and MIGRATE give away.

        *version* is the newest that the reader knows, if that is not what the parameter says.
        """
        known = RDB_VERSIONS[self.rdb_oldest_reader] if version is None else version
        return WriteOptions(self.rdbcompression, self.rdbchecksum, known)

    @property
    def set_limits(self) -> SetLimits:
        """How large a set may be in its compact encodings."""
        return SetLimits(
            self.set_max_intset_entries,
            self.set_max_listpack_entries,
            self.set_max_listpack_value,
        )

    @property
    def without_effect(self) -> list[str]:
        """The parameters that are not at their defaults, and that this server does not act on."""
        return [row.name for row in WITHOUT_EFFECT if not row.is_default(self.value(row))]


WITHOUT_EFFECT = take_parameters(AcceptedParameters)
PARAMETERS = (
    *take_parameters(Config),
    *take_parameters(ReplicationParameters),
    *WITHOUT_EFFECT,
)

# When one of them is set, files are read again; the others are looked at when a client connects.
TLS_SETTINGS = (
    "tls-cert-file", "tls-key-file", "tls-key-file-pass", "tls-ca-cert-file", "tls-ca-cert-dir",
    "tls-dh-params-file", "tls-protocols", "tls-ciphers", "tls-ciphersuites",
    "tls-prefer-server-ciphers", "tls-session-caching", "tls-session-cache-size",
    "tls-session-cache-timeout",
)  # fmt: skip

_BY_NAME = {name: row for row in PARAMETERS for name in (row.name, *row.aliases)}
