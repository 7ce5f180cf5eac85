"""The lines of the server log, in the forms that Valkey has for them.

    legacy   1234:M 22 Nov 2026 06:15:23.042 * Ready to accept connections tcp
             pid  |  time                    . debug   - verbose   * notice   # warning
                  role: a master
    logfmt   pid=1234 role=primary timestamp="..." level=notice message="Ready to accept ..."
    json     {"pid":1234,"role":"primary","timestamp":"...","level":"notice","message":"Ready ..."}

The time is the local one, to the millisecond:

    legacy         22 Nov 2026 06:15:23.042
    iso8601        2026-11-22T06:15:23.042+00:00
    milliseconds   1795328123042                      unix time

What a client has sent may be in a message. It cannot make a line of its own, nor reach a terminal:
line breaks and other control characters are escaped. (Valkey and Redis write them as they are; in
logfmt Valkey makes line breaks blanks and double quotes single ones, and so does this server.)

Source: Valkey 9.1, log-format and log-timestamp-format in valkey.conf, and what it writes
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable

from server.config.parameters import Config

VERBOSE = logging.DEBUG + 5
LOG_LEVELS = {
    "debug": logging.DEBUG,
    "verbose": VERBOSE,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "nothing": logging.CRITICAL + 1,
}
# From this level upwards: the mark of the legacy form, and the word of the others.
MARKS = (
    (logging.WARNING, "#", "warning"),
    (logging.INFO, "*", "notice"),
    (VERBOSE, "-", "info"),
    (0, ".", "debug"),
)

_CONTROLS = [*range(0x09), *range(0x0A, 0x20), *range(0x7F, 0xA0)]  # all but the tab
_ESCAPED = {code: f"\\x{code:02x}" for code in _CONTROLS} | {0x0A: "\\n", 0x0D: "\\r"}
_ESCAPED_LOGFMT = {**_ESCAPED, 0x0A: " ", 0x0D: " ", ord('"'): "'"}


class LineFormatter(logging.Formatter):
    """A record as a line without its end, in the form that *config* asks for at that moment.

    In the legacy form a traceback goes below the line, indented; in the others it is a part of the
    message.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self._config = config

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        traceback = self.formatException(record.exc_info) if record.exc_info else ""
        timestamp = TIMESTAMPS[self._config.log_timestamp_format](record)
        return _FORMS[self._config.log_format](record.levelno, timestamp, message, traceback)


def escaped(text: str) -> str:
    """*text* on one line, without control characters, and with nothing that UTF-8 cannot have."""
    return text.translate(_ESCAPED).encode("utf-8", "backslashreplace").decode()


# ---------------------------------------------------------------------- forms


def _legacy(level: int, timestamp: str, message: str, traceback: str) -> str:
    mark = next(mark for least, mark, _word in MARKS if level >= least)
    below = [f"  {line.translate(_ESCAPED)}" for line in traceback.splitlines()]
    line = f"{os.getpid()}:M {timestamp} {mark} {message.translate(_ESCAPED)}"
    return "\n".join([line, *below])


def _logfmt(level: int, timestamp: str, message: str, traceback: str) -> str:
    text = _joined(message, traceback).translate(_ESCAPED_LOGFMT)
    return (
        f'pid={os.getpid()} role=primary timestamp="{timestamp}" level={_word(level)}'
        f' message="{text}"'
    )


def _json(level: int, timestamp: str, message: str, traceback: str) -> str:
    import json  # noqa: PLC0415  (no start needs it, and it takes its time)

    fields = {
        "pid": os.getpid(), "role": "primary", "timestamp": timestamp, "level": _word(level),
        "message": _joined(message, traceback),
    }  # fmt: skip
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def _joined(message: str, traceback: str) -> str:
    return f"{message}\n{traceback}" if traceback else message


def _word(level: int) -> str:
    return next(word for least, _mark, word in MARKS if level >= least)


_FORMS: dict[str, Callable[[int, str, str, str], str]] = {
    "legacy": _legacy,
    "logfmt": _logfmt,
    "json": _json,
}

# ---------------------------------------------------------------------- times


def _legacy_time(record: logging.LogRecord) -> str:
    when = time.strftime("%d %b %Y %H:%M:%S", time.localtime(record.created))
    return f"{when}.{int(record.msecs):03d}"


def _iso8601(record: logging.LogRecord) -> str:
    local = time.localtime(record.created)
    zone = time.strftime("%z", local)
    when = time.strftime("%Y-%m-%dT%H:%M:%S", local)
    return f"{when}.{int(record.msecs):03d}{zone[:3]}:{zone[3:]}"


def _milliseconds(record: logging.LogRecord) -> str:
    return f"{int(record.created)}{int(record.msecs):03d}"


TIMESTAMPS: dict[str, Callable[[logging.LogRecord], str]] = {
    "legacy": _legacy_time,
    "iso8601": _iso8601,
    "milliseconds": _milliseconds,
}
