"""The temporary folder of a server: its socket, its log and its data.

    penstock-x3k_9aq2/
        socket      what clients connect to
        log         what the server says
        dump.rdb    what SAVE and DEBUG RELOAD work on
        ...         snapshots

The path of a Unix socket has a limited length. Where the usual place for temporary files is too
deep (as a build system's TMPDIR may be), another place is taken.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from penstock.testing.errors import StartFailed

PREFIX = "penstock-"
SOCKET = "socket"
LOG = "log"

# sun_path has 108 bytes on Linux and 104 elsewhere; the last one is a zero.
LONGEST_SOCKET_PATH = 107 if sys.platform == "linux" else 103

SHORT_PLACES = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108  (mkdtemp makes a folder of our own there)


def make_folder() -> Path:
    """Make a folder that only this user can open, for a server. Raises StartFailed."""
    refused = []
    for place in _places():
        if not _has_room(place):
            refused.append(f"{place}: too long")
            continue
        try:
            return Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
        except OSError as error:
            refused.append(f"{place}: {error.strerror}")
    raise StartFailed(
        f"There is no place for a socket, whose path may have {LONGEST_SOCKET_PATH} bytes"
        f" ({'; '.join(refused)}). Set TMPDIR to a folder with a short path."
    )


def make_same_folder(folder: Path) -> Path:
    """Make *folder* again, which has gone with its server. Raises StartFailed."""
    try:
        folder.mkdir(0o700)
    except OSError as error:
        raise StartFailed(f"{folder} cannot be made again: {error.strerror}") from None
    return folder


def _places() -> Iterator[str]:
    with contextlib.suppress(FileNotFoundError):  # none of the usual ones can be written to
        yield tempfile.gettempdir()
    if (runtime := os.environ.get("XDG_RUNTIME_DIR")) is not None:
        yield runtime
    yield from SHORT_PLACES


def _has_room(place: str) -> bool:
    """Whether a socket in a folder in *place* has a path that the system accepts."""
    longest = Path(place).absolute() / f"{PREFIX}12345678" / SOCKET
    return len(os.fsencode(longest)) <= LONGEST_SOCKET_PATH
