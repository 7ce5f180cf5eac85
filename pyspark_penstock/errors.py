"""What can go wrong, by what the user has to do about it.

Spark hands an exception of a Python worker on as text. The first word of the text, which is the
name of the class, is what a caller finds it by: see ``kind_of``.
"""

from __future__ import annotations


class PenstockError(Exception):
    """Any refusal of the data source; the text says what to do."""


class OptionError(PenstockError):
    """An option is unknown, malformed, or contradicts another."""


class DataLossError(PenstockError):
    """Entries were gone before they were read."""


class CheckpointError(PenstockError):
    """The checkpoint's positions are not of this query's streams, or not of this server's data."""


class ValueMismatchError(PenstockError):
    """A field is not what the schema says, under ``mode=FAILFAST`` or where it says NOT NULL."""


class SinkError(PenstockError):
    """Rows that cannot be written as entries, or that the server refused."""


class ServerError(PenstockError):
    """The server could not be reached, or is too old."""


KINDS = (
    OptionError,
    DataLossError,
    CheckpointError,
    ValueMismatchError,
    SinkError,
    ServerError,
)


def kind_of(text: str) -> type[PenstockError] | None:
    """The class of the error that *text*, some Spark exception's message, reports."""
    found = [(text.find(f"{kind.__name__}: "), kind) for kind in KINDS]
    return min(((at, kind) for at, kind in found if at >= 0), default=(0, None), key=first)[1]


def first(pair: tuple[int, type[PenstockError] | None]) -> int:
    """The place in the text, which orders what was found."""
    return pair[0]
