"""A transaction: its rows leave as they come, and count when EXEC is answered.

WATCH, GET ...     by whoever begins one
MULTI              +OK
XADD ...           +QUEUED       as often as there are rows, sent while the next are made
SET marker ...     +QUEUED
EXEC               *n and the answers, or *-1 where a watched key has changed
"""

from __future__ import annotations

import re
from typing import Protocol

from pyspark_penstock.connect.connection import Connection, command
from pyspark_penstock.connect.retry import passes
from pyspark_penstock.connect.stream_info import state_by
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import SinkError
from pyspark_penstock.names import key

OK, QUEUED, CONFLICT = b"+OK\r\n", b"+QUEUED\r\n", b"*-1\r\n"
TYPES = (b"stream", b"none")
MOST_TRIES = 20  # of a transaction that others come between
ERROR_LINE = re.compile(rb"(?:\A|\r\n)-([^\r\n]*)")  # an id has no line that begins like this


class Rows(Protocol):
    """Rows that are to be written, and the ids that they ask for."""

    @property
    def rows(self) -> int: ...

    @property
    def first_id(self) -> EntryId | None: ...

    @property
    def last_id(self) -> EntryId | None: ...


class PartialSinkError(SinkError):
    """The server ran a transaction and refused single rows of it."""


class Transaction:
    """What is between MULTI and EXEC. Lost with its connection, it has not happened."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._queued = 0
        connection.post(command("MULTI"))

    def is_on(self, connection: Connection) -> bool:
        """Whether it was begun on *connection*."""
        return self._connection is connection

    def add(self, data: bytes | memoryview, commands: int = 1) -> None:
        """Send so many *commands*. Raises OSError."""
        self._connection.post(data)
        self._queued += commands

    def end(self) -> bool:
        """Have it executed; False if a watched key has changed, and nothing was.

        Raises SinkError if the server refused it whole, PartialSinkError, OSError.
        """
        self._connection.post(command("EXEC"))
        answers = self._connection.answers()
        promised = OK + QUEUED * self._queued
        executed = promised + b"*%d\r\n" % self._queued
        if answers.startswith(executed):
            refused = first_error(answers[len(executed) :])
            if refused:
                raise PartialSinkError(f"the server refused rows: {refused}")
        elif answers != promised + CONFLICT:  # not queued, or EXECABORT: nothing was executed
            refuse_errors(answers)
            raise SinkError(f"EXEC was answered by {answers[-100:]!r}")
        return answers != promised + CONFLICT


class StreamCheck:
    """Refuses what the server would refuse row by row, inside of EXEC: another type, old ids.

    Made before MULTI, for it watches the stream if *begin*, what comes first, has ids. *advice*
    is what the refusal of an id says to do. Raises SinkError.
    """

    def __init__(
        self, connection: Connection, stream: str, begin: Rows | None, advice: str
    ) -> None:
        self._stream = stream
        self._advice = advice
        self._last = None
        kind = connection.call("TYPE", key(stream))
        if kind not in TYPES:
            raise SinkError(f"{stream!r} is no stream but of the type {kind.decode()}")
        if begin is not None and begin.first_id is not None:
            connection.call("WATCH", key(stream))
            self._last = state_by(connection, stream).last_id

    def add(self, rows: Rows) -> None:
        """*rows* follow. Raises SinkError."""
        first = rows.first_id
        if first is None and self._last is None:
            return
        if first is None or self._last is None:
            raise SinkError("either all rows have an id or none: given ids would fall behind")
        if first <= self._last:
            raise SinkError(
                f"stream {self._stream!r}: a row's id {first} is not after {self._last}; "
                f"{self._advice}"
            )
        self._last = rows.last_id


def conflict(stream: str) -> str:
    """What to say when transactions are refused again and again."""
    return (
        f"stream {stream!r}: others changed it during every try to write; rows with ids need a "
        "stream that nobody else changes"
    )


def refuse_errors(answers: bytes) -> None:
    """Raises SinkError with the first error in *answers*, OSError if it is one that passes."""
    refused = first_error(answers)
    if refused and passes(refused):
        raise ConnectionError(refused)
    if refused:
        raise SinkError(f"the server refused rows: {refused}")


def first_error(answers: bytes) -> str:
    """The first error in *answers*, which are ids and simple strings; nothing if there is none."""
    if not answers.startswith(b"-") and b"\r\n-" not in answers:
        return ""
    found = ERROR_LINE.search(answers)
    return found[1].decode(errors="replace") if found else ""
