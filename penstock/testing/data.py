"""Data of another server, from which tests begin: a snapshot, or an append-only file.

They are copied into the server's folder; the originals are only read. An append-only file is
loaded once, and from then on there is a snapshot of what it holds.

    dump.rdb                a snapshot
    appendonlydir/          an append-only file: manifest, base, what was logged since
    appendonly.aof          the same of a server before 7.0, in one file
    a folder                has one of these: the append-only file comes first, as in Redis

Expired keys are not loaded, as everywhere. In an old file that may be most of them, unless the
clock stands where it stood when the data was written: saved_at().
"""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from penstock.testing.clock import from_unix
from penstock.testing.errors import ServerError
from penstock.testing.options import SNAPSHOT

LOG_FOLDER = "appendonlydir"
MANIFEST = ".manifest"

# An RDB file begins with fields that describe it: fa, a string, a string. One is the time.
HEADER_BYTES = 9
AUXILIARY = 0xFA
SAVED_AT = b"ctime"
SHORT_INTEGERS = {0xC0: 1, 0xC1: 2, 0xC2: 4}  # strings that are integers, and their bytes
HEAD_BYTES = 4096


class Data(NamedTuple):
    """Where the data is; *log* is the name of its append-only file, "" for a snapshot."""

    path: Path
    log: str = ""

    @property
    def options(self) -> list[str]:
        """What lets a server load it, after copy_to()."""
        return ["--appendonly", "yes", "--appendfilename", self.log] if self.log else []

    def copy_to(self, folder: Path) -> None:
        """Copy it to where a server that works in *folder* looks for it. Raises OSError."""
        if not self.log:
            shutil.copyfile(self.path, folder / SNAPSHOT)
        elif self.path.is_dir():
            _copy_files(self.path, folder / LOG_FOLDER)
        else:
            shutil.copyfile(self.path, folder / self.log)

    def copy_again(self, folder: Path) -> None:
        """Give the files of a server that has loaded them what was in them, in place."""
        if self.path.is_dir():
            _copy_files(self.path, folder / LOG_FOLDER)
            return
        # Such a file has become the base of a new AOF, and what follows that was not in it.
        for part in (folder / LOG_FOLDER).glob("*.incr.aof"):
            part.write_bytes(b"")

    def saved_at(self) -> datetime:
        """When it was written: what a snapshot says; for an AOF, when its newest file changed."""
        if not self.log and (seconds := _time_in(self.path)):
            return from_unix(seconds)
        files = self.path.iterdir() if self.path.is_dir() else [self.path]
        return from_unix(max(int(file.stat().st_mtime) for file in files))


def data_at(path: Path) -> Data:
    """The data at *path*, a file or a folder. Raises ServerError if there is none."""
    if path.is_dir():
        return _data_in(path)
    if not path.is_file():
        raise ServerError(f"There is no data at {path.absolute()}")
    with path.open("rb") as file:
        first = file.read(1)
    is_log = first in (b"*", b"#") or path.suffix == ".aof"
    return Data(path.absolute(), path.name if is_log else "")


def _data_in(folder: Path) -> Data:
    for place in (folder, folder / LOG_FOLDER):
        for manifest in place.glob("*" + MANIFEST):
            return Data(place.absolute(), manifest.name.removesuffix(MANIFEST))
    if (folder / SNAPSHOT).is_file():
        return Data((folder / SNAPSHOT).absolute())
    raise ServerError(f"There is neither a {LOG_FOLDER} nor a {SNAPSHOT} in {folder.absolute()}")


def _copy_files(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for file in source.iterdir():
        if file.is_file():
            shutil.copyfile(file, target / file.name)


def _time_in(path: Path) -> int:
    """The time that an RDB file has in its first fields, in seconds; 0 if it has none."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    at = HEADER_BYTES
    while head[at : at + 1] == bytes([AUXILIARY]):
        name, at = _string(head, at + 1)
        value, at = _string(head, at)
        if name == SAVED_AT and value.isdigit():
            return int(value)
    return 0


def _string(data: bytes, at: int) -> tuple[bytes, int]:
    """A string of at most 63 bytes, or an integer as one; and where it ends."""
    kind = data[at] if at < len(data) else 0
    at += 1
    if size := SHORT_INTEGERS.get(kind):
        return str(int.from_bytes(data[at : at + size], "little", signed=True)).encode(), at + size
    return data[at : at + kind], at + kind
