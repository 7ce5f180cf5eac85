"""The log, in redis's lines: to *logfile*, or to the standard output.

    1234:M 22 Nov 2026 06:15:23.042 * Ready to accept connections tcp
    pid  |  local time              . debug   - verbose   * notice   # warning
         role: a master

Tools wait for some of these lines, by redis's words.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from pathlib import Path

from server.config.parameters import Config
from server.process import build

LOG_LEVELS = {
    "debug": logging.DEBUG,
    "verbose": logging.DEBUG + 5,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "nothing": logging.CRITICAL + 1,
}
MARKS = ((logging.WARNING, "#"), (logging.INFO, "*"), (LOG_LEVELS["verbose"], "-"), (0, "."))

STDOUT, STDERR = 1, 2

_log = logging.getLogger("penstock")


class LineFormatter(logging.Formatter):
    """A record as a line of redis's log; a traceback goes below it."""

    def format(self, record: logging.LogRecord) -> str:
        when = time.strftime("%d %b %Y %H:%M:%S", time.localtime(record.created))
        mark = next(mark for level, mark in MARKS if record.levelno >= level)
        text = super().format(record)
        return f"{os.getpid()}:M {when}.{int(record.msecs):03d} {mark} {text}"


class LineHandler(logging.Handler):
    """Writes each line at once, to the file *path*, or to the standard output if it is "".

    The file is opened for each line, as redis does: one that was moved away is begun anew.
    A line that cannot be written is lost: there is nobody to tell.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.setFormatter(LineFormatter())

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._write((self.format(record) + "\n").encode("utf-8", "backslashreplace"))
        except OSError:
            pass
        except Exception:
            self.handleError(record)

    def _write(self, line: bytes) -> None:
        if not self.path:
            os.write(STDOUT, line)
            return
        fd = open_log_file(self.path)
        try:
            os.write(fd, line)
        finally:
            os.close(fd)


def open_log_file(path: str) -> int:
    """A descriptor for the log file at *path*, made if need be. Raises OSError."""
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)


def start(config: Config) -> None:
    """Log as *config* says, from now on.

    Raises OSError, with a message for the user, when the file cannot be written.
    """
    path = str(Path(config.logfile).absolute()) if config.logfile else ""
    if path:
        try:
            os.close(open_log_file(path))
        except OSError as error:
            raise OSError(f"Can't open the log file '{path}': {error.strerror}") from error
    logging.getLogger().addHandler(LineHandler(path))
    set_level(config)


def log_startup(config: Config) -> None:
    """The first lines of the log: those of redis, which tools look for."""
    _log.info("oO0OoO0OoO0Oo Penstock is starting oO0OoO0OoO0Oo")
    _log.info(
        "Penstock version=%s, redis=%s, bits=64, pid=%d, just started",
        build.VERSION, build.REDIS_VERSION, os.getpid(),
    )  # fmt: skip
    if config.given:
        _log.info("Configuration loaded")
    else:
        _log.info("No configuration is given: the defaults are used")
    if not build.compiled():
        _log.warning("The core is NOT COMPILED: several times slower, see README")
    port = config.port or config.tls_port
    _log.info("Running mode=standalone, port=%d.", port)
    if config.always_show_logo:
        _log.info("Penstock %s, Port: %d, PID: %d", build.VERSION, port, os.getpid())


def set_level(config: Config) -> None:
    """Log what *loglevel* says, from now on."""
    _log.setLevel(LOG_LEVELS[config.loglevel])


def log_and_print(message: str, level: int = logging.CRITICAL) -> None:
    """Log what the user who starts the server must see, and write it to the standard error too.

    Only once, if the log goes there as well.
    """
    if logging.getLogger().hasHandlers():
        _log.log(level, "%s", message)
        if _log.isEnabledFor(level) and _is_standard_error():
            return
    print_error(message)


def print_error(message: str) -> None:
    """Write *message* to the standard error, if it can be."""
    with contextlib.suppress(OSError):
        os.write(STDERR, f"penstock: {message}\n".encode("utf-8", "backslashreplace"))


def _is_standard_error() -> bool:
    """Whether the log and the standard error are one file: a terminal, say."""
    paths = [
        handler.path for handler in logging.getLogger().handlers if type(handler) is LineHandler
    ]
    return paths == [""] and os.path.sameopenfile(STDOUT, STDERR)
