"""Full copies: one forked child writes a snapshot for all replicas that wait for one.

    diskless    child --pipe--> server --> each socket     $EOF:<mark> snapshot <mark>
    by file     child --> temp-<pid>.rdb --> each socket   $<length> snapshot

What changes behind the fork is held for each of them until it has the copy. A replica that cannot
read the first form gets the second.

Without a file, all receive at the same time, as fast as the slowest. So the fork waits for
repl-diskless-sync-delay seconds: others may come.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import time
from collections.abc import Callable, Sequence

from server.config.parameters import Config
from server.persistence.child import ChildBusy, ChildSlot, Outcome
from server.persistence.child_job import Report
from server.persistence.files import Files
from server.persistence.snapshot_file import (
    Pieces,
    remove_quietly,
    slowed,
    snapshot_of,
    temporary_path,
    write_snapshot,
)
from server.persistence.stored_functions import StoredFunctions
from server.replication.feed import Feed
from server.replication.replica import Replica, Stage
from storage.keyspace.keyspace import Keyspace

PURPOSE = "replication"  # what the child is for
PIPE_BYTES = 1024 * 1024  # as far as the system lets a pipe hold so much
PORTION = 256 * 1024  # bytes that are read at once
AHEAD = 1024 * 1024  # bytes of a copy that may wait for a socket: bounds memory
RETRY_AFTER_MS = 1000  # a fork that failed is tried again
MARK_BYTES = 40

_log = logging.getLogger("penstock")

Watch = Callable[[int, Callable[[], None]], None]


class Copies:
    """Makes copies for the replicas of *feed*. *watch* has a call made when a pipe has something.

    Times are monotonic ms.
    """

    def __init__(
        self,
        config: Config,
        databases: Sequence[Keyspace],
        children: ChildSlot,
        functions: StoredFunctions,
        feed: Feed,
        watch: Watch,
        unwatch: Callable[[int], None],
    ) -> None:
        self._config = config
        self._databases = databases
        self._children = children
        self._functions = functions
        self._feed = feed
        self._watch = watch
        self._unwatch = unwatch
        self._copy: PipeCopy | FileCopy | None = None
        self._sending: list[FileSending] = []
        self._since_ms = 0  # when the first one has begun to wait
        self._not_before_ms = 0

    @property
    def waiting(self) -> list[Replica]:
        return [replica for replica in self._feed.replicas if replica.stage is Stage.WAITING]

    def request(self, replica: Replica, now_ms: int) -> None:
        """*replica* needs a copy."""
        if not self.waiting:
            self._since_ms = now_ms
        replica.stage = Stage.WAITING
        self.tick(now_ms)

    def left(self, replica: Replica) -> None:
        """Its connection is closed. A child that works for nobody is ended."""
        self._sending = [one for one in self._sending if not one.is_to(replica)]
        if self._copy is not None and self._copy.left(replica):
            _log.info("Nobody waits for the copy any more: its child is ended")
            self._children.kill()

    def tick(self, now_ms: int) -> None:
        """Begin a copy if one is due. Called by cron."""
        waiting = self.waiting
        if not waiting or self._children.child is not None or now_ms < self._not_before_ms:
            return
        needs_file = not self._config.repl_diskless_sync
        if needs_file or not all(replica.knows_eof for replica in waiting):
            by_file = [replica for replica in waiting if needs_file or not replica.knows_eof]
            self._begin(by_file, FileCopy(by_file, self._file_is_written), now_ms)
        elif self._is_time(len(waiting), now_ms):
            copy = PipeCopy(waiting, self._watch, self._unwatch, self._await_child)
            self._begin(waiting, copy, now_ms)

    def _is_time(self, waiting: int, now_ms: int) -> bool:
        enough = self._config.repl_diskless_sync_max_replicas
        delay_ms = self._config.repl_diskless_sync_delay * 1000
        return bool(enough and waiting >= enough) or now_ms - self._since_ms >= delay_ms

    def close(self) -> None:
        """The server ends."""
        if self._children.runs(PURPOSE):
            self._children.kill()

    # ------------------------------------------------------------------ the child

    def _begin(self, replicas: list[Replica], copy: PipeCopy | FileCopy, now_ms: int) -> None:
        self._feed.send()  # what is not sent yet is part of the copy
        only_functions = all(replica.wants_functions_only for replica in replicas)
        databases: Sequence[Keyspace] = () if only_functions else self._databases
        snapshot = snapshot_of(
            databases, self._config, int(time.time()), False, self._functions.sources()
        )
        delay_us = self._config.rdb_key_save_delay

        def write(report: Report) -> None:
            copy.write(snapshot, slowed(report, delay_us))

        total = sum(map(len, databases))
        try:
            self._children.start(PURPOSE, total, write, self._child_ended, copy.kept())
        except (OSError, ChildBusy) as error:
            copy.close()
            self._not_before_ms = now_ms + RETRY_AFTER_MS
            _log.warning("Can't save in background: fork: %s", error)
            return
        self._copy = copy
        self._feed.select_anew()
        offset = self._feed.history.offset
        for replica in replicas:
            replica.stage = Stage.COPYING
            replica.acked_ms = now_ms
            replica.asks_since = offset
            if not replica.is_plain:
                replica.write(b"+FULLRESYNC %b %d\r\n" % (self._feed.history.id.encode(), offset))
        copy.begin()
        _log.info("Background copy for %d replicas started", len(replicas))

    def _await_child(self) -> None:
        """The child has closed its end of the pipe, which it does when it exits."""
        self._children.poll(wait=True)

    def _child_ended(self, outcome: Outcome) -> None:
        copy, self._copy = self._copy, None
        if copy is None:
            return
        if not outcome.ok:
            _log.warning("The copy for replicas failed: %s", outcome.error)
        copy.child_ended(outcome)

    def _file_is_written(self, fd: int, size: int, receivers: list[Replica]) -> None:
        self._sending += [FileSending(os.dup(fd), size, replica) for replica in receivers]
        os.close(fd)
        for one in self._sending[-len(receivers) :]:
            one.begin()


class PipeCopy:
    """A copy that goes from the child's pipe straight to the sockets.

    *on_read* is told that all has been read.
    """

    def __init__(
        self,
        receivers: list[Replica],
        watch: Watch,
        unwatch: Callable[[int], None],
        on_read: Callable[[], None],
    ) -> None:
        self._receivers = list(receivers)
        self._watch = watch
        self._unwatch = unwatch
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

    def write(self, pieces: Pieces, report: Report) -> None:
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
            replica.on_room = self._go_on
            replica.write(b"$EOF:" + self._mark + b"\r\n")
        self._go_on()

    def _go_on(self) -> None:
        """Read while all sockets keep up."""
        is_due = not self._has_ended and all(
            replica.client.endpoint.unsent() < AHEAD for replica in self._receivers
        )
        if is_due != self._is_watched and self._pipe >= 0:
            self._is_watched = is_due
            if is_due:
                self._watch(self._pipe, self._read)
            else:
                self._unwatch(self._pipe)

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
        self._go_on()
        if self._has_ended:
            self._on_read()
            self._finish()

    def left(self, replica: Replica) -> bool:
        """*replica* has gone; whether nobody is left."""
        if replica not in self._receivers:
            return False
        self._receivers.remove(replica)
        self._go_on()
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
            replica.on_room = None
            if replica.client.replica is replica:  # else it has left since the child ended
                replica.write(self._mark)
                end(replica, waits_for_ack=True)

    def close(self) -> None:
        """Close the pipe."""
        if self._is_watched:
            self._is_watched = False
            self._unwatch(self._pipe)
        for fd in (self._pipe, self._end):
            if fd >= 0:
                os.close(fd)
        self._pipe = self._end = -1


class FileCopy:
    """A copy that the child writes to a file first; *on_written* is given the file and its size."""

    def __init__(
        self, receivers: list[Replica], on_written: Callable[[int, int, list[Replica]], None]
    ) -> None:
        self._receivers = list(receivers)
        self._on_written = on_written
        self._files = Files()

    def kept(self) -> tuple[int, ...]:
        return ()

    def write(self, pieces: Pieces, report: Report) -> None:
        """In the child: write the snapshot to its temporary file."""
        write_snapshot(self._files, temporary_path(os.getpid()), pieces, report, True)

    def begin(self) -> None:
        """Nothing is to be done until the file is written."""

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
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            _log.warning("No copy for replicas: %s", error)
            for replica in list(self._receivers):
                replica.client.endpoint.disconnect()
            return
        finally:
            remove_quietly(self._files, path)
        self._on_written(fd, os.fstat(fd).st_size, list(self._receivers))

    def close(self) -> None:
        """There is nothing to close."""


class FileSending:
    """Sends a file to one replica, as fast as it takes it."""

    def __init__(self, fd: int, size: int, replica: Replica) -> None:
        self._fd = fd
        self._size = size
        self._sent = 0
        self._replica = replica

    def is_to(self, replica: Replica) -> bool:
        """Whether it is to *replica*, which has gone: then the file is closed."""
        if replica is self._replica and self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        return replica is self._replica

    def begin(self) -> None:
        self._replica.on_room = self._go_on
        self._replica.write(b"$%d\r\n" % self._size)
        self._go_on()

    def _go_on(self) -> None:
        """Send portions until the socket is full. It calls again when it has room."""
        replica = self._replica
        while self._fd >= 0 and self._sent < self._size:
            if replica.client.endpoint.unsent():
                return
            data = os.pread(self._fd, PORTION, self._sent)
            if not data:
                raise OSError("the file of a copy has become shorter")
            self._sent += len(data)
            replica.write(data)
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            replica.on_room = None
            end(replica, waits_for_ack=False)


def end(replica: Replica, waits_for_ack: bool) -> None:
    """The whole copy has been handed to the socket of *replica*."""
    if replica.wants_copy_only:
        replica.client.close_after_reply = True
        replica.client.endpoint.flush()
        return
    _log.info("Synchronization with replica %s succeeded", replica.client.address)
    if waits_for_ack:
        replica.stage = Stage.ONLINE
        replica.waits_for_ack = True
    else:
        replica.go_online()
