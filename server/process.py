"""What the configuration asks of the process: directory, files, background, log, pid file."""

from __future__ import annotations

import atexit
import logging
import os
import resource
import sys
from pathlib import Path

from server.config import Config
from server.supervision import in_background

LOG_LEVELS = {
    "debug": logging.DEBUG,
    "verbose": logging.DEBUG + 5,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "nothing": logging.CRITICAL + 1,
}
logging.addLevelName(LOG_LEVELS["verbose"], "VERBOSE")

SPARE_FILES = 32  # for listeners, logs and the loop: files that are no clients

_log = logging.getLogger("penstock")


def prepare(config: Config) -> None:
    """Make the process what *config* asks for, before it listens.

    Raises OSError, with a message for the user, when that cannot be had.
    """
    change_directory(config)
    if in_background(config):
        _go_to_background()
    start_log(config)
    limit = allowed_clients(config.maxclients)
    if limit < config.maxclients:
        _log.warning("maxclients is %d: the system allows no more open files", limit)
        config.maxclients = limit
    if config.pidfile:
        _write_pid_file(Path(config.pidfile).absolute())
    if config.without_effect:
        _log.warning("accepted, but without effect here: %s", ", ".join(config.without_effect))


# ---------------------------------------------------------------------- what can change later


def change_directory(config: Config) -> None:
    """Work in the directory *dir*, which is the present one by default. Raises OSError."""
    if config.dir:
        os.chdir(config.dir)
    config.dir = os.getcwd()


def set_log_level(config: Config) -> None:
    """Log what *loglevel* says, from now on."""
    _log.setLevel(LOG_LEVELS[config.loglevel])


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


def start_log(config: Config) -> None:
    """Log to *logfile*, or to the standard error."""
    logging.basicConfig(
        format="%(process)d %(asctime)s %(levelname)s %(message)s",
        filename=config.logfile or None,
    )
    set_log_level(config)


def _go_to_background() -> None:
    """Go on in a child without a terminal; the parent ends."""
    sys.stdout.flush()
    if os.fork():
        os._exit(0)
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _write_pid_file(path: Path) -> None:
    """Keep the process's id in *path* until it ends."""
    path.write_text(f"{os.getpid()}\n")
    atexit.register(path.unlink, missing_ok=True)
