"""The lock on the data folder: without it two servers could overwrite each other's files.

    penstock.lock     "1234 myhost\\n": whose it is, locked by flock(2)

The lock ends with its process, however that ends; the file stays, and means nothing by itself. A
forked child lets go of it at once (child_job.py), so that a server that was killed can be started
again while its child has yet to notice. Redis knows nothing of this lock.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
from pathlib import Path

from server.parts.persistence.files import Files

LOCK_NAME = "penstock.lock"
MOST_TEXT = 100  # bytes of the file that are looked at: anybody may have written it

NOT_TO_WRITE = (errno.ENOENT, errno.ENOTDIR, errno.EROFS)  # no process can write there

_OWNER = re.compile(rb"([1-9][0-9]{0,9}) ([\w.-]{1,64})\n")

_log = logging.getLogger("penstock")


class FolderInUse(OSError):
    """Another server has locked the folder; the message is for the user."""


class FolderLock:
    """The folders that this process has locked. A server keeps all of them until it ends."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._held: dict[str, int] = {}  # descriptors, by the paths of the folders

    def __bool__(self) -> bool:
        return bool(self._held)

    def holds(self, folder: Path) -> bool:
        return os.path.realpath(folder) in self._held

    def take(self, folder: Path) -> bool:
        """Lock *folder*; False, and a line in the server log, if the file system does not allow it.

        Raises FolderInUse.
        """
        path = folder / LOCK_NAME
        try:
            fd = self._files.lock(path)
        except BlockingIOError:
            raise FolderInUse(self._in_use(folder)) from None
        except OSError as error:
            if error.errno in NOT_TO_WRITE:
                return False  # the first write there will report the error
            _log.warning(
                "Can't lock the folder %s by %s: %s. No other server may keep its data there.",
                os.path.realpath(folder), LOCK_NAME, error.strerror,
            )  # fmt: skip
            return False
        self._held[os.path.realpath(folder)] = fd
        owner = b"%d %b\n" % (os.getpid(), os.uname().nodename.encode())
        with contextlib.suppress(OSError):  # on a full disk the file stays empty
            self._files.write(fd, owner)
            self._files.truncate(fd, len(owner))
        return True

    def release(self) -> None:
        """Unlock all of them."""
        for fd in self._held.values():
            self._files.close(fd)
        self._held.clear()

    def _in_use(self, folder: Path) -> str:
        """That another server has locked *folder*, and which one as far as the file says."""
        owner = ""
        try:
            match = _OWNER.match(self._files.read(folder / LOCK_NAME)[:MOST_TEXT])
        except OSError:
            match = None
        if match is not None:
            pid, host = match[1].decode(), match[2].decode("ascii", "replace")
            owner = f", process {pid}" + ("" if host == os.uname().nodename else f" on {host}")
        return (
            f"The folder {os.path.realpath(folder)} is in use by another Penstock server"
            f"{owner}: stop that one, give each its own 'dir', or let this one save nothing"
            ' (--save "")'
        )
