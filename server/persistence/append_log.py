"""The append-only file as it is written: what was changed, in order, and how safe it is by now.

    add_all(ops)   encoded behind what is already in memory         offset         grows
    write()        one write(2) at the end of a turn of the loop    written
    sync           fsync: in write() with ``always``, in a thread   synced_offset  follows
                   once a second with ``everysec``

An op is a command as clients send it; SELECT stands before the first of another database, and MULTI
and EXEC around several that belong together.

When the disk refuses
  - a write that failed, or was short, is cut off again, and what it should have written stays in
    memory: the next one tries it again, from tick() at the latest;
  - an fsync that failed is never tried again: what it should have kept may be lost in silence by
    then. The log is *broken* until a rewrite that began later has put all data into a base;
  - with ``always``, write() says False until all is safe, and nothing is acknowledged, nor shown to
    anybody. Redis ends its process there.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future

from protocol.encoder import Encoder
from server.config.parameters import Config
from server.persistence.files import Files
from server.propagation.propagation import Op

SYNC_EVERY_S = 1.0
POSTPONE_S = 2.0  # how long a write waits for a slow fsync; it would be held up by it all the same
COMPLAIN_EVERY_S = 30.0

MULTI = [b"MULTI"]
EXEC = [b"EXEC"]

_log = logging.getLogger("penstock")


class AppendLog:
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
        wall_s: Callable[[], int],
        busy: Callable[[], bool],
    ) -> None:
        self.offset = 0
        self.synced_offset = 0
        self.error = ""  # why the last write failed; "" if it did not
        self.broken = False
        self.tentative = False  # no base stands before the file: nothing in it is safe yet
        self.file_size = 0  # of the file that is written to, up to the last whole write
        self.delayed_syncs = 0
        self.on_synced: Callable[[], None] = _nobody  # called from the thread that has synced
        self._config = config
        self._files = files
        self._threads = threads
        self._monotonic_s = monotonic_s
        self._wall_s = wall_s
        self._busy = busy
        self._fd = -1
        self._db = -1  # that the file's reader has selected
        self._stamp = 0  # the last time that was noted in the file
        self._out = Encoder(2)
        self._whole = 0  # bytes of _out that are whole ops
        self._unwritten = b""  # of writes that failed
        self._sync: Future[None] | None = None
        self._sync_to = 0  # the offset that the fsync under way will have made safe
        self._synced_to = 0  # what synced_offset is, or will be when the file is not tentative
        self._file_from = 0  # the offset at which the file begins
        self._based_to = 0  # the offset up to which the base has everything
        self._lost_to = 0  # the offset up to which something may be lost, if the log is broken
        self._synced_s = monotonic_s()
        self._postponed_s = -1.0
        self._complained_s = -COMPLAIN_EVERY_S

    # ------------------------------------------------------------------ what Propagation asks of it

    def add_all(self, ops: list[Op]) -> None:
        """Take *ops*, which belong together: all of them, or none if it raises MemoryError."""
        before = self._whole
        if len(self._out) != before:
            self._forget_torn()
        if self._config.aof_timestamp_enabled:
            self._note_time()
        if len(ops) == 1:
            self._add(ops[0])
        else:
            self._add((ops[0][0], MULTI))
            for op in ops:
                self._add(op)
            self._add((self._db, EXEC))
        self._whole = len(self._out)
        self.offset += self._whole - before

    def write(self) -> bool:
        """Write what was added; with ``always``, fsync it too.

        False if answers were to wait for it and it is not safe. A disk that fails never makes it
        raise.
        """
        always = self._config.appendfsync == "always"
        if self._fd < 0:  # closed: the server ends
            return not always or self._synced_to == self.offset
        if always:
            self._await_sync()
        else:
            self._take_sync()
        if (len(self._out) or self._unwritten) and not self._must_wait():
            if self._config.switches.flush_sleep_s:
                time.sleep(self._config.switches.flush_sleep_s)
            self._write_out()
        if always:
            return self._sync_now(False)
        if self._sync_is_due():
            self._sync_in_background()
        return True

    # ------------------------------------------------------------------ files

    def open(self, fd: int, size: int, tentative: bool = False) -> None:
        """Begin to write, to the file *fd*, which has *size* bytes."""
        self.broken = False
        self.error = ""
        self.tentative = tentative
        self._go_on_in(fd, size)

    def move_to(self, fd: int, tentative: bool = False) -> None:
        """Go on in the empty file *fd*: the one so far is synced and closed in the background.

        Nothing may be pending, since it is for the reader of the file so far; unless the new one is
        *tentative*: the base that it waits for will have it.
        """
        assert tentative or not self.pending
        self._forget_pending()
        self.tentative = tentative
        old, before = self._fd, self._sync
        self._go_on_in(fd, 0)
        self._sync_to = self.offset
        self._sync = self._threads.submit(self._sync_and_close, old, before)
        self._sync.add_done_callback(self._tell)

    def has_base(self, to: int) -> None:
        """A base has everything up to the offset *to*, on the disk: losses before do not matter."""
        self.tentative = False
        self._based_to = to
        if self.broken and self._lost_to <= to:
            self.broken = False
            self.error = ""
        self._is_safe(max(to, self._synced_to))
        self.on_synced()

    def flush(self) -> bool:
        """Write all there is; False if some of it is still pending."""
        self._write_out()
        return not self.pending

    def make_safe(self) -> bool:
        """Write and sync all there is. False if that was not possible."""
        self._write_out()
        return bool(self._sync_now(True)) and not self.pending

    def close(self) -> None:
        """Write and sync what can be, and let go of the file, and of what it could not take."""
        self.make_safe()
        try:
            self._files.close(self._fd)
        except OSError as error:
            _log.warning("cannot close the AOF: %s", error.strerror)
        self._fd = -1
        self._forget_pending()

    def _forget_pending(self) -> None:
        self._out.clear()
        self._whole = 0
        self._unwritten = b""

    def _forget_torn(self) -> None:
        """An add_all was left in the midst: take off again what it had added."""
        self._out.truncate(self._whole)
        self._db = -1

    def _go_on_in(self, fd: int, size: int) -> None:
        self._fd = fd
        self.file_size = size
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
            self._command([b"SELECT", b"%d" % db])
        out.array(len(argv))
        for word in argv:
            out.bulk(word)

    def _command(self, argv: list[bytes]) -> None:
        self._out.array(len(argv))
        for word in argv:
            self._out.bulk(word)

    def _note_time(self) -> None:
        now_s = self._wall_s()
        if now_s > self._stamp:
            self._stamp = now_s
            self._out.raw(b"#TS:%d\r\n" % now_s)

    # ------------------------------------------------------------------ writing

    def _must_wait(self) -> bool:
        """Whether a slow fsync holds the write up: it may for POSTPONE_S, without stopping us.

        If it is that of the file before, it had better be done: were that one torn in a power cut
        and this one not empty, the two would make no log.
        """
        if self._sync is None:
            self._postponed_s = -1.0
            return False
        now_s = self._monotonic_s()
        if self._postponed_s < 0:
            self._postponed_s = now_s
        if now_s - self._postponed_s < POSTPONE_S:
            return True
        self._postponed_s = -1.0
        self.delayed_syncs += 1
        _log.warning(
            "Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF buffer"
            " without waiting for fsync to complete, this may slow down Penstock."
        )
        return False

    def _write_out(self) -> None:
        """Write what there is: first what could not be written before."""
        while self.pending:
            if not self._unwritten:
                if len(self._out) != self._whole:
                    self._forget_torn()
                self._unwritten = self._out.take()
                self._whole = 0
            if not self._write_unwritten():
                return

    def _write_unwritten(self) -> bool:
        """Try it; False if some of it is left."""
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
        """The file ends in the midst of a command: take that off again, or else keep it."""
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
        """Fsync here and now; *whatever* no-appendfsync-on-rewrite wants. False if that failed."""
        self._await_sync()
        if self.broken or self.error:
            return False
        if self._synced_to == self.offset or (not whatever and self._leaves_sync_to_others()):
            return True
        try:
            self._files.sync(self._fd)
        except OSError as error:
            self._broke(error, self.offset)
            return False
        self._is_safe(self.offset)
        self._synced_s = self._monotonic_s()
        return True

    def _leaves_sync_to_others(self) -> bool:
        """Whether the configuration wants no fsync while a child keeps the disk busy."""
        return self._config.no_appendfsync_on_rewrite and self._busy()

    def _sync_is_due(self) -> bool:
        return (
            self._config.appendfsync == "everysec"
            and self._sync is None
            and not self.broken
            and self._synced_to < self.offset - self.pending
            and self._monotonic_s() - self._synced_s >= SYNC_EVERY_S
            and not self._leaves_sync_to_others()
        )

    def _sync_in_background(self) -> None:
        self._sync_to = self.offset - self.pending
        self._synced_s = self._monotonic_s()
        self._sync = self._threads.submit(self._files.sync, self._fd)
        self._sync.add_done_callback(self._tell)

    def _sync_and_close(self, fd: int, before: Future[None] | None) -> None:
        try:
            self._files.sync(fd)
        finally:
            self._files.close(fd)
        if before is not None:
            before.result()  # it has ended: there is one thread

    def _tell(self, _done: Future[None]) -> None:
        self.on_synced()

    def _await_sync(self) -> None:
        """Let the fsync in the background end, if there is one."""
        if self._sync is not None:
            self._sync.exception()
            self._take_sync()

    def _take_sync(self) -> None:
        """If the fsync in the background has ended, note what came of it."""
        if self._sync is None or not self._sync.done():
            return
        failure = self._sync.exception()
        self._sync = None
        if failure is None:
            self._is_safe(max(self._synced_to, self._sync_to))
        else:  # all of the file may suffer, but for a file that was left behind that is its end
            self._broke(failure, self.offset if self._sync_to > self._file_from else self._sync_to)

    def _is_safe(self, to: int) -> None:
        """What was added up to the offset *to* is on the disk."""
        self._synced_to = to
        if not self.tentative:
            self.synced_offset = to

    def _broke(self, failure: BaseException, to: int) -> None:
        """Something may be lost before the offset *to*."""
        if to <= self._based_to:
            return
        self.broken = True
        self._lost_to = max(self._lost_to, to)
        self._failed(f"fsync: {getattr(failure, 'strerror', None) or failure}")


def _nobody() -> None:
    """Stand in until the server wants to know."""
