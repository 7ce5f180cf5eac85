"""The log of the server: its start, its level, and what its starter must see at once.

What a line is like is in log_line, and where the lines go in log_output.
"""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path

from server.config.parameters import Config
from server.process import build, identity
from server.process.log_line import LOG_LEVELS, LineFormatter
from server.process.log_output import (
    STDOUT,
    FileOutput,
    StandardOutput,
    SyslogOutput,
    open_log_file,
)

STDERR = 2
COMPILING = '"Is the core compiled?" in docs/install.md'

_log = logging.getLogger("penstock")


def start(config: Config) -> None:
    """Log as *config* says, from now on.

    Raises OSError, with a message for the user, when the file cannot be written.
    """
    root, formatter = logging.getLogger(), LineFormatter(config)
    if config.logfile:
        path = str(Path(config.logfile).absolute())
        try:
            os.close(open_log_file(path))
        except OSError as error:
            raise OSError(f"Can't open the log file '{path}': {error.strerror}") from error
        root.addHandler(FileOutput(path, formatter))
    else:
        root.addHandler(StandardOutput(formatter))
    if config.syslog_enabled:
        root.addHandler(SyslogOutput(config.syslog_ident, config.syslog_facility))
    set_level(config)


def log_startup(config: Config) -> None:
    """The first lines of the server log: those of redis, which tools look for."""
    title = identity.title()
    _log.info("oO0OoO0OoO0Oo %s is starting oO0OoO0OoO0Oo", title)
    if identity.is_lookalike():
        _log.info(
            "Redis version=%s, bits=64, commit=00000000, modified=0, pid=%d, just started",
            build.REDIS_VERSION, os.getpid(),
        )  # fmt: skip
        _log.info("This redis-server is Penstock %s", build.VERSION)
    else:
        _log.info(
            "Penstock version=%s, redis=%s, bits=64, pid=%d, just started",
            build.VERSION, build.REDIS_VERSION, os.getpid(),
        )  # fmt: skip
    if config.given:
        _log.info("Configuration loaded")
    else:
        _log.info("No configuration is given: the defaults are used")
    if not build.compiled():
        _log.warning("The core is NOT COMPILED: several times slower, see %s", COMPILING)
    port = config.port or config.tls_port
    _log.info("Running mode=standalone, port=%d.", port)
    if config.always_show_logo:
        _log.info("%s %s, Port: %d, PID: %d", title, build.VERSION, port, os.getpid())


def set_level(config: Config) -> None:
    """Log what *loglevel* says, from now on."""
    _log.setLevel(LOG_LEVELS[config.loglevel])


def log_and_print(message: str, level: int = logging.CRITICAL) -> None:
    """Log what the user who starts the server must see, and write it to the standard error too.

    Only once, if the server log goes there as well.
    """
    if logging.getLogger().hasHandlers():
        _log.log(level, "%s", message)
        outputs = [type(handler) for handler in logging.getLogger().handlers]
        is_seen = StandardOutput in outputs and os.path.sameopenfile(STDOUT, STDERR)  # one terminal
        if _log.isEnabledFor(level) and is_seen:
            return
    print_error(message)


def print_error(message: str) -> None:
    """Write *message* to the standard error, if it can be."""
    with contextlib.suppress(OSError):
        os.write(STDERR, f"penstock: {message}\n".encode("utf-8", "backslashreplace"))
