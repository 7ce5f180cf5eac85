"""Commands that were run before: by a server that has logged them, or by our primary.

    replay()   the log     no checks, no answer; nothing is logged again
    apply()    a primary   the same, but what it changes goes to our log and our replicas

What is not run, or fails, is told to ReplayFailures (server/parts/propagation/replay.py).
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.client.client import IN_MULTI, Client
from server.client.origin import LOG, PRIMARY
from server.dispatch.command_lookup import CommandLookup
from server.dispatch.execution import Execution
from server.dispatch.waits import Waits
from server.parts.persistence.log_loader import Replay
from server.parts.propagation import replay as replayed
from server.parts.state import ServerState
from server.table import errors
from server.table.command import Command, Flags

NOT_QUEUED = int(Flags.NOT_QUEUED)
RUNS_SCRIPTS = int(Flags.RUNS_SCRIPTS)
REPLICATED = int(Flags.WRITE | Flags.MAY_REPLICATE)


class Replaying:
    """Runs them with *execution*; *waits* serves the keys that become ready."""

    def __init__(
        self, waits: Waits, lookup: CommandLookup, execution: Execution, state: ServerState
    ) -> None:
        self._waits = waits
        self._lookup = lookup
        self._execution = execution
        self._state = state
        self._blocking = state.blocking
        self._propagation = state.propagation
        self._failures = state.replay_failures

    def begin(self) -> Replay:
        """What runs the commands of one file that has logged them; its MULTI ends with the file."""
        client = Client(0, self._state.events.clock.now_ms)

        def replay(argv: list[bytes]) -> str:
            error = self.replay(client, argv)
            return error.text if error else ""

        return replay

    def replay(self, client: Client, argv: list[bytes]) -> ErrorReply | None:
        """Run a command that was logged: nothing is answered, waited for or logged again.

        Returns the error of one that is unknown or has the wrong number of words, or after which
        no other may be run; see ReplayFailures. *client* stands for the sender; it keeps the
        database and MULTI's queue between the calls.
        """
        found = self._lookup.find(argv, True)
        if isinstance(found, ErrorReply):
            return errors.unknown_in_log(argv[0])
        if not found.accepts(len(argv)):
            return errors.wrong_arity(found.name)
        if not _is_replayed(found, LOG):
            self._failures.failed(found.name, errors.not_replayed(found.name), LOG)
        elif client.flags & IN_MULTI and not found.flags & NOT_QUEUED:
            client.queue.append(found, argv, found.flags)
        else:
            self._execution.replay(client, found, argv)
            self._state.value_packing.pack_some()
        client.out.truncate(0)
        return ErrorReply("ERR", self._failures.ends) if self._failures.ends else None

    def apply(self, client: Client, argv: list[bytes]) -> None:
        """Run what our primary has sent: nothing is answered, and nothing waits.

        *client* stands for it, as in replay(). ReplayFailures are told what is not run, or fails.
        """
        found = self._lookup.find(argv, True)
        if isinstance(found, ErrorReply):
            self._failures.failed(errors.text_of(argv[0]), found, PRIMARY)
            return
        refusal = None
        if not found.accepts(len(argv)):
            refusal = errors.wrong_arity(found.name)
        elif not _is_replayed(found, PRIMARY):
            refusal = errors.not_replayed(found.name)
        if refusal is not None:
            self._failures.failed(found.name, refusal, PRIMARY)
            return
        if client.flags & IN_MULTI and not found.flags & NOT_QUEUED:
            client.queue.append(found, argv, found.flags)
            return
        client.last_command = found
        self._execution.apply(client, found, argv)
        self._execution.count(client, found, argv, False)
        if self._propagation.ops:
            self._propagation.deliver()
        client.out.truncate(0)
        if self._blocking.first_ready is not None:
            self._waits.serve_ready()


def _is_replayed(command: Command, origin: int) -> bool:
    is_change = command.flags & REPLICATED and not command.flags & RUNS_SCRIPTS
    return bool(is_change) or replayed.is_replayed(command, origin)
