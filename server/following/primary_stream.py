"""The stream of our primary: its commands are run, and its bytes are passed on as they came.

    received --> parser --> Dispatcher.apply, one by one
        `---- once all commands in them have been run --> Feed.pass_on: the history, sub-replicas

Offsets count the primary's bytes. A transaction counts when it has been run as a whole: if the link
breaks before its end, it comes again.
"""

from __future__ import annotations

from protocol.requests import RequestParser
from server.client.client import IN_MULTI, Client
from server.dispatch.dispatcher import Dispatcher
from server.parts.replication.feed import Feed
from server.process.faults import ServerFault
from server.table.args import INT64_MAX


class BrokenStreamError(Exception):
    """The stream cannot be followed any further; the message is for the server log."""


class PrimaryStream:
    """Runs what comes. *client* stands for the primary: its database, and MULTI's queue.

    No parameter bounds a word or a command of it: the primary has taken it, and has run it.
    """

    __slots__ = ("_dispatcher", "_failures", "_feed", "_parser", "_pending", "_size", "client")

    def __init__(self, dispatcher: Dispatcher, client: Client) -> None:
        self.client = client
        self._dispatcher = dispatcher
        self._feed: Feed = dispatcher.state.replication.feed
        self._parser = RequestParser()
        self._parser.authenticated = True
        self._parser.max_bulk = self._parser.max_buffered = INT64_MAX
        self._pending: list[bytes] = []  # has come, and is not passed on yet
        self._size = 0  # bytes of these
        self._failures = dispatcher.state.replay_failures
        self._failures.begin()

    def take(self, data: bytes) -> None:
        """Run what is whole by now. Raises BrokenStreamError and ProtocolError."""
        self._pending.append(data)
        self._size += len(data)
        self._parser.feed(data)
        done = 0  # bytes of _pending that have been run, but for a transaction that is open
        try:
            argv = self._parser.take()
            while argv is not None:
                self._run(argv)
                if not self.client.flags & IN_MULTI:
                    done = self._size - self._parser.buffered()
                argv = self._parser.take()
        finally:  # what has been run must not come again, whatever ends the link
            if done:
                self._pass_on(done)

    def _pass_on(self, done: int) -> None:
        whole = self._pending[0] if len(self._pending) == 1 else b"".join(self._pending)
        rest = whole[done:]
        self._feed.pass_on(whole if not rest else whole[:done])
        self._pending = [rest] if rest else []
        self._size = len(rest)
        self._dispatcher.waits.serve_keyless()  # WAITOFFSET

    def _run(self, argv: list[bytes]) -> None:
        was_in_multi = self.client.flags & IN_MULTI
        self._dispatcher.replaying.apply(self.client, argv)
        if not self._failures.ends:
            return
        if self._failures.panics:
            raise ServerFault(
                f"This replica panicked sending an error to its master: {self._failures.ends}"
            )
        if self._failures.unrun and was_in_multi:
            self._dispatcher.state.replication.data_replaced()  # half of it must not come again
        raise BrokenStreamError(f"The primary cannot be followed: {self._failures.ends}")
