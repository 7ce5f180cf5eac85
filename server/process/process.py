"""What the configuration asks of the process: directory, open files, pid file."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import resource
import sys
from pathlib import Path

from server.config.parameters import Config
from server.process import identity, log
from server.process.supervision import in_background

SPARE_FILES = 32  # for listeners, logs and the loop: files that are no clients
STANDARD_STREAMS = (0, 1, 2)

_log = logging.getLogger("penstock")


def prepare(config: Config) -> None:
    """Make the process what *config* asks for, before it listens."""
    limit = allowed_clients(config.maxclients)
    if limit < config.maxclients:
        _log.warning("maxclients is %d: the system allows no more open files", limit)
        config.maxclients = limit
    if config.without_effect:
        _log.warning("accepted, but without effect here: %s", ", ".join(config.without_effect))


def open_standard_streams() -> None:
    """Open those that are closed: else a file or a client would get their numbers, and the log."""
    for stream in STANDARD_STREAMS:
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    if sys.stdout is None:  # Python found it closed
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)


def write_no_bytecode() -> None:
    """From now on, keep no bytecode of what is imported.

    To be called when the start has imported what it needs. What comes later, Lua for example, may
    come while the disk is full. Python would leave a file cut short and take it for whole, and no
    server could import that module any more.
    """
    sys.dont_write_bytecode = True


# ---------------------------------------------------------------------- what can change later


def change_directory(config: Config) -> None:
    """Work in the directory *dir*, which is the present one by default. Raises OSError."""
    if config.dir:
        os.chdir(config.dir)
    config.dir = os.getcwd()


def allowed_clients(wanted: int) -> int:
    """How many of *wanted* clients the system's limit of open files allows; raised if it can be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + SPARE_FILES
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    except (OSError, ValueError):
        most = soft
    return max(1, most - SPARE_FILES)


# ---------------------------------------------------------------------- at the start only


def enter_directory(config: Config) -> None:
    """change_directory() for the start. Raises OSError with a message for the user."""
    wanted = config.dir
    try:
        change_directory(config)
    except OSError as error:
        raise OSError(f"Can't chdir to '{wanted}': {error.strerror}") from error


def write_pid_file(config: Config) -> None:
    """Keep the process's id in *pidfile*, if there is one, until it ends.

    One with the name redis-server has Redis's default in the background.
    To be called when the server listens, so that one that cannot start leaves another's file alone.
    Like Redis, this server continues without the file if it cannot be written.
    """
    if not config.pidfile and in_background(config) and identity.is_lookalike():
        config.pidfile = identity.LOOKALIKE_PID_FILE
    if not config.pidfile:
        return
    path = Path(config.pidfile).absolute()
    try:
        path.write_text(f"{os.getpid()}\n")
    except OSError as error:
        log.log_and_print(f"Failed to write PID file '{path}': {error.strerror}", logging.WARNING)
    else:
        atexit.register(_remove_pid_file, path)


def _remove_pid_file(path: Path) -> None:
    """Remove it, unless it is another's by now."""
    with contextlib.suppress(OSError):
        if path.read_text() == f"{os.getpid()}\n":
            path.unlink()
