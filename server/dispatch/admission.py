"""Admission: whether a command may run now. Where it comes from decides which checks hold for it.

    check, in Redis's order                         client   EXEC   script   woken   log, primary
    the client is authenticated                       x
    no script is suspended (long_scripts.py)         x
    the command may stand in a transaction            x
    the user may run it                               x       x      x        x
    maxmemory is not exceeded                         x               x        x
    the system gives memory                           x               x        x
    what is written can be kept                       x               x
    the server may write: role, enough replicas       x               x
    what it reads can be confirmed (with ACKS)        x
    a subscriber may run the command in RESP2         x
    the data are not stale (replicas)                 x               x
    the data is loaded                                x
    a monitor or replica does not work with keys      x

Before maxmemory is checked, keys are evicted as maxmemory-policy has it. A script's command is
checked by what was found before the script; once it has written, it may go on to. What EXEC runs
was admitted when it was queued, and EXEC itself once more, by what it runs. A script with a first
line is admitted by what this says; one without, by what its commands do. A woken command was
admitted when it came; only the memory may be short by now. Rights may be taken away at any time:
Execution asks for those of what EXEC runs, and whether a REPLICAOF in it has ended writes. What was
logged has been run before, and is run again whatever holds now, also inside of EXEC or a script.
Handlers keep to that, too: what depends on parameters, rights, memory or the clock they ask of
Call, which knows the origin.
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.client.client import (
    ACKS,
    IN_MULTI,
    MONITORING,
    REPLICA,
    RESTRICTED,
    SUBSCRIBED,
    UNAUTHENTICATED,
    Client,
)
from server.client.origin import CLIENT, REPLAYED, SCRIPT, WOKEN
from server.config.parameters import DebugSwitches
from server.parts.access.access import Access
from server.parts.eviction.key_eviction import KeyEviction
from server.parts.restrictions import Restrictions
from server.parts.scripting.script_run import ScriptRun
from server.table import errors
from server.table.command import Command, Flags

WRITE = int(Flags.WRITE)
DATA = int(Flags.WRITE | Flags.READONLY)
KEYS = int(Flags.WRITE | Flags.READONLY | Flags.MAY_REPLICATE)
DENYOOM = int(Flags.DENYOOM)
NO_AUTH = int(Flags.NO_AUTH)
NO_MULTI = int(Flags.NO_MULTI)
NOT_QUEUED = int(Flags.NOT_QUEUED)
LOADING = int(Flags.LOADING)
NO_ASYNC_LOADING = int(Flags.NO_ASYNC_LOADING)
STALE = int(Flags.STALE)
RUNS_QUEUE = int(Flags.RUNS_QUEUE)
TELLS_HEALTH = int(Flags.TELLS_HEALTH)
FOR_SUBSCRIBERS = int(Flags.FOR_SUBSCRIBERS)

NOSCRIPT = int(Flags.NOSCRIPT)
RUNS_SCRIPTS = int(Flags.RUNS_SCRIPTS)
CONFIRMED = DATA | int(Flags.RUNS_SCRIPTS | Flags.READS_OTHERS)
ALLOW_BUSY = int(Flags.ALLOW_BUSY)
CHANGES = int(Flags.WRITE | Flags.MAY_REPLICATE)

NEEDS_MEMORY = CLIENT | WOKEN
KEYLESS = MONITORING | REPLICA


class Admission:
    """Refuses commands, by the state of the client and of the server.

    It changes nothing, except that keys are evicted to admit a command.
    """

    __slots__ = ("_access", "_key_eviction", "_restrictions", "_switches")

    def __init__(
        self,
        restrictions: Restrictions,
        key_eviction: KeyEviction,
        access: Access,
        switches: DebugSwitches,
    ) -> None:
        self._restrictions = restrictions
        self._key_eviction = key_eviction
        self._access = access
        self._switches = switches

    def refusal(
        self, client: Client, command: Command, argv: list[bytes], flags: int, origin: int
    ) -> ErrorReply | None:
        """Why *argv*, a call of *command* from *origin*, must not run now; None if it may.

        *flags* are those of this call: of a script, its first line tells more than its command.
        """
        if origin == CLIENT:
            if client.flags & UNAUTHENTICATED and not command.flags & NO_AUTH:
                return errors.NO_AUTH
            if client.flags & IN_MULTI and command.flags & NO_MULTI:
                return errors.NOT_IN_MULTI
        if client.flags & RESTRICTED:
            denial = client.user.denial(command, argv)
            if denial is not None:
                return self._access.refused(client, denial, origin)
        now = self._restrictions
        if now.busy is not None and origin == CLIENT:
            return None if command.flags & ALLOW_BUSY else now.busy
        if origin & NEEDS_MEMORY:
            shortage = self._shortage(client, command, flags)
            if shortage is not None:
                return shortage
        if now.write_refusal is not None and origin == CLIENT:
            refused = DATA if now.refuses_reads else WRITE
            if flags & TELLS_HEALTH or _has(client, flags, refused):
                return now.write_refusal
        if now.role_refusal is not None and origin == CLIENT and _has(client, flags, WRITE):
            return now.role_refusal
        waits = origin == CLIENT and client.flags & ACKS and now.confirms_nothing is not None
        if waits and _has(client, flags, CONFIRMED):
            return now.confirms_nothing
        if origin == CLIENT and client.flags & SUBSCRIBED and _must_listen(client, command):
            return errors.not_for_subscribers(command.name)
        if now.stale and origin == CLIENT and not _all_have(client, flags, STALE):
            return errors.PRIMARY_IS_DOWN
        if now.loading and origin == CLIENT and not _all_have(client, flags, LOADING):
            return errors.LOADING
        if now.async_loading and origin == CLIENT and _has(client, flags, NO_ASYNC_LOADING):
            return errors.LOADING
        if origin == CLIENT and client.flags & KEYLESS and _has(client, flags, KEYS):
            return errors.NOT_FOR_MONITORS
        return None

    def refusal_in_script(
        self, client: Client, command: Command, argv: list[bytes], run: ScriptRun, origin: int
    ) -> ErrorReply | None:
        """Why the script *run* must not run *command* now; None if it may.

        *origin* says whether the script is replayed.
        """
        if command.flags & NOSCRIPT and not self._switches.scripts_run_all:
            return errors.NOT_IN_SCRIPT
        if command.flags & RUNS_SCRIPTS:
            return errors.NOT_IN_SCRIPT
        if client.flags & RESTRICTED:
            denial = client.user.denial(command, argv)
            if denial is not None:
                denied: ErrorReply = self._access.refused(client, denial, SCRIPT)
                return ErrorReply("ERR", "ACL failure in script: " + denied.text)
        if run.is_read_only and command.flags & CHANGES:
            return errors.READ_ONLY_SCRIPT
        if self._restrictions.must_check and not (run.has_written or origin & REPLAYED):
            refusal = self._shortage_in_script(command, run)
            if refusal is not None:
                return refusal
        if command.flags & WRITE:
            run.has_written = True
        return None

    def _shortage_in_script(self, command: Command, run: ScriptRun) -> ErrorReply | None:
        """The error of a script's command that needs a disk or memory, and there is none."""
        now = self._restrictions
        if now.write_refusal is not None and command.flags & (DATA if now.refuses_reads else WRITE):
            return now.write_refusal
        if now.role_refusal is not None and command.flags & WRITE:
            return now.role_refusal
        if now.stale and not command.flags & STALE:
            return errors.STALE_IN_SCRIPT
        if command.flags & DENYOOM and not run.allows_oom:
            if self._key_eviction.is_out_of_memory:
                return errors.OUT_OF_MEMORY
            if now.short_of_memory:
                return errors.NO_MEMORY
        return None

    def _shortage(self, client: Client, command: Command, flags: int) -> ErrorReply | None:
        """The error of a command that takes memory while there is none for it."""
        queues = _would_queue(client, command)
        if not self._key_eviction.make_room() and (queues or _has(client, flags, DENYOOM)):
            return errors.OUT_OF_MEMORY
        if self._restrictions.short_of_memory and (queues or flags & DENYOOM):
            return errors.NO_MEMORY
        return None


def _has(client: Client, flags: int, wanted: int) -> bool:
    """Whether *flags*, or for EXEC those of any call that is queued, have any that is *wanted*."""
    if flags & RUNS_QUEUE:
        return bool(client.queue.flags & wanted)
    return bool(flags & wanted)


def _all_have(client: Client, flags: int, wanted: int) -> bool:
    """Whether *flags*, and for EXEC those of all calls that are queued, have the *wanted* one."""
    if flags & RUNS_QUEUE:
        return bool(flags & client.queue.shared_flags & wanted)
    return bool(flags & wanted)


def _must_listen(client: Client, command: Command) -> bool:
    """Whether a subscriber may not run *command*: in RESP2, messages look like replies."""
    return client.out.resp == 2 and not command.flags & FOR_SUBSCRIBERS


def _would_queue(client: Client, command: Command) -> bool:
    """Whether a transaction would grow by *command*: then it takes memory whatever it does."""
    return bool(client.flags & IN_MULTI) and not command.flags & NOT_QUEUED
