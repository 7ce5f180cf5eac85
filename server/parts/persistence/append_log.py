"""Writing the append-only file: operations in order, and how many of them are on the disk.

    add_all(ops)   encodes them into a buffer in memory             offset grows
    write()        one write(2) at the end of a turn of the loop
    fsync          in write() with ``always``, in a thread once     synced_offset follows
                   a second with ``everysec``

Bytes reach the kernel before the answers to them leave, whatever fsync is under way: a process
that is killed loses nothing that it has answered. (Redis holds writes back for up to two seconds
while an fsync runs. ext4 makes a write wait for it a few milliseconds at most; where a file system
makes it wait longer, the server waits.)

A line with their checksum follows the bytes of each write, in the same write (log_sums.py);
what a long turn has added gets one each SEAM bytes, between two units.

An operation is a command in RESP. SELECT is written before the first operation on another database,
and MULTI and EXEC around operations that belong together, with SELECT inside.

When the disk fails:
  - A write that failed, or was short, is truncated away. Its bytes stay in memory, and the next
    write tries them again, at the latest that of tick().
  - An fsync that failed is never tried again, since the kernel may have dropped the pages by then.
    The AOF is *broken* until a rewrite that began later has put all data into a base.
  - With ``always``, write() returns False until everything is on the disk. Until then no command is
    acknowledged, and no reply shows what was written. Redis ends its process in this case.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Protocol

from protocol.encoder import Encoder
from server.config.parameters import Config
from server.observe.latency_events import LatencyEvents
from server.parts.persistence import log_sums
from server.parts.persistence.files import Files
from server.parts.persistence.log_commands import annotation
from server.parts.propagation.propagation import Durability, Op
from storage.rdb import raw

SYNC_EVERY_S = 1.0
SLOW_S = 2.0  # an fsync with writes during so long a time is reported
COMPLAIN_EVERY_S = 30.0
SEAM = 1 << 20  # bytes
LINE, BEGINS, FOLLOWS = log_sums.LINE, log_sums.BEGINS, log_sums.FOLLOWS

MULTI = b"*1\r\n$5\r\nMULTI\r\n"
EXEC = b"*1\r\n$4\r\nEXEC\r\n"

_log = logging.getLogger("penstock")


class SyncListener(Protocol):
    """Is told when the AOF is on the disk, in the thread that has synced."""

    def log_synced(self) -> None:
        """More of the AOF is safe, or the AOF is off."""


class NoListener:
    """Nobody waits for an fsync."""

    def log_synced(self) -> None:
        """Nothing to do."""


class AppendLog(Durability):
    """Writes one file after the other; all offsets are bytes since the server began.

    *threads* runs the fsyncs of everysec, one at a time. *busy* tells whether a child is writing,
    for no-appendfsync-on-rewrite.
    """

    def __init__(
        self,
        config: Config,
        files: Files,
        threads: Executor,
        monotonic_s: Callable[[], float],
        unix_s: Callable[[], int],
        busy: Callable[[], bool],
        latency_events: LatencyEvents,
    ) -> None:
        Durability.__init__(self)  # tentative: the file has no base yet
        self.broken = False
        self.file_size = 0  # of the file that is written to, up to the last whole write
        self.delayed_syncs = 0
        self.syncs = 0  # that have succeeded
        self.syncs_s = self.last_sync_s = 0.0  # what they took together, and the last one
        self.listener: SyncListener = NoListener()
        self._latency_events = latency_events
        self._config = config
        self._files = files
        self._threads = threads
        self._monotonic_s = monotonic_s
        self._unix_s = unix_s
        self._busy = busy
        self._fd = -1
        self._db = -1  # the database that a reader of the file has selected by now
        self._stamp = 0  # the last timestamp written to the file, unix time
        self._out = Encoder(2)
        self._whole = 0  # bytes of _out that are complete operations
        self._seams: list[int] = []  # offsets in _out, between units, where sums are to stand ...
        self._seam = 0  # ... and the last of them
        self._follows = False  # whether a sum ends where the next bytes are written
        self._unwritten = b""  # the bytes of writes that failed
        self._sync: Future[None] | None = None
        self._sync_took_s = 0.0  # the last one in the background
        self._sync_to = 0  # the offset that the fsync under way will have made safe
        self._synced_to = 0  # what synced_offset is, or will be when the file is not tentative
        self._file_from = 0  # the offset at which the file begins
        self._based_to = 0  # the offset up to which a base contains everything
        self._lost_to = 0  # the offset up to which something may be lost, if the AOF is broken
        self._synced_s = monotonic_s()
        self._beside_sync_s = -1.0  # since when the fsync under way had writes beside it
        self._complained_s = -COMPLAIN_EVERY_S

    # ------------------------------------------------------------------ what Propagation asks of it

    def add_all(self, ops: list[Op]) -> None:
        """Add *ops* as one unit: all of them, or none if it raises MemoryError."""
        before = self._whole
        if self._out.size() != before:
            self._drop_partial()
        if self._config.aof_timestamp_enabled:
            now_s = self._unix_s()
            if now_s > self._stamp:
                self._stamp = now_s
                self._out.raw(annotation(now_s))
        if len(ops) == 1:
            self._add(ops[0])
        else:
            self._out.raw(MULTI)
            for op in ops:
                self._add(op)
            self._out.raw(EXEC)
        self._whole = self._out.size()
        self.offset += self._whole - before
        if self._whole - self._seam >= SEAM:
            self._seam = self._whole
            self._seams.append(self._whole)

    def write(self) -> bool:
        """Write what was added; with ``always``, fsync it too.

        Returns False if replies must wait for the disk and not everything is on it. Errors of the
        disk are kept in *error* and never raised.
        """
        always = self._config.appendfsync == "always"
        if self._fd < 0:  # closed: the server ends
            return not always or self._synced_to == self.offset
        self._take_sync(always)
        if self._out.size() or self._unwritten:
            self._watch_sync()
            if self._config.switches.flush_sleep_s:
                time.sleep(self._config.switches.flush_sleep_s)
            if self._latency_events.threshold_ms:
                self._write_timed()
            else:
                self._write_out()
        if always:
            return self._sync_now(False)
        self._sync_if_due()
        return True

    # ------------------------------------------------------------------ files

    def open(self, fd: int, size: int, tentative: bool = False) -> None:
        """Begin to write to the file *fd*, which has *size* bytes."""
        self.broken = False
        self.error = ""
        self.tentative = tentative
        self._use_file(fd, size)

    def move_to(self, fd: int, tentative: bool = False) -> None:
        """Continue in the empty file *fd*; the old file is closed in the background.

        Everything must be in the old file, and on the disk: if a power cut tore that file and left
        bytes in this one, the two together would be no valid log. The exception is a *tentative*
        new file: the base that it waits for will contain what was added so far.
        """
        assert tentative or (not self.pending and self._synced_to == self.offset)
        self._forget_pending()
        self.tentative = tentative
        old = self._fd
        self._use_file(fd, 0)
        self._threads.submit(self._close, old)

    def base_written(self, to: int) -> None:
        """A base on the disk has everything up to the offset *to*: earlier losses do not matter."""
        self.tentative = False
        self._based_to = to
        if self.broken and self._lost_to <= to:
            self.broken = False
            self.error = ""
        self._mark_synced(max(to, self._synced_to))
        self.listener.log_synced()

    def flush(self) -> bool:
        """Write everything that was added; False if some of it is still pending."""
        self._write_out()
        return not self.pending

    def write_and_sync(self) -> bool:
        """Write and fsync everything that was added; False if that failed."""
        self._write_out()
        return bool(self._sync_now(True)) and not self.pending

    def close(self) -> None:
        """Write and fsync as much as possible, close the file, and drop the rest."""
        self.write_and_sync()
        self._close(self._fd)
        self._fd = -1
        self._forget_pending()

    def _close(self, fd: int) -> None:
        try:
            self._files.close(fd)
        except OSError as error:
            _log.warning("cannot close the AOF: %s", error.strerror)

    def _forget_pending(self) -> None:
        """Drop what has not been written, and the failure to write it."""
        self._out.clear()
        self._forget_units()
        self._unwritten = b""
        if not self.broken:
            self.error = ""

    def _drop_partial(self) -> None:
        """An exception has interrupted add_all(): remove what it had added."""
        self._out.truncate(self._whole)
        self._db = -1

    def _use_file(self, fd: int, size: int) -> None:
        self._fd = fd
        self.file_size = size
        self._follows = False
        self._db = -1
        self._file_from = self.offset
        self._synced_s = self._monotonic_s()

    @property
    def pending(self) -> int:
        """Bytes that have been added, and not been written."""
        return len(self._out) + len(self._unwritten)

    @property
    def is_syncing(self) -> bool:
        """Whether an fsync is under way in the background."""
        return self._sync is not None

    # ------------------------------------------------------------------ adding

    def _add(self, op: Op) -> None:
        db, argv = op
        out = self._out
        if db != self._db:
            self._db = db
            out.write([b"SELECT", b"%d" % db])
        out.array(len(argv))
        for word in argv:
            out.bulk(word)

    # ------------------------------------------------------------------ writing

    def _watch_sync(self) -> None:
        """Report a slow fsync, each time that there were writes during SLOW_S of it."""
        if self._sync is None:
            self._beside_sync_s = -1.0
            return
        now_s = self._monotonic_s()
        if self._beside_sync_s < 0:
            self._beside_sync_s = now_s
        if now_s - self._beside_sync_s < SLOW_S:
            return
        self._beside_sync_s = -1.0
        self.delayed_syncs += 1
        _log.warning(
            "Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF buffer"
            " without waiting for fsync to complete, this may slow down Penstock."
        )

    def _write_timed(self) -> None:
        """Write the buffer, and tell how long that took, under the names that Redis has for it."""
        kind = b"aof-write-alone"
        if self._sync is not None:
            kind = b"aof-write-pending-fsync"
        elif self._busy():
            kind = b"aof-write-active-child"
        started_s = self._monotonic_s()
        self._write_out()
        took_s = self._monotonic_s() - started_s
        self._took(kind, took_s)
        self._took(b"aof-write", took_s)

    def _took(self, event: bytes, seconds: float) -> None:
        self._latency_events.add_if_long(event, int(seconds * 1e9), self._unix_s())

    def _write_out(self) -> None:
        """Write the buffer, and before it what earlier writes could not write."""
        while self._out.size() or self._unwritten:
            if not self._unwritten:
                if self._out.size() != self._whole:
                    self._drop_partial()
                    continue
                self._take_out()
            if not self._write_unwritten():
                return

    def _take_out(self) -> None:
        """Let all that was added be what is to be written, with its sums."""
        out = self._out
        follows = self._follows
        self._follows = False  # until the sums are there
        sums = self._config.aof_checksums
        if sums:
            out.reserve(LINE)
            if not self._seams and not out.in_pieces():
                self._add_sum(FOLLOWS if follows else BEGINS)
                sums = False
        self._unwritten = out.take()
        if sums:
            self._sum_up(follows)
        self._forget_units()

    def _add_sum(self, mark: int) -> None:
        """Add the sum of all that is in the buffer, which has room for it."""
        out = self._out
        out.end = log_sums.put_line(
            out.buffer, out.end, raw.of_bytearray(out.buffer), 0, out.end, self.file_size, mark
        )
        self.offset += LINE
        self._follows = True

    def _sum_up(self, follows: bool) -> None:
        """Put sums into what is to be written, at its end and at the seams."""
        data = self._unwritten
        pieces: list[bytes] = []
        at, start = self.file_size, 0
        for end in [*self._seams, len(data)]:
            piece = data[start:end]
            line = log_sums.line_for(piece, at, follows)
            pieces += [piece, line]
            at += len(piece) + len(line)
            follows = bool(line) or (follows and not piece)
            start = end
        self._unwritten = b"".join(pieces)
        self.offset += len(self._unwritten) - len(data)
        self._follows = follows

    def _forget_units(self) -> None:
        """Nothing is in the buffer any more."""
        self._whole = self._seam = 0
        self._seams.clear()

    def _write_unwritten(self) -> bool:
        """Try again what earlier writes could not write; False if some of it is left."""
        data = self._unwritten
        try:
            taken = self._files.write(self._fd, data)
        except OSError as error:
            self._failed(error.strerror or str(error))
            return False
        if taken != len(data):
            self._failed("No space left on device")
            self._cut_off(taken)
            return False
        self._unwritten = b""
        self.file_size += taken
        if self.error and not self.broken:
            _log.warning("AOF write error looks solved. The server can write again.")
            self.error = ""
        return True

    def _cut_off(self, taken: int) -> None:
        """The file ends inside a command: truncate it, or else keep the rest to be written."""
        try:
            self._files.truncate(self._fd, self.file_size)
        except OSError as error:
            _log.warning("cannot take a short write off the AOF again: %s", error.strerror)
            self._unwritten = self._unwritten[taken:]
            self.file_size += taken

    def _failed(self, reason: str) -> None:
        self.error = reason
        now_s = self._monotonic_s()
        if now_s - self._complained_s >= COMPLAIN_EVERY_S:
            self._complained_s = now_s
            _log.error("Error writing to the AOF file: %s", reason)

    # ------------------------------------------------------------------ syncing

    def _sync_now(self, whatever: bool) -> bool:
        """Fsync in this thread; *whatever* no-appendfsync-on-rewrite says. False if it fails."""
        self._take_sync(True)
        if self.broken or self.error:
            return False
        if self._synced_to == self.offset or (not whatever and self._sync_is_suppressed()):
            return True
        is_timed = self._latency_events.threshold_ms > 0
        started_s = self._monotonic_s()
        try:
            self._files.sync(self._fd)
        except OSError as error:
            self._sync_failed(error, self.offset)
            return False
        self._mark_synced(self.offset)
        self._synced_s = self._monotonic_s()
        self._count_sync(self._synced_s - started_s)
        if is_timed:
            self._took(b"aof-fsync-always", self._synced_s - started_s)
        return True

    def _sync_is_suppressed(self) -> bool:
        """Whether no-appendfsync-on-rewrite forbids an fsync because a child is writing."""
        return self._config.no_appendfsync_on_rewrite and self._busy()

    def _sync_if_due(self) -> None:
        """With ``everysec``, begin an fsync in the background once a second."""
        if (
            self._config.appendfsync == "everysec"
            and self._sync is None
            and not self.broken
            and self._synced_to < self.offset - self.pending
            and self._monotonic_s() - self._synced_s >= SYNC_EVERY_S
            and not self._sync_is_suppressed()
        ):
            self._sync_to = self.offset - self.pending
            self._synced_s = self._monotonic_s()
            self._sync = self._threads.submit(self._files.sync, self._fd)
            self._sync.add_done_callback(self._tell)

    def _tell(self, _done: Future[None]) -> None:
        self._sync_took_s = self._monotonic_s() - self._synced_s
        self.listener.log_synced()

    def _take_sync(self, waits: bool) -> None:
        """Note the result of the fsync in the background if it has ended; *waits* until it has."""
        if self._sync is None or not (waits or self._sync.done()):
            return
        failure = self._sync.exception()
        self._sync = None
        if failure is None:
            self._mark_synced(max(self._synced_to, self._sync_to))
            self._count_sync(self._sync_took_s)
        else:  # any of the file may be lost; of a file that was left, up to its end
            self._sync_failed(
                failure, self.offset if self._sync_to > self._file_from else self._sync_to
            )

    def _count_sync(self, took_s: float) -> None:
        """An fsync has succeeded."""
        self.syncs += 1
        self.syncs_s += took_s
        self.last_sync_s = took_s

    def _mark_synced(self, to: int) -> None:
        """What was added up to the offset *to* is on the disk."""
        self._synced_to = to
        if not self.tentative:
            self.synced_offset = to

    def _sync_failed(self, failure: BaseException, to: int) -> None:
        """Something may be lost before the offset *to*."""
        if to <= self._based_to:
            return
        self.broken = True
        self._lost_to = max(self._lost_to, to)
        self._failed(f"fsync: {getattr(failure, 'strerror', None) or failure}")
