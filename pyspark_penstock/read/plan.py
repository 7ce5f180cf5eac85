"""Plans: which ranges the tasks read. Pure functions of what they are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from pyspark_penstock.entry_id import EntryId, between
from pyspark_penstock.read.offsets import Cut, Offset, Position

SMALL = 10_000  # entries that are not worth two tasks


@dataclass(frozen=True)
class Range:
    """What one task reads: entries in (after, upto]; *expected* many, if that is known.

    Where it is not, *batch* says where the batch begins and ends that the task is one of, with
    the counts there, if they are known; and *removed* how many entries the stream had lost by
    the time of the plan.
    """

    stream: str
    after: EntryId
    upto: EntryId
    expected: int | None = None
    batch: tuple[Cut, Cut] | None = None
    removed: int = 0


class Share(NamedTuple):
    """What a batch may take of a stream; without *bytes* these are not counted."""

    entries: int
    bytes: int | None = None


def ranges(start: Offset, end: Offset) -> list[Range]:
    """The tasks of the batch that ends at *end*.

    A stream that stands in both offsets alike is not in the batch. Otherwise *start* has no say.
    """
    return [
        task
        for stream, position in end.streams.items()
        if position != start.streams.get(stream)
        for task in stream_ranges(stream, position)
    ]


def stream_ranges(stream: str, end: Position) -> list[Range]:
    """The tasks for one stream's part of the batch that ends at *end*.

    Cuts without counts are made where nothing was ever removed: *removed* is 0 then.
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
    """Where to cut a range of about *entries* into at most *parts* tasks of equal time."""
    parts = min(parts, -(-entries // SMALL))
    return tuple(Cut(place, None) for place in between(after, upto, parts)) if parts > 1 else ()


def step(entries: int, parts: int, most: int | None) -> int:
    """How many entries a task gets, where they are counted: *parts* tasks, of *most* entries."""
    parts = min(parts, -(-entries // SMALL))
    size = max(1, -(-entries // max(1, parts)))
    return size if most is None else min(size, most)


def shares(backlogs: Mapping[str, int], limit: int) -> dict[str, int]:
    """*limit* entries, divided among streams in proportion to their backlogs.

    Each stream with a backlog gets one entry at least, so that none starves behind a large one.
    """
    total = sum(backlogs.values())
    if total <= limit:
        return dict(backlogs)
    return {
        stream: min(backlog, max(1, limit * backlog // total)) if backlog else 0
        for stream, backlog in backlogs.items()
    }


def budgets(backlogs: Mapping[str, int], limit: int) -> dict[str, int]:
    """*limit* bytes, divided likewise: each stream gets one at least.

    How large the entries of a stream are is not known, so what it leaves no other one gets.
    """
    total = max(1, sum(backlogs.values()))
    return {stream: max(1, limit * backlog // total) for stream, backlog in backlogs.items()}
