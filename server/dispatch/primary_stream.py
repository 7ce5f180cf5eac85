"""The stream of our primary: its commands are run, and its bytes are passed on as they came.

    received --> parser --> Dispatcher.apply, one by one
        `---- once all commands in them have been run --> Feed.pass_on: the history, sub-replicas

Offsets count the primary's bytes. A transaction counts when it has been run as a whole: if the link
breaks in its midst, it comes again.
"""

from __future__ import annotations

import logging

from protocol.replies import ErrorReply
from protocol.requests import RequestParser
from server.client.client import IN_MULTI, Client
from server.dispatch.dispatcher import Dispatcher
from server.replication.feed import Feed
from server.table import errors

COMPLAINTS = 20  # that are logged of one link: a log must not fill the disk

COMPLAINT = (
    "== CRITICAL == This replica is sending an error to its master: '%s' after processing the"
    " command '%s'"
)

_log = logging.getLogger("penstock")


class BrokenStreamError(Exception):
    """The stream cannot be followed any further; the message is for the log."""


class PrimaryStream:
    """Runs what comes. *client* stands for the primary: its database, and MULTI's queue."""

    __slots__ = ("_complaints", "_dispatcher", "_feed", "_parser", "_pending", "_size", "client")

    def __init__(self, dispatcher: Dispatcher, client: Client) -> None:
        self.client = client
        self._dispatcher = dispatcher
        self._feed: Feed = dispatcher.state.replication.feed
        self._parser = RequestParser()
        self._parser.authenticated = True
        self._pending: list[bytes] = []  # has come, and is not passed on yet
        self._size = 0  # bytes of these
        self._complaints = 0

    def set_limits(self, most_bulk: int, most_buffered: int) -> None:
        """Bound one word, and one command: they defend this server against its primary."""
        self._parser.max_bulk = most_bulk
        self._parser.max_buffered = most_buffered

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
        if self._parser.overfull(self.client.queue.size() if self.client.flags & IN_MULTI else 0):
            raise BrokenStreamError("a command, or a transaction, of the primary is too long")

    def _pass_on(self, done: int) -> None:
        whole = self._pending[0] if len(self._pending) == 1 else b"".join(self._pending)
        rest = whole[done:]
        self._feed.pass_on(whole if not rest else whole[:done])
        self._pending = [rest] if rest else []
        self._size = len(rest)

    def _run(self, argv: list[bytes]) -> None:
        error = self._dispatcher.apply(self.client, argv)
        if error is None:
            return
        self._dispatcher.state.stats.unexpected_errors += 1
        name = errors.text_of(argv[0])
        if name.lower() == "select":
            raise BrokenStreamError(f"the primary uses a database that is not here: {error.text}")
        if error is errors.NO_MEMORY or error is errors.INTERNAL:
            raise BrokenStreamError(f"a {name} of the primary could not be run")
        self._complain(name, error)

    def _complain(self, name: str, error: ErrorReply) -> None:
        """The data may differ from the primary's now, and it is nothing that can be mended."""
        self._complaints += 1
        if self._complaints <= COMPLAINTS:
            text = error.text.encode("ascii", "backslashreplace").decode()
            _log.warning(COMPLAINT, text, name)
