"""The script that runs: for whom, since when, what it may do, and whether it must end.

A script runs between two commands, and nobody else is served meanwhile. After
busy-reply-threshold, others are answered -BUSY from time to time (dispatch/long_scripts.py), and
may end it, unless it has written: half of a script is never seen.
"""

from __future__ import annotations

import logging
from time import process_time
from typing import Protocol

from protocol.replies import ErrorReply, Reply
from server.client.client import Client
from server.parts.scripting.header import ALLOW_OOM, NO_WRITES
from server.parts.scripting.lua.host import Host
from server.process import ticks
from server.process.log_line import VERBOSE

SLICE_NS = 10_000_000  # of a long script, until others are answered again
LOADING_NS = 500_000_000  # that the text of a library may run, for nobody is served meanwhile
NO_WORDS: list[bytes] = []  # while nothing runs
LEVELS = (logging.DEBUG, VERBOSE, logging.INFO, logging.WARNING)  # of redis.log

_log = logging.getLogger("penstock")


class Caller:
    """What a script needs of the dispatcher."""

    __slots__ = ()

    def run_inside(self, client: Client, argv: list[bytes], run: ScriptRun) -> Reply:
        """Run *argv* inside this command, as a script does. An error is a value."""
        raise NotImplementedError

    def count_error(self, error: ErrorReply) -> None:
        """Count *error*, which the script returns: no command gave it."""
        raise NotImplementedError

    def may_run(self, client: Client, argv: list[bytes]) -> bool | None:
        """Whether the user of *client* may run *argv*; None if there is no such command."""
        raise NotImplementedError

    def suspend(self) -> None:
        """Suspend the script, if that is possible, so that others are served meanwhile."""


class Registry(Protocol):
    """Where a library that is loaded enters its functions."""

    def register(
        self, name: bytes, ref: int, flags: list[bytes], description: bytes | None
    ) -> None:
        """Enter a function. Raises ErrorReply."""


class ScriptRun(Host):
    """The run that is on, or the last one: there is one of these, for scripts run one at a time.

    What scripts call is run by *caller*.
    """

    __slots__ = (
        "_ask_at_ns",
        "argv",
        "caller",
        "client",
        "ends",
        "flags",
        "has_failed",
        "has_written",
        "is_function",
        "is_on",
        "is_read_only",
        "name",
        "registry",
        "started_ns",
        "threshold_ns",
    )

    def __init__(self) -> None:
        super().__init__()
        self.caller = Caller()
        self.threshold_ns = 0  # busy-reply-threshold; 0: never
        self.is_on = False
        self.client: Client | None = None
        self.argv = NO_WORDS
        self.name = b""
        self.flags = 0
        self.is_function = False
        self.is_read_only = False
        self.has_failed = False  # an error is part of what it returns
        self.has_written = False
        self.ends = False  # it was told to end, or its server ends
        self.started_ns = 0
        self.registry: Registry | None = None
        self._ask_at_ns = 0

    def begin(
        self,
        client: Client,
        argv: list[bytes],
        name: bytes,
        flags: int,
        is_function: bool,
    ) -> None:
        """A script begins, called *name*, for *client* with the command *argv*."""
        self.is_on = True
        self.client = client
        self.argv = argv
        self.name = name
        self.flags = flags
        self.is_function = is_function
        self.is_read_only = (flags & NO_WRITES) != 0
        self.has_failed = False
        self.has_written = False
        self.ends = False
        self.started_ns = ticks.now_ns()
        self._ask_at_ns = self.started_ns + self.threshold_ns

    def end(self) -> None:
        """It is over."""
        self.is_on = False
        self.client = None
        self.argv = NO_WORDS

    def begin_loading(self, registry: Registry) -> None:
        """The text of a library begins to run, which enters its functions in *registry*."""
        self.registry = registry
        self.ends = False
        self._ask_at_ns = ticks.now_ns() + LOADING_NS

    def end_loading(self) -> bool:
        """It is over. Whether it has taken too long."""
        self.registry = None
        return self.ends

    def end_if_unwritten(self) -> bool:
        """Have it end as soon as may be. False if it has written: half of it must not be seen."""
        self.ends = self.ends or not self.has_written
        return self.ends

    @property
    def duration_ms(self) -> int:
        """Since when it runs."""
        return (ticks.now_ns() - self.started_ns) // 1_000_000

    @property
    def allows_oom(self) -> bool:
        """Whether its commands may add data while maxmemory is exceeded."""
        return (self.flags & ALLOW_OOM) != 0

    # ------------------------------------------------------------------ what the script asks for

    def call(self, words: list[bytes]) -> Reply:
        client = self.client
        assert client is not None
        out = client.out
        own = out.resp
        out.resp = self.resp
        try:
            return self.caller.run_inside(client, words, self)
        finally:
            out.resp = own

    def may_call(self, words: list[bytes]) -> bool | None:
        assert self.client is not None
        return self.caller.may_run(self.client, words)

    def error_returned(self, error: ErrorReply, is_counted: bool) -> None:
        self.has_failed = True
        if not is_counted:
            self.caller.count_error(error)

    def log(self, level: int, text: bytes) -> None:
        _log.log(LEVELS[level], "%s", text.decode("utf-8", "backslashreplace"))

    def cpu_s(self) -> float:
        return process_time()

    def must_end(self) -> bool:
        if self.registry is not None:
            self.ends = self.ends or ticks.now_ns() >= self._ask_at_ns
        elif not self.ends and self.threshold_ns and ticks.now_ns() >= self._ask_at_ns:
            self.caller.suspend()
            self._ask_at_ns = ticks.now_ns() + SLICE_NS
        return self.ends

    def register(
        self, name: bytes, ref: int, flags: list[bytes], description: bytes | None
    ) -> None:
        if self.registry is None:
            raise ErrorReply(
                "ERR", "redis.register_function can only be called on FUNCTION LOAD command"
            )
        self.registry.register(name, ref, flags, description)
