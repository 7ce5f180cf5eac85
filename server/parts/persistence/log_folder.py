"""The folder of the append-only file: its manifest, its files, and what is safe at any moment.

Every change of the manifest is made in one step: the new text goes to a temporary file, which is
fsynced and takes the place of the old one; then the folder is fsynced. A file is there before the
manifest names it, and is removed only when it is history. So whenever the process or the machine
dies, the manifest on the disk names files that are whole.
"""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path

from server.config.parameters import Config
from server.parts.persistence import manifest
from server.parts.persistence.files import Files, write_all
from server.parts.persistence.manifest import BadManifest, LogFile, Manifest

UNFINISHED_INCREMENT = "temp-{}.incr"  # of an AOF that has no base yet

_log = logging.getLogger("penstock")


class LogFolder:
    """*manifest* is what the disk has, or what it will have after the next step."""

    def __init__(self, config: Config, files: Files) -> None:
        self._config = config
        self._files = files
        self.manifest = Manifest()

    @property
    def _stem(self) -> str:
        return self._config.appendfilename

    @property
    def path(self) -> Path:
        return Path(self._config.appenddirname)

    @property
    def manifest_path(self) -> Path:
        return self.path / f"{self._stem}.manifest"

    def path_of(self, file: LogFile) -> Path:
        return self.path / file.name

    # ------------------------------------------------------------------ at the start

    def read(self) -> bool:
        """Take what the folder has; False if there is no log. Raises BadManifest and OSError."""
        if not self._files.exists(self.manifest_path):
            return False
        self.manifest = manifest.parse(bytes(self._files.read(self.manifest_path)))
        return True

    def upgrade(self) -> None:
        """Move an AOF of the time before Redis 7, which is one file, into the folder.

        As redis does it: the manifest first, so that the next start continues with what was begun.
        Raises BadManifest and OSError.
        """
        old, moved = Path(self._stem), self.path / self._stem
        upgraded = manifest.of_old_file(self._stem)
        if not self._files.exists(old):
            return
        if self.read() and (self.manifest != upgraded or self._files.exists(moved)):
            return
        _log.info("moving the append-only file %s into the folder %s", old, self.path)
        self._make_folder()
        self._write(upgraded)
        self._files.rename(old, moved)
        self._files.sync_directory(self.path)

    def check_files(self) -> None:
        """Raise BadManifest if a file that has to be loaded is missing."""
        for file in self.manifest.files:
            if not self._files.exists(self.path_of(file)):
                raise BadManifest(
                    f"Unable to obtain the AOF file {file.name} length. stat: "
                    + os.strerror(errno.ENOENT)
                )

    def size(self) -> int:
        """Bytes of all files that would be loaded."""
        return sum(self._files.size(self.path_of(file)) for file in self.manifest.files)

    # ------------------------------------------------------------------ steps; all raise OSError

    def add_increment(self) -> int:
        """Make a new, last increment, and return its descriptor. If it fails all is as before."""
        self._make_folder()
        fresh = self.manifest.with_increment(self._stem)
        path = self.path_of(fresh.increments[-1])
        fd = self._create(path)
        try:
            self._write(fresh)
        except OSError:
            self._files.close(fd)
            if self.manifest is not fresh:
                self._remove(path)
            raise
        return fd

    def open_last_increment(self) -> int:
        """The descriptor of the last increment, to append to it; of a new one if there is none."""
        if not self.manifest.increments:
            return self.add_increment()
        return self._files.open_to_append(self.path_of(self.manifest.increments[-1]))

    def unfinished_increment(self) -> tuple[int, Path]:
        """A new file that is to become an increment when there is a base to it."""
        self._make_folder()
        path = self.path / UNFINISHED_INCREMENT.format(self._stem)
        return self._create(path), path

    def add_base(self, temporary: Path, snapshot: bool, unfinished: Path | None = None) -> None:
        """Let *temporary* be the base of the last increment, and all before it history.

        *unfinished*, if given, becomes that last increment. If a step fails the old manifest stays
        valid, and the files have their old names.
        """
        before = self.manifest.with_increment(self._stem) if unfinished else self.manifest
        fresh = before.with_base(self._stem, snapshot)
        assert fresh.base is not None
        moves = [(temporary, self.path_of(fresh.base))]
        if unfinished is not None:
            moves.append((unfinished, self.path_of(fresh.increments[-1])))
        moved = []
        try:
            for old, new in moves:
                self._files.rename(old, new)
                moved.append((new, old))
            self._write(fresh)
        except OSError:
            if self.manifest is not fresh:
                for new, old in reversed(moved):
                    self._rename_back(new, old)
            raise

    def drop_history(self) -> list[int]:
        """Remove the files that are not needed any more, and forget them.

        Returns their descriptors, which are still to be closed. Never raises: what fails is logged.
        """
        held = []
        for file in self.manifest.history:
            path = self.path_of(file)
            try:
                held.append(self._files.detach(path))
            except FileNotFoundError:
                pass  # an earlier process has removed it, and could not forget it
            except OSError as error:
                _log.warning("cannot remove %s: %s", path, error.strerror)
        try:
            self._write(self.manifest.without_history())
        except OSError as error:
            _log.warning("cannot write the AOF's manifest: %s", error.strerror)
        return held

    def _create(self, path: Path) -> int:
        """A new file whose writes go to its end, also when some have been cut off again."""
        self._files.remove(path)
        return self._files.open_to_append(path)

    def _make_folder(self) -> None:
        if not self._files.exists(self.path):
            self._files.make_directory(self.path)
            self._files.sync_directory(Path())

    def _write(self, fresh: Manifest) -> None:
        """Let *fresh* be the manifest, on the disk and here.

        If the very last step fails, *fresh* is in place, but the machine may find the old one after
        a power cut: what either names must stay.
        """
        temporary = self.path / f"temp-{self._stem}.manifest"
        fd = self._files.create(temporary)
        try:
            write_all(self._files, fd, fresh.encode(self._config.aof_checksums))
            self._files.sync(fd)
        finally:
            self._files.close(fd)
        self._files.rename(temporary, self.manifest_path)
        self.manifest = fresh
        self._files.sync_directory(self.path)

    def _rename_back(self, new: Path, old: Path) -> None:
        try:
            self._files.rename(new, old)
        except OSError as error:
            _log.warning("cannot rename %s back to %s: %s", new, old, error.strerror)

    def _remove(self, path: Path) -> None:
        try:
            self._files.remove(path)
        except OSError as error:
            _log.warning("cannot remove %s: %s", path, error.strerror)
