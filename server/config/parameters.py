"""The configuration: redis.conf's parameters that this server acts on, and their present values.

A parameter is one row of PARAMETERS. From it come the attribute of Config (dashes become
underscores), the option of the command line, the line of redis.conf, and CONFIG GET and SET.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from server.config.accepted_parameters import ACCEPTED_PARAMETERS
from server.config.parameter import (
    FILE_NAME,
    INT64,
    OUTPUT_LIMITS,
    SAVE_POINTS,
    TEXT,
    UINT32,
    UINT64,
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
    unsupported,
)
from server.config.switches import Switches

__all__ = ["PARAMETERS", "BadValue", "Config", "OutputLimit", "Parameter"]

P = Parameter
FIXED = False  # not mutable

POLICIES = (
    "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl", "allkeys-lru", "allkeys-lfu",
    "allkeys-random", "noeviction",
)  # fmt: skip

SIGNALS = some_of("default", "save", "nosave", "now", "force")

DEFAULT_OUTPUT_LIMITS = {
    "normal": OutputLimit(0, 0, 0),
    "slave": OutputLimit(256 * 1024**2, 64 * 1024**2, 60),
    "pubsub": OutputLimit(32 * 1024**2, 8 * 1024**2, 60),
}

PARAMETERS = (
    # the network
    P("port", integer(0, 65535), 6379, (), FIXED),
    P("bind", WORDS, ["127.0.0.1", "-::1"], (), FIXED),
    P("unixsocket", TEXT, "", (), FIXED),
    P("unixsocketperm", octal(0o777), 0, (), FIXED),
    P("tcp-backlog", integer(), 511, (), FIXED),
    P("tcp-keepalive", integer(), 300),
    P("timeout", integer(), 0),
    P("maxclients", integer(1, UINT32), 10000),
    P("protected-mode", YES_NO, True),
    P("requirepass", TEXT, ""),
    P("proto-max-bulk-len", memory(1024**2), 512 * 1024**2),
    P("client-query-buffer-limit", memory(1024**2), 1024**3),
    P("client-output-buffer-limit", OUTPUT_LIMITS, DEFAULT_OUTPUT_LIMITS),
    # the process
    P("event-loop", one_of("uvloop", "asyncio"), "uvloop", (), FIXED),
    P("databases", integer(1), 16, (), FIXED),
    P("hz", clamped(1, 500), 10),
    P("loglevel", one_of("debug", "verbose", "notice", "warning", "nothing"), "notice"),
    P("logfile", TEXT, "", (), FIXED),
    P("always-show-logo", YES_NO, False, (), FIXED),
    P("daemonize", YES_NO, False, (), FIXED),
    P("pidfile", TEXT, "", (), FIXED),
    P("supervised", one_of("upstart", "systemd", "auto", "no"), "no", (), FIXED),
    P("dir", TEXT, "", protected=True),
    P("enable-debug-command", one_of("no", "yes", "local"), "no", (), FIXED),
    P("enable-protected-configs", one_of("no", "yes", "local"), "no", (), FIXED),
    P("shutdown-on-sigint", SIGNALS, "default"),
    P("shutdown-on-sigterm", SIGNALS, "default"),
    # snapshots
    P("save", SAVE_POINTS, [(3600, 1), (300, 100), (60, 10000)]),
    P("dbfilename", FILE_NAME, "dump.rdb", protected=True),
    P("rdbcompression", YES_NO, True),
    P("rdbchecksum", YES_NO, True, (), FIXED),
    P("rdb-save-incremental-fsync", YES_NO, True),
    P("rdb-key-save-delay", integer(-(2**31)), 0),
    P("stop-writes-on-bgsave-error", YES_NO, True),
    # the append-only file
    P("appendonly", YES_NO, False),
    P("appendfilename", FILE_NAME, "appendonly.aof", (), FIXED),
    P("appenddirname", FILE_NAME, "appendonlydir", (), FIXED),
    P("appendfsync", one_of("everysec", "always", "no"), "everysec"),
    P("no-appendfsync-on-rewrite", YES_NO, False),
    P("auto-aof-rewrite-percentage", integer(), 100),
    P("auto-aof-rewrite-min-size", memory(), 64 * 1024**2),
    P("aof-load-truncated", YES_NO, True),
    P("aof-use-rdb-preamble", YES_NO, True),
    P("aof-timestamp-enabled", YES_NO, False),
    P("aof-rewrite-incremental-fsync", YES_NO, True),
    # data
    P("list-max-listpack-size", integer(-(2**31)), -2, ("list-max-ziplist-size",)),
    P("stream-node-max-bytes", memory(), 4096),
    P("stream-node-max-entries", integer(0, INT64), 100),
    P("active-expire-effort", integer(1, 10), 1),
    P("maxmemory", memory(0, UINT64), 0),
    P(
        "maxmemory-policy",
        unsupported(
            one_of(*POLICIES),
            "noeviction",
            "this server evicts no keys yet: only noeviction is served",
        ),
        "noeviction",
    ),
)


class Config:
    """The present values, one attribute a parameter.

    *file* is the redis.conf that was read, and *given* the parameters that were set in it or by
    options, whatever their values; *switches* are what DEBUG sets.
    """

    def __init__(self) -> None:
        self.file: str | None = None
        self.given: set[str] = set()
        self.switches = Switches()
        self._rows: dict[str, Parameter] = {}
        for row in (*PARAMETERS, *ACCEPTED_PARAMETERS):
            setattr(self, row.attribute, row.default)
            for name in (row.name, *row.aliases):
                self._rows[name] = row

    if TYPE_CHECKING:  # the attributes are made from the table

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def __iter__(self) -> Iterator[Parameter]:
        return iter((*PARAMETERS, *ACCEPTED_PARAMETERS))

    def find(self, name: str) -> Parameter | None:
        """The parameter of that name or old name, in whatever letters."""
        return self._rows.get(name.lower())

    def names(self) -> dict[str, Parameter]:
        """All names, old ones included."""
        return self._rows

    def value(self, row: Parameter) -> Any:
        """The present value."""
        return getattr(self, row.attribute)

    def show(self, row: Parameter) -> str:
        """The value as CONFIG GET has it."""
        return row.kind.show(self.value(row))

    def parse(self, row: Parameter, text: str) -> Any:
        """What *text* means for *row*. Raises BadValue."""
        return row.kind.parse(text, self.value(row))

    def set(self, row: Parameter, value: Any) -> None:
        """Give *row* a value that parse() has made."""
        setattr(self, row.attribute, value)

    def give(self, row: Parameter, words: list[str]) -> None:
        """Set *row* as a line of redis.conf does. Raises BadValue.

        Lines of one cumulative parameter add up; one with an empty value begins anew.
        """
        if len(words) != 1 and not row.kind.many_words:
            raise BadValue("wrong number of arguments")
        value = self.parse(row, " ".join(words))
        if row.kind.cumulative and value and row.name in self.given:
            value = self.value(row) + value
        self.set(row, value)
        self.given.add(row.name)

    @property
    def without_effect(self) -> list[str]:
        """The parameters that are not at their defaults, and that this server does not act on."""
        return [row.name for row in ACCEPTED_PARAMETERS if self.value(row) != row.default]
