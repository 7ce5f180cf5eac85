"""Commands that have run before: which of them are run again, and what follows if they fail.

    from the log      at the start, and by DEBUG LOADAOF
    from our primary  on a replica

What is run again are changes, and what belongs to them: SELECT, transactions, signs of life. Before
Redis 7.0 scripts were logged and sent as such, with SCRIPT LOAD and FLUSH. An AOF may still hold
them; a primary's are not run, since a script may keep a replica busy for ever. All else would let
an AOF or a primary end the server, or turn it into something else.

If such a command fails, the data are not what they were where it ran first. Each failure is logged,
in Redis's words, and counted for INFO. What follows is the parameter propagation-error-behavior:

    ignore             the next command is run
    panic              a load ends, and so does the server if its primary has sent the command
    panic-on-replicas  so does only that

Whatever it says, two failures end the load, or the link: what has selected a database that is not
here, since all that follows is meant for that one, and what could not be run for lack of memory.
"""

from __future__ import annotations

import logging

from protocol.replies import ErrorReply
from server.client.origin import LOG
from server.config.parameters import Config
from server.observe.part import Part
from server.table import errors
from server.table.command import Command, Flags

CHANGES = int(Flags.WRITE | Flags.MAY_REPLICATE)
READONLY = int(Flags.READONLY)
RUNS_SCRIPTS = int(Flags.RUNS_SCRIPTS)

COMPANIONS = frozenset(
    ("ping", "select", "multi", "exec", "replconf", "script|load", "script|flush")
)

COMPLAINTS = 20  # that are logged of one load, or of one link: a log must not fill the disk

COMPLAINT = (
    "== CRITICAL == This %s is sending an error to its %s: '%s' after processing the command '%s'"
)

_log = logging.getLogger("penstock")


def is_replayed(command: Command, origin: int) -> bool:
    """Whether *command* is run when it comes from *origin*, the AOF or a primary."""
    if command.name in COMPANIONS:
        return True
    if command.flags & RUNS_SCRIPTS:
        return bool(origin & LOG)
    return bool(command.flags & (CHANGES | READONLY if origin & LOG else CHANGES))


class ReplayFailures(Part):
    """Hears of each failure. *of_log* counts those of the last load, *total* all since a reset.

    *ends* says why the replay cannot continue, or "". *panics*: it is the parameter's wish.
    *unrun*: the last command was not run at all, or given up.
    """

    __slots__ = ("_behavior", "_complaints", "_is_read_only", "ends", "of_log", "panics", "total",
                 "unrun")  # fmt: skip

    def __init__(self) -> None:
        self._behavior = "ignore"
        self._is_read_only = True
        self._complaints = 0
        self.of_log = 0
        self.total = 0
        self.ends = ""
        self.panics = False
        self.unrun = False

    def configured(self, config: Config) -> None:
        self._behavior = config.propagation_error_behavior
        self._is_read_only = config.replica_read_only

    def statistics_reset(self) -> None:
        self.total = 0

    def begin_load(self) -> None:
        """A load begins."""
        self.of_log = 0
        self.begin()

    def begin(self) -> None:
        """A load or a link begins."""
        self._complaints = 0
        self.ends = ""
        self.panics = self.unrun = False

    def failed(self, name: str, error: ErrorReply, origin: int) -> None:
        """The command *name* from the AOF or a primary was answered with *error*."""
        if error is errors.NO_MEMORY or error is errors.INTERNAL:
            self.unrun = True
            self.ends = f"a {name} could not be run"
            return
        is_log = bool(origin & LOG)
        self.of_log += is_log
        self.total += 1
        self._complain(name, error, is_log)
        if name == "select":
            self.ends = f"a database is used that is not here: {error.text}"
            return
        on_replicas = self._is_read_only and self._behavior != "ignore"
        if self._behavior == "panic" if is_log else on_replicas:
            self.panics = True
            self.ends = f"'{error.text}' after processing the command '{name}'"

    def _complain(self, name: str, error: ErrorReply, is_log: bool) -> None:
        self._complaints += 1
        if self._complaints > COMPLAINTS:
            return
        who, whom = ("server", "AOF-loading-client") if is_log else ("replica", "master")
        text = error.text if error.code == "ERR" else f"-{error.code} {error.text}"
        _log.warning(COMPLAINT, who, whom, text.encode("ascii", "backslashreplace").decode(), name)
