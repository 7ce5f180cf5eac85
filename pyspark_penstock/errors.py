"""The errors of the data source: a class for each thing that a user has to do about one.

Spark passes an exception of a Python worker on as text. The text begins with the name of the class;
``kind_of`` finds the class by it.
"""

from __future__ import annotations


class PenstockError(Exception):
    """The base class. The text says what to do."""


class OptionError(PenstockError):
    """An option is unknown, malformed, or contradicts another."""


class DataLossError(PenstockError):
    """Entries were removed before they were read."""


class CheckpointError(PenstockError):
    """The checkpoint belongs to other streams, or to other data than the server has."""


class ValueMismatchError(PenstockError):
    """A field does not fit the schema, with ``mode=FAILFAST`` or in a column that is NOT NULL."""


class SinkError(PenstockError):
    """Rows cannot be written as entries, or the server refused them."""


class ServerError(PenstockError):
    """The server could not be reached, refused a command, or is too old."""


class DumpError(PenstockError):
    """A file cannot be read as a dump: it is damaged, or of a version that is not known here."""


KINDS = (
    OptionError,
    DataLossError,
    CheckpointError,
    ValueMismatchError,
    SinkError,
    ServerError,
    DumpError,
)


def kind_of(text: str) -> type[PenstockError] | None:
    """The class of our error that the message *text* of a Spark exception reports, if any."""
    found = [(text.find(f"{kind.__name__}: "), kind) for kind in KINDS]
    return min(
        ((at, kind) for at, kind in found if at >= 0), default=(0, None), key=lambda pair: pair[0]
    )[1]
