"""The columns of the tables: what a cell says, and what a table is sorted by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.top import cells
from penstock.top.board import Row

NAME_MIN, NAME_USUAL, NAME_MAX = 10, 24, 60
TROUBLE_MIN = 24


@dataclass(frozen=True, slots=True)
class Column:
    """One column. *needs*: the narrower the terminal, the fewer; 0 is never left out."""

    title: str
    width: int  # 0: as wide as its cells ask for, within bounds
    cell: Callable[[Row], str]
    key: Callable[[Row], Any] | None = None  # None: nothing to sort by
    is_number: bool = True
    needs: int = 0


def _dead(row: Row) -> str:
    return cells.count(row.dead) if row.has_dead else ""


def _lag(row: Row) -> str:
    has_none = row.group is None and row.stream.groups == ()
    return "" if has_none else cells.count(row.lag)


def _words(row: Row) -> str:
    return ", ".join(row.trouble.words)


STREAM = Column("stream", 0, lambda row: row.name, lambda row: row.stream.key, is_number=False)
GROUP = Column("group", 0, lambda row: row.group_name, lambda row: row.key[1], is_number=False)
RATE = Column("rate/s", 8, lambda row: cells.rate(row.rate), lambda row: row.rate, needs=1)
SPARK = Column("", cells.SPARK, lambda row: cells.spark(row.rates), needs=5)
LENGTH = Column(
    "length", 10, lambda row: cells.count(row.stream.length), lambda row: row.stream.length
)
BYTES = Column(
    "bytes", 7, lambda row: cells.octets(row.stream.octets), lambda row: row.stream.octets, needs=3
)
GROUPS = Column(
    "groups", 6,
    lambda row: cells.count(None if row.stream.groups is None else len(row.stream.groups)),
    lambda row: len(row.stream.groups or ()), needs=4,
)  # fmt: skip
CONSUMERS = Column(
    "cons", 6, lambda row: cells.count(row.consumers), lambda row: row.consumers, needs=4
)
LAG = Column("lag", 10, _lag, lambda row: row.lag)
PENDING = Column("pending", 8, lambda row: cells.count(row.pending), lambda row: row.pending)
OLDEST = Column(
    "oldest", 8, lambda row: cells.age(row.oldest_ms, row.pending), lambda row: row.oldest_ms
)
DEAD = Column("dead", 6, _dead, lambda row: row.dead, needs=1)
SCHEDULED = Column(
    "sched", 6, lambda row: cells.count(row.stream.scheduled), lambda row: row.stream.scheduled,
    needs=2,
)  # fmt: skip
AGAIN = Column(
    "again", 7, lambda row: cells.count(row.group.redelivered if row.group else None),
    lambda row: row.group.redelivered if row.group else None, needs=3,
)  # fmt: skip
LAST = Column(
    "last delivered", 20, lambda row: row.group.last_delivered_id if row.group else "", needs=5,
    is_number=False,
)  # fmt: skip
TROUBLE = Column("trouble", 0, _words, lambda row: row.trouble.points, is_number=False)

OF_STREAMS = (
    STREAM, RATE, SPARK, LENGTH, BYTES, GROUPS, LAG, PENDING, OLDEST, DEAD, SCHEDULED, TROUBLE,
)  # fmt: skip
OF_GROUPS = (
    STREAM, GROUP, CONSUMERS, LAG, PENDING, OLDEST, AGAIN, DEAD, LAST, TROUBLE,
)  # fmt: skip
OF_ONE_STREAM = OF_GROUPS[1:]


def sortable(columns: Sequence[Column]) -> list[Column]:
    """Those that a table may be sorted by; trouble is the first."""
    return [TROUBLE, *(column for column in columns if column.key and column is not TROUBLE)]


def in_order(rows: Iterable[Row], column: Column, is_reversed: bool = False) -> list[Row]:
    """Sorted: names from a to z, numbers from the largest; what is unknown comes last.

    Equal rows stand by trouble, then by lag, then by name, whichever way the rest goes.
    """
    ordered = sorted(rows, key=_by_trouble)
    if column is TROUBLE:
        return ordered[::-1] if is_reversed else ordered
    assert column.key is not None
    key = column.key
    known = [row for row in ordered if key(row) is not None]
    unknown = [row for row in ordered if key(row) is None]
    largest_first = column.is_number != is_reversed
    known.sort(key=key, reverse=largest_first)
    return known + unknown


def _by_trouble(row: Row) -> tuple[int, int, bytes, bytes]:
    lag = row.lag
    return -row.trouble.points, 1 if lag is None else -lag, *row.key


def matching(rows: Iterable[Row], wanted: str) -> list[Row]:
    """Those in whose names *wanted* stands; upper and lower case are the same."""
    if not wanted:
        return list(rows)
    folded = wanted.casefold()
    return [
        row for row in rows if folded in row.name.casefold() or folded in row.group_name.casefold()
    ]


def fitting(columns: Sequence[Column], rows: Sequence[Row], width: int) -> list[tuple[Column, int]]:
    """The columns that *width* has room for, with their own widths.

    The least needed ones are left out first, so that names of usual length are whole. The names
    take what they need, within bounds; the words of trouble have the rest.
    """
    chosen = list(columns)
    names = [column for column in columns if not column.width and column is not TROUBLE]
    asked = [max((len(column.cell(row)) for row in rows), default=0) for column in names]
    least = sum(max(NAME_MIN, min(NAME_USUAL, each)) for each in asked)
    least += TROUBLE_MIN if TROUBLE in columns else 0
    while True:
        room = width - sum(column.width + 2 for column in chosen) + 2
        worst = max(chosen, key=lambda column: column.needs, default=None)
        if room >= least or worst is None or not worst.needs:
            break
        chosen.remove(worst)
    sizes = {column.title: column.width for column in chosen}
    left = max(room, NAME_MIN * len(names)) - (TROUBLE_MIN if TROUBLE in chosen else 0)
    for at, (column, each) in enumerate(zip(names, asked, strict=True)):
        share = max(NAME_MIN, left // (len(names) - at))
        sizes[column.title] = min(max(NAME_MIN, each), share, NAME_MAX)
        left -= sizes[column.title]
    if TROUBLE in chosen:
        sizes[TROUBLE.title] = max(TROUBLE_MIN, left + TROUBLE_MIN)
    return [(column, sizes[column.title]) for column in chosen]


def padded(cell: str, column: Column, width: int) -> str:
    """The cell in its column; what is too long is cut, and shows it."""
    if len(cell) > width:
        cell = cell[: width - 1] + "…"
    return cell.rjust(width) if column.is_number else cell.ljust(width)
