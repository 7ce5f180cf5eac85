"""Where the server log goes: a file, the standard output, syslog. None can hold up the server.

    file               opened for each line, as Redis does: one that was moved away is begun again.
                       A pipe at its path that nobody reads takes nothing, and the line is lost
    standard output    a pipe or terminal that takes nothing is waited for, PATIENCE_MS at most, and
                       not again within PATIENCE_EVERY_S, so that one that is read slowly does not
                       slow down the server. When it takes more, a line says how much was lost
    syslog             through the C library; it waits for a syslog daemon that takes nothing

A line that cannot be written is lost: there is nobody to tell.
"""

from __future__ import annotations

import logging
import os
import select
import syslog
import time

from server.process import progress_bar
from server.process.log_line import LOG_LEVELS, LineFormatter, escaped

STDOUT = 1
PATIENCE_MS = 1000
PATIENCE_EVERY_S = 60.0
AT_ONCE = 512  # bytes that a pipe which is ready takes without waiting: POSIX's least PIPE_BUF

FACILITIES = {
    "user": syslog.LOG_USER,
    **{f"local{n}": getattr(syslog, f"LOG_LOCAL{n}") for n in range(8)},
}
PRIORITIES = (
    (logging.WARNING, syslog.LOG_WARNING),
    (logging.INFO, syslog.LOG_NOTICE),
    (LOG_LEVELS["verbose"], syslog.LOG_INFO),
    (0, syslog.LOG_DEBUG),
)


class LineOutput(logging.Handler):
    """Writes each line at once: what the file and the standard output have in common."""

    def __init__(self, formatter: LineFormatter) -> None:
        super().__init__()
        self.setFormatter(formatter)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.write_line((self.format(record) + "\n").encode("utf-8", "backslashreplace"))
        except OSError:
            pass
        except Exception:
            self.handleError(record)

    def write_line(self, line: bytes) -> None:
        """Write *line*, or lose it. Raises OSError."""
        raise NotImplementedError


class FileOutput(LineOutput):
    """The log file *path*."""

    def __init__(self, path: str, formatter: LineFormatter) -> None:
        super().__init__(formatter)
        self._path = path

    def write_line(self, line: bytes) -> None:
        fd = open_log_file(self._path)
        try:
            os.write(fd, line)
        finally:
            os.close(fd)


class StandardOutput(LineOutput):
    """The standard output, which may be a pipe that nobody reads."""

    def __init__(self, formatter: LineFormatter) -> None:
        super().__init__(formatter)
        self._poll = select.poll()
        self._poll.register(STDOUT, select.POLLOUT)
        self._lost = 0  # lines, since the last one that was written
        self._torn = False  # the last one was written in part
        self._waited_s = -PATIENCE_EVERY_S

    def write_line(self, line: bytes) -> None:
        progress_bar.erase()  # a bar may stand in this very line of the terminal
        if self._lost:
            if not self._takes_more():
                self._lost += 1
                return
            lost, self._lost = self._lost, 0
            line = self._after(lost) + line
        for at in range(0, len(line), AT_ONCE):
            if not self._takes_more():
                self._lost = 1
                self._torn = at > 0
                return
            os.write(STDOUT, line[at : at + AT_ONCE])

    def _takes_more(self) -> bool:
        if self._poll.poll(0):
            return True
        now_s = time.monotonic()
        if self._lost or now_s - self._waited_s < PATIENCE_EVERY_S:
            return False
        self._waited_s = now_s
        return bool(self._poll.poll(PATIENCE_MS))

    def _after(self, lost: int) -> bytes:
        """What precedes the first line after a gap of *lost* lines."""
        text = f"{lost} lines of the log were lost: nobody read the standard output"
        record = logging.LogRecord("penstock", logging.WARNING, "", 0, text, None, None)
        newline, self._torn = "\n" * self._torn, False
        return f"{newline}{self.format(record)}\n".encode()


class SyslogOutput(logging.Handler):
    """syslog: the message alone, as Redis sends it; process and time are added there."""

    def __init__(self, ident: str, facility: str) -> None:
        """*facility* is a key of FACILITIES."""
        super().__init__()
        syslog.openlog(escaped(ident), syslog.LOG_PID, FACILITIES[facility])

    def emit(self, record: logging.LogRecord) -> None:
        priority = next(found for least, found in PRIORITIES if record.levelno >= least)
        try:
            lines = [record.getMessage()]
            if record.exc_info:
                lines += logging.Formatter().formatException(record.exc_info).splitlines()
            for line in lines:
                syslog.syslog(priority, escaped(line))
        except Exception:
            self.handleError(record)


def open_log_file(path: str) -> int:
    """A descriptor for the log file at *path*, made if needed. Raises OSError.

    It never waits: not when it is opened, for the reader of a pipe, nor when it is written to.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    return os.open(path, flags, 0o644)
