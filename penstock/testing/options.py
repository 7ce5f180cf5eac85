"""Lines of redis.conf as options of the command line; some are the fixture's own."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from penstock.testing.errors import ServerError
from penstock.testing.folder import SOCKET

SNAPSHOT = "dump.rdb"

# What makes it a server for tests; the lines of a user may override them.
DEFAULTS = ("--save", "", "--appendonly", "no")

# Where it listens, how it starts and ends: the fixture relies on them.
OURS = frozenset(
    {
        "bind", "daemonize", "dbfilename", "dir", "enable-debug-command", "logfile", "port",
        "rename-command", "supervised", "unixsocket", "unixsocketperm",
    }
)  # fmt: skip


class Options(NamedTuple):
    """What follows the command, and the password that it makes the server require ("": none)."""

    words: list[str]
    password: str


def options_of(lines: Sequence[str], folder: Path) -> Options:
    """The options for a server in *folder*. *lines* are as in redis.conf: ``maxmemory 100mb``.

    Raises ServerError for a line that is not for the user to set.
    """
    words = [
        "--port", "0", "--bind", "127.0.0.1", "--unixsocket", SOCKET, "--unixsocketperm", "700",
        "--dir", str(folder), "--dbfilename", SNAPSHOT, "--enable-debug-command", "local",
        *DEFAULTS,
    ]  # fmt: skip
    password = ""
    for line in lines:
        name, *values = _split(line)
        if name in OURS:
            raise ServerError(f"'{name}' is set by the fixture, not by an option: {line!r}")
        if name == "requirepass":
            password = "".join(values)
        words += [f"--{name}", *values]
    return Options(words, password)


def _split(line: str) -> list[str]:
    """The name, in lower case, and the values. Raises ServerError if there is no name."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ServerError(f"{error}: {line!r}") from None
    if not words:
        raise ServerError("an option is a line of redis.conf, as 'maxmemory 100mb'; one is empty")
    return [words[0].removeprefix("--").lower(), *words[1:]]
