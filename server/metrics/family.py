"""A family of metrics: its name, its type, its labels, what it means; and tables of them.

    Table                       rows: what is measured, each with its labels
      Column  (family, read)    what of it: its value; None is left out, and is never 0

A table is read column by column, since all samples of a family stand together on the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar

S = TypeVar("S")  # what a row is about
W = TypeVar("W")  # where the rows are found


class Kind(Enum):
    """How a value moves; the words of both formats."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    SUMMARY = "summary"


class Family(NamedTuple):
    """One metric. *unit* is of a value; the name of a counter ends with ``_total``."""

    name: str
    kind: Kind
    unit: str
    meaning: str
    labels: tuple[str, ...] = ()


class Column(Generic[S]):
    """A family, and how its value is read from a row's subject; None: it is not known.

    *suffix* is the end of the sample's *name*: a summary has a sum and a count.
    """

    __slots__ = ("family", "name", "read")

    def __init__(self, family: Family, read: Callable[[S], float | None], suffix: str = "") -> None:
        self.family = family
        self.read = read
        self.name = family.name + suffix


class Row(NamedTuple, Generic[S]):
    """A subject, and the values of its labels in the order of the columns' labels."""

    labels: tuple[str, ...]
    subject: S


class Table(Generic[W, S]):
    """Columns of the same labels, and how their rows are found."""

    def __init__(self, columns: Iterable[Column[S]], rows: Callable[[W], Iterable[Row[S]]]) -> None:
        self.columns = tuple(columns)
        self.rows = rows

    @property
    def families(self) -> tuple[Family, ...]:
        """What docs/metrics.md lists."""
        return tuple(dict.fromkeys(column.family for column in self.columns))


class Readings(Generic[S]):
    """The values of some columns, read as soon as a row is found.

    Only texts and numbers are kept, of which the collector of garbage knows nothing: it would walk
    over an object for each of many rows, and hold the server up.
    """

    def __init__(self, columns: Iterable[Column[S]]) -> None:
        self.columns = tuple(columns)
        self.labels: list[str] = []  # the values of each row's, as labels_text() makes them
        self._values: list[list[float | None]] = [[] for _ in self.columns]  # by column

    def add(self, labels: str, subject: S) -> None:
        """Read all columns of one row."""
        self.labels.append(labels)
        for column, values in zip(self.columns, self._values, strict=True):
            values.append(column.read(subject))

    def of_columns(self) -> Iterator[tuple[Column[S], list[float | None]]]:
        """Each column, and its values by row."""
        return zip(self.columns, self._values, strict=True)


def column(
    name: str,
    unit: str,
    meaning: str,
    read: Callable[[Any], float | None],
    labels: tuple[str, ...] = (),
) -> Column[Any]:
    """A counter, if that is what the end of its name says; else a gauge."""
    kind = Kind.COUNTER if name.endswith("_total") else Kind.GAUGE
    return Column(Family(name, kind, unit, meaning, labels), read)


def alone(find: Callable[[W], S | None]) -> Callable[[W], Iterable[Row[S]]]:
    """The rows of a table that has one, without labels; none if *find* finds None."""

    def rows(world: W) -> Iterable[Row[S]]:
        found = find(world)
        return () if found is None else (Row((), found),)

    return rows
