"""The server on a disk that is slow, or at one of whose steps it is killed.

    python -m tests.crash.disturbed_disk SYNC_S STEP WRITES [the server's arguments]

An fsync in the background takes SYNC_S longer. If STEP is not 0, the process is killed during the
next rewrite: right before that step if WRITES is 0, else after it, before the WRITES-th write.

     1  the next increment is made          9  the old base is removed
     2  a manifest with it is begun        10  the old increment is removed
     3  .. takes the old one's place       11  a manifest without them is begun
     4  .. and is there to stay            12  .. takes the old one's place
     5  the child's base gets its name     13  .. and is there to stay
     6  a manifest with it is begun
     7  .. takes the old one's place
     8  .. and is there to stay
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from unittest.mock import patch

from server.__main__ import main as serve
from server.parts.persistence import persistence
from server.parts.persistence.files import Files

STEPS = 13


class DisturbedFiles(Files):
    """See above."""

    def __init__(self, sync_s: float, step: int, writes: int) -> None:
        self._sync_s = sync_s
        self._steps_left = step
        self._writes_left = writes
        self._in_rewrite = False
        self._pid = os.getpid()  # a child's steps are not counted

    def open_to_append(self, path: Path) -> int:
        self._in_rewrite = self._in_rewrite or (
            path.name.endswith(".incr.aof") and not self.exists(path)
        )
        self._step()
        return super().open_to_append(path)

    def create(self, path: Path) -> int:
        self._step()
        return super().create(path)

    def rename(self, old: Path, new: Path) -> None:
        self._step()
        super().rename(old, new)

    def sync_directory(self, path: Path) -> None:
        self._step()
        super().sync_directory(path)

    def detach(self, path: Path) -> int:
        self._step()
        return super().detach(path)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self._is_at_step and self._counts:
            self._writes_left -= 1
            if not self._writes_left:
                kill()
        return super().write(fd, data)

    def sync(self, fd: int) -> None:
        if threading.current_thread() is not threading.main_thread():
            time.sleep(self._sync_s)
        super().sync(fd)

    def _step(self) -> None:
        if self._steps_left and self._counts:
            self._steps_left -= 1
            if self._is_at_step and not self._writes_left:
                kill()

    @property
    def _counts(self) -> bool:
        return self._in_rewrite and os.getpid() == self._pid

    @property
    def _is_at_step(self) -> bool:
        return not self._steps_left


def kill() -> None:
    """End this process as kill -9 does."""
    os.kill(os.getpid(), signal.SIGKILL)


def main(argv: list[str]) -> int:
    """Run the server on such a disk, and return its exit status."""
    files = DisturbedFiles(float(argv[0]), int(argv[1]), int(argv[2]))
    with patch.object(persistence, "Files", lambda: files):
        return serve(argv[3:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
