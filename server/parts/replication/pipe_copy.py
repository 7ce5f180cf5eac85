"""A full copy without a file: the child writes it into a pipe, and the server passes it on."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
from collections.abc import Callable

from server.parts.persistence.child import Outcome
from server.parts.persistence.child_job import Report
from server.parts.persistence.snapshot_file import Pieces
from server.parts.replication.replica import Replica
from server.parts.replication.ties import Pipes

PIPE_BYTES = 1024 * 1024  # as far as the system lets a pipe hold so much
PORTION = 256 * 1024  # bytes that are read at once
AHEAD = 1024 * 1024  # bytes of a copy that may wait for a socket: bounds memory
MARK_BYTES = 40

_log = logging.getLogger("penstock")


class PipeCopy:
    """A copy that goes from the child's pipe straight to the sockets.

    *on_read* is told that all has been read: the child closes its end of the pipe when it exits.
    """

    def __init__(
        self,
        receivers: list[Replica],
        pipes: Pipes,
        on_read: Callable[[], None],
    ) -> None:
        self._receivers = list(receivers)
        self._pipes = pipes
        self._on_read = on_read
        self._mark = os.urandom(MARK_BYTES // 2).hex().encode()
        self._pipe, self._end = os.pipe()
        self._is_watched = False
        self._has_ended = False  # the child has written all
        self._outcome: Outcome | None = None
        with contextlib.suppress(OSError, AttributeError):
            fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def kept(self) -> tuple[int, ...]:
        """The descriptors that the child needs."""
        return (self._end,)

    def write_snapshot(self, pieces: Pieces, report: Report) -> None:
        """In the child: write the snapshot into the pipe."""
        for piece in pieces:
            view = memoryview(piece)
            while view:
                view = view[os.write(self._end, view) :]
            report(pieces.keys_written)

    def begin(self) -> None:
        """The child has been forked."""
        os.close(self._end)
        self._end = -1
        os.set_blocking(self._pipe, False)
        for replica in self._receivers:
            replica.sending = self
            replica.write(b"$EOF:" + self._mark + b"\r\n")
        self.resume()

    def resume(self) -> None:
        """Read while all sockets keep up."""
        is_due = not self._has_ended and all(
            replica.client.endpoint.unsent() < AHEAD for replica in self._receivers
        )
        if is_due != self._is_watched and self._pipe >= 0:
            self._is_watched = is_due
            if is_due:
                self._pipes.add_reader(self._pipe, self._read)
            else:
                self._pipes.remove_reader(self._pipe)

    def _read(self) -> None:
        try:
            data = os.read(self._pipe, PORTION)
        except BlockingIOError:
            return
        except OSError as error:  # how the child ends says what that means
            _log.warning("A copy cannot be read: %s", error)
            data = b""
        if not data:
            self._has_ended = True
        for replica in list(self._receivers):
            if data:
                replica.write(data)
        self.resume()
        if self._has_ended:
            self._on_read()
            self._finish()

    def left(self, replica: Replica) -> bool:
        """*replica* has gone; whether no other gets the copy."""
        if replica not in self._receivers:
            return False
        self._receivers.remove(replica)
        self.resume()
        return not self._receivers

    def child_ended(self, outcome: Outcome) -> None:
        """The child's work is done, or has failed."""
        self._outcome = outcome
        if not outcome.ok:
            for replica in list(self._receivers):
                replica.client.endpoint.disconnect()
            self._receivers = []
            self.close()
        self._finish()

    def _finish(self) -> None:
        """When all has been read, and the child has said that it was all."""
        if self._outcome is None or not self._has_ended or self._pipe < 0:
            return
        self.close()
        for replica in self._receivers:
            replica.sending = None
            if replica.client.replica is replica:  # else it has left since the child ended
                replica.write(self._mark)
                replica.copied(waits_for_ack=True)

    def close(self) -> None:
        """Close the pipe."""
        if self._is_watched:
            self._is_watched = False
            self._pipes.remove_reader(self._pipe)
        for fd in (self._pipe, self._end):
            if fd >= 0:
                os.close(fd)
        self._pipe = self._end = -1
