"""Numbers, durations and tables as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark_penstock.names import readable

SIZES = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))
UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000))


def number(value: int | None) -> str:
    """A number with thousands separators; ``?`` for None."""
    return "?" if value is None else f"{value:,}"


def counted(how_many: int, what: str) -> str:
    """A number of things."""
    return f"{how_many:,} {what}{'' if how_many == 1 else 's'}"


def duration(ms: int) -> str:
    """A duration in the largest unit of which there are at least two, or in milliseconds."""
    for unit, size in UNITS:
        if ms >= 2 * size:
            return f"{ms // size} {unit}"
    return f"{ms} ms"


def size(number: float) -> str:
    """A number of bytes with three digits and a unit."""
    for unit, least in SIZES:
        if number >= least:
            return f"{number / least:.3g} {unit}"
    return f"{number:.0f} B"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table with aligned columns. Columns of numbers are aligned to the right."""
    lines = [[readable(text) for text in line] for line in (columns, *rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    right = [bool(rows) and all(is_number(row[at]) for row in rows) for at in range(len(columns))]
    for line in lines:
        cells = (
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(line, widths, right, strict=True)
        )
        yield "  ".join(cells).rstrip()


def is_number(text: str) -> bool:
    """Whether a cell holds a number, with or without a unit, or the sign for an unknown one."""
    return text in {"", "?"} or text.partition(" ")[0].replace(",", "").replace(".", "").isdecimal()
