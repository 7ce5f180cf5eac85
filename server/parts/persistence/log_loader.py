"""Loading an append-only file: its base, then every command that was written since.

    base       a snapshot, commands, or a snapshot and commands after it (before Redis 7)
    increments commands
    the end    may be torn, if the machine died during a write. The file is truncated after the
               last complete command or transaction, if aof-load-truncated allows it

A crash can tear only the end of the file that was written last. Anything else that cannot be read
is damage, and the server does not start. With aof-checksums, so is what a checksum in the file does
not agree with; none of it is run. A command that a tear has left without its checksum is loaded,
and gets one then: what clients are shown from now on must not change unnoticed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator
from mmap import mmap
from pathlib import Path

from server.config.parameters import Config
from server.parts.persistence import key_delay
from server.parts.persistence.files import Files, reason
from server.parts.persistence.load_progress import LoadProgress
from server.parts.persistence.log_folder import LogFolder
from server.parts.persistence.log_reader import LOOKS_AHEAD, Damaged, LogReader, NoCommand, Torn
from server.parts.persistence.log_sums import line_for
from server.parts.persistence.manifest import INCREMENT
from server.parts.persistence.snapshot_loader import LoadFailed

COMMANDS_PER_LOOK = 256  # commands between two looks at the clock
SNAPSHOT_MAGIC = (b"REDIS", b"VALKEY")

Replay = Callable[[list[bytes]], str]  # runs a command; the error, or ""
LoadSnapshot = Callable[[bytes | mmap], Generator[None, None, int]]  # the offset after the snapshot

_log = logging.getLogger("penstock")


class LogLoader:
    """Loads the files of *folder*.

    *begin_file* makes the function that runs the commands of one file, so that a selected database
    or an open MULTI ends with the file. *load_snapshot* loads the snapshot that a base begins with.
    *sums_up*: nobody else has the files open, and what has no checksum is to get one.
    """

    def __init__(
        self,
        config: Config,
        files: Files,
        folder: LogFolder,
        progress: LoadProgress,
        begin_file: Callable[[], Replay],
        load_snapshot: LoadSnapshot,
        sums_up: bool,
    ) -> None:
        self._config = config
        self._files = files
        self._folder = folder
        self._progress = progress
        self._begin_file = begin_file
        self._load_snapshot = load_snapshot
        self._sums_up = sums_up and config.aof_checksums

    def run(self) -> Iterator[None]:
        """Load all files, yielding now and then. Raises LoadFailed and OSError."""
        manifest = self._folder.manifest
        paths = [self._folder.path_of(file) for file in manifest.files]
        fewest = 2 if manifest.base else 1  # a base was complete before anything followed it
        while len(paths) > fewest and not self._files.size(paths[-1]):
            paths.pop()  # it is empty: the file before it is the one that was written last
        sums_up = self._sums_up and manifest.files[len(paths) - 1].kind == INCREMENT
        for path in paths:
            is_last = path is paths[-1]
            yield from self._load_file(path, may_be_torn=is_last, sums_up=is_last and sums_up)

    def _load_file(self, path: Path, may_be_torn: bool, sums_up: bool) -> Iterator[None]:
        _log.info("loading the append-only file %s", path)
        before = self._progress.loaded_bytes
        data = self._files.read(path)
        size = len(data)
        start = 0
        if data[:6].startswith(SNAPSHOT_MAGIC):
            try:
                start = yield from self._load_snapshot(data)
            except LoadFailed as error:
                raise LoadFailed(f"{path}: {error}") from error
        whole, summed_to = yield from self._replay(path, data, start)
        self._progress.loaded_bytes = before + size
        rest = _rest(data, start, summed_to, whole) if sums_up else b""
        if whole < size:
            self._truncate(path, whole, size, may_be_torn)
        if rest:
            self._sum_up(path, whole, line_for(rest, whole - len(rest), summed_to >= 0))

    def _replay(
        self, path: Path, data: bytes | mmap, start: int
    ) -> Generator[None, None, tuple[int, int]]:
        """Run the commands from *start* on.

        Returns the offsets after the last complete one, and after the last sum (-1: there is none).
        """
        reader = LogReader(data, start, self._config.aof_checksums)
        try:
            whole = yield from self._replay_from(path, reader)
        except Damaged as damage:
            raise LoadFailed(
                f"The append only file {path} is damaged between the offsets {damage.start} and"
                f" {damage.end}: its checksum there is not that of what was written. Nothing of"
                " that was run. Take the file from a backup or the data from a replica; penstock"
                " check names all damaged places"
            ) from None
        except NoCommand:
            raise LoadFailed(
                f"Bad file format reading the append only file {path} at offset {reader.position}:"
                " make a backup of it, then look at it by penstock check"
            ) from None
        else:
            return whole, reader.summed_to
        finally:
            reader.close()

    def _replay_from(self, path: Path, reader: LogReader) -> Generator[None, None, int]:
        replay = self._begin_file()
        before = self._progress.loaded_bytes - reader.position
        unit = reader.position  # where the present transaction or command begins
        in_multi = False
        commands = 0
        delay_us = self._config.key_load_delay
        stop_s = time.monotonic() + key_delay.SLICE_S
        while (argv := _next(reader)) is not None:
            error = replay(argv)
            if error:
                raise LoadFailed(
                    f"{error} reading the append only file {path} before offset {reader.position}"
                )
            in_multi = _in_multi(argv, in_multi)
            if not in_multi:
                unit = reader.position
            commands += 1
            if delay_us:
                yield from key_delay.delay(1, lambda: self._config.key_load_delay)
                delay_us = self._config.key_load_delay
            if commands % COMMANDS_PER_LOOK == 0 and time.monotonic() >= stop_s:
                self._progress.loaded_bytes = before + reader.position
                self._progress.log_periodically()
                yield
                delay_us = self._config.key_load_delay
                stop_s = time.monotonic() + key_delay.SLICE_S
        return unit if in_multi else reader.position

    def _truncate(self, path: Path, whole: int, size: int, may_be_torn: bool) -> None:
        """Truncate a file that ends inside a command or transaction, to *whole* bytes."""
        if not may_be_torn:
            raise LoadFailed(
                f"the append only file {path} ends inside a command at offset {whole}, and"
                " there are files after it"
            )
        if not self._config.aof_load_truncated:
            raise LoadFailed(
                f"Unexpected end of file reading the append only file {path} at offset {whole}."
                " You can: 1) make a backup of it, then use penstock check --fix; or"
                " 2) set 'aof-load-truncated' to yes and start the server again."
            )
        _log.warning("!!! Warning: short read while loading the AOF file %s!!!", path)
        _log.warning("!!! Truncating the AOF %s at offset %d !!!", path, whole)
        fd = self._files.open_to_append(path)
        try:
            self._files.truncate(fd, whole)
            self._files.sync(fd)
        finally:
            self._files.close(fd)
        _log.warning(
            "AOF %s loaded anyway because aof-load-truncated is enabled: %d bytes were cut off",
            path,
            size - whole,
        )

    def _sum_up(self, path: Path, whole: int, line: bytes) -> None:
        """Append the sum *line* to a file of *whole* bytes, or leave the file as it is.

        It is synced: another file may come after this one, which must not be torn then.
        """
        fd = self._files.open_to_append(path)
        try:
            if self._appended(fd, line):
                self._files.sync(fd)
            else:
                self._files.truncate(fd, whole)
        finally:
            self._files.close(fd)

    def _appended(self, fd: int, line: bytes) -> bool:
        """Append *line*; False if the disk has no room for all of it: that ends no start."""
        try:
            return self._files.write(fd, line) == len(line)
        except OSError as error:
            _log.warning("cannot write a checksum to the AOF: %s", reason(error))
            return False


def _rest(data: bytes | mmap, start: int, summed_to: int, whole: int) -> bytes:
    """What is between the last sum and the offset *whole*, if a reader would look so far for one.

    The commands begin at *start*. What Redis has written may be longer: it stays without a sum.
    """
    begin = max(start, summed_to)
    return bytes(data[begin:whole]) if whole - begin < LOOKS_AHEAD else b""


def _next(reader: LogReader) -> list[bytes] | None:
    """The next command; None at the end of the file, torn or not."""
    try:
        return reader.next()
    except Torn:
        return None


def _in_multi(argv: list[bytes], before: bool) -> bool:
    """Whether a transaction is open after *argv*."""
    if len(argv) > 1:
        return before
    word = argv[0].upper()
    return word == b"MULTI" or (before and word != b"EXEC")
