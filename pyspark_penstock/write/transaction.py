"""A transaction whose rows are sent as they come, and take effect with EXEC.

WATCH, GET ...     by the caller
MULTI              +OK
XADD ...           +QUEUED       one for each row; sent while the next rows are made
SET marker ...     +QUEUED
EXEC               *n and the replies, or *-1 if a watched key has changed
"""

from __future__ import annotations

import re
from typing import Protocol

from pyspark_penstock.connect.connection import Connection, command, refusal
from pyspark_penstock.connect.retry import ABORTED
from pyspark_penstock.connect.stream_info import state_by
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import SinkError
from pyspark_penstock.names import key

OK, QUEUED, CONFLICT = b"+OK\r\n", b"+QUEUED\r\n", b"*-1\r\n"
TYPES = (b"stream", b"none")
MOST_TRIES = 20  # of a transaction that other clients' changes make fail
ERROR_LINE = re.compile(rb"(?:\A|\r\n)-([^\r\n]*)")  # an id has no line that begins like this


class Rows(Protocol):
    """Rows to write, and the ids that they ask for."""

    @property
    def rows(self) -> int: ...

    @property
    def first_id(self) -> EntryId | None: ...

    @property
    def last_id(self) -> EntryId | None: ...


class PartialSinkError(SinkError):
    """The server executed a transaction and refused single rows of it."""


class Transaction:
    """An open transaction. If the connection is lost before EXEC, nothing was written."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._queued = 0
        connection.post(command("MULTI"))

    def is_on(self, connection: Connection) -> bool:
        """Whether it was opened on *connection*."""
        return self._connection is connection

    def add(self, data: bytes | memoryview, commands: int = 1) -> None:
        """Send *data*, which holds so many *commands*. Raises OSError."""
        self._connection.post(data)
        self._queued += commands

    def end(self) -> bool:
        """Send EXEC; False if a watched key has changed, so that nothing was written.

        Raises PartialSinkError; SinkError if the server refused all of it; OSError.
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
    """Checks rows before they are sent: inside EXEC, the server would refuse them one by one.

    It must be created before MULTI: if *begin*, the first rows, have ids, it watches the stream.
    *advice* is for errors about ids. Raises SinkError if the key is not a stream.
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
        """Check the next rows. Raises SinkError."""
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
    """The error text for a stream that changes during every attempt."""
    return (
        f"stream {stream!r}: others changed it during every try to write; rows with ids need a "
        "stream that nobody else changes"
    )


def refuse_errors(answers: bytes) -> None:
    """Raises SinkError with the first error in *answers*; OSError, if a retry may help."""
    refused = first_error(answers)
    if not refused:
        return
    problem = refusal(refused.removeprefix(ABORTED))
    if isinstance(problem, OSError):
        raise problem
    raise SinkError(f"the server refused rows: {refused}")


def first_error(answers: bytes) -> str:
    """The first error in replies that are otherwise ids and simple strings, or an empty text."""
    if not answers.startswith(b"-") and b"\r\n-" not in answers:
        return ""
    found = ERROR_LINE.search(answers)
    return found[1].decode(errors="replace") if found else ""
