"""A full copy by file: the child writes it, and each replica is sent it as fast as it takes it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

from server.parts.persistence.child import Outcome
from server.parts.persistence.child_job import Report
from server.parts.persistence.files import Files, remove_quietly
from server.parts.persistence.snapshot_file import Pieces, temporary_path, write_snapshot
from server.parts.replication.replica import Replica

PORTION = 256 * 1024  # bytes that are read at once

_log = logging.getLogger("penstock")


class FileCopy:
    """A copy that the child writes to a file first; *on_written* is given the file and its size."""

    def __init__(
        self,
        files: Files,
        receivers: list[Replica],
        on_written: Callable[[int, int, list[Replica]], None],
    ) -> None:
        self._receivers = list(receivers)
        self._on_written = on_written
        self._files = files

    def kept(self) -> tuple[int, ...]:
        return ()

    def write_snapshot(self, pieces: Pieces, report: Report) -> None:
        """In the child: write the snapshot to its temporary file."""
        write_snapshot(self._files, temporary_path(os.getpid()), pieces, report, True)

    def begin(self) -> None:
        """Nothing to do until the file is written."""

    def left(self, replica: Replica) -> bool:
        if replica not in self._receivers:
            return False
        self._receivers.remove(replica)
        return not self._receivers

    def child_ended(self, outcome: Outcome) -> None:
        path = temporary_path(outcome.pid)
        try:
            if not outcome.ok:
                raise OSError(outcome.error)
            fd = self._files.open_to_read(path)
        except OSError as error:
            _log.warning("No copy for replicas: %s", error)
            for replica in list(self._receivers):
                replica.client.endpoint.disconnect()
            return
        finally:
            remove_quietly(self._files, path)
        self._on_written(fd, self._files.length(fd), list(self._receivers))

    def close(self) -> None:
        """There is nothing to close."""


class FileSending:
    """Sends a file to one replica, as fast as it takes it."""

    def __init__(self, files: Files, fd: int, size: int, replica: Replica) -> None:
        self._files = files
        self._fd = fd
        self._size = size
        self._sent = 0
        self._replica = replica

    def is_to(self, replica: Replica) -> bool:
        """Whether it is to *replica*, which has gone: then the file is closed."""
        if replica is self._replica and self._fd >= 0:
            self._files.close(self._fd)
            self._fd = -1
        return replica is self._replica

    def begin(self) -> None:
        self._replica.sending = self
        self._replica.write(b"$%d\r\n" % self._size)
        self.resume()

    def resume(self) -> None:
        """Send portions until the socket is full. It calls again when it has room."""
        replica = self._replica
        while self._fd >= 0 and self._sent < self._size:
            if replica.client.endpoint.unsent():
                return
            data = self._files.read_at(self._fd, PORTION, self._sent)
            if not data:
                raise OSError("the file of a copy has become shorter")
            self._sent += len(data)
            replica.write(data)
        if self._fd >= 0:
            self._files.close(self._fd)
            self._fd = -1
            replica.sending = None
            replica.copied(waits_for_ack=False)
