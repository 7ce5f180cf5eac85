"""Plans: which range each task reads. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from pyspark_penstock.entry_id import EntryId, between
from pyspark_penstock.read.offsets import Offset
from pyspark_penstock.read.positions import Cut, Position

SMALL = 10_000  # entries; so few are read by one task


@dataclass(frozen=True)
class Range:
    """What one task reads: the entries in (after, upto]. *expected* is their number, if known.

    If it is not known, *batch* holds the ends of the task's batch, with their counts if these are
    known; and *removed* is how many entries the stream had lost when the batch was planned.
    """

    stream: str
    after: EntryId
    upto: EntryId
    expected: int | None = None
    batch: tuple[Cut, Cut] | None = None
    removed: int = 0


class Share(NamedTuple):
    """How much a batch may take of a stream. Bytes are not limited if *bytes* is None."""

    entries: int
    bytes: int | None = None


def ranges(start: Offset, end: Offset) -> list[Range]:
    """The tasks of the batch that ends at *end*.

    A stream with the same position in *start* and *end* is not in the batch. Nothing else of
    *start* is used.
    """
    return [
        task
        for stream, position in end.streams.items()
        if position != start.streams.get(stream)
        for task in stream_ranges(stream, position)
    ]


def stream_ranges(stream: str, end: Position) -> list[Range]:
    """The tasks of one stream in the batch that ends at *end*.

    Cuts without counts are made only if nothing was ever removed, so *removed* is 0 then.
    """
    if end.begin is None or end.begin.id >= end.id:
        return []
    begin, upto = end.begin, Cut(end.id, end.n)
    uncounted = None if begin.n is None else (begin, upto)
    return [
        Range(stream, a.id, b.id, batch=uncounted)
        if a.n is None or b.n is None
        else Range(stream, a.id, b.id, expected=b.n - a.n)
        for a, b in pairwise([begin, *end.cuts, upto])
    ]


def time_cuts(after: EntryId, upto: EntryId, entries: int, parts: int) -> tuple[Cut, ...]:
    """Cuts of a range of about *entries* into at most *parts* tasks of equal time."""
    parts = min(parts, -(-entries // SMALL))
    return tuple(Cut(place, None) for place in between(after, upto, parts)) if parts > 1 else ()


def step(entries: int, parts: int, most: int | None) -> int:
    """How many entries a counted task gets: for *parts* tasks, but not above *most*."""
    parts = min(parts, -(-entries // SMALL))
    size = max(1, -(-entries // max(1, parts)))
    return size if most is None else min(size, most)


def shares(backlogs: Mapping[str, int], limit: int) -> dict[str, int]:
    """Divide *limit* entries among streams in proportion to their backlogs.

    Each stream with a backlog gets at least one entry, so that none starves behind a large one.
    """
    total = sum(backlogs.values())
    if total <= limit:
        return dict(backlogs)
    return {
        stream: min(backlog, max(1, limit * backlog // total)) if backlog else 0
        for stream, backlog in backlogs.items()
    }


def budgets(backlogs: Mapping[str, int], limit: int) -> dict[str, int]:
    """Divide *limit* bytes among streams in the same way; each gets at least one.

    The sizes of entries are not known, so bytes that one stream leaves over go to no other stream.
    """
    total = max(1, sum(backlogs.values()))
    return {stream: max(1, limit * backlog // total) for stream, backlog in backlogs.items()}
