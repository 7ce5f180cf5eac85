"""Plans: which range each task reads. Pure functions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from pyspark_penstock.entry_id import EntryId, between
from pyspark_penstock.read.offsets import FleetOffset, Offset, Streams
from pyspark_penstock.read.positions import Cut, Position

SMALL = 10_000  # entries; so few are read by one task

K = TypeVar("K", bound=Any)  # a name, or several: something that has an order


@dataclass(frozen=True)
class Range:
    """What one task reads: the entries in (after, upto]. *expected* is their number, if known.

    If it is not known, *batch* holds the ends of the task's batch, with their counts if these are
    known; and *removed* is how many entries the stream had lost when the batch was planned. *part*
    counts the stream's ranges in the batch.
    """

    stream: str
    after: EntryId
    upto: EntryId
    expected: int | None = None
    batch: tuple[Cut, Cut] | None = None
    removed: int = 0
    part: int = 0


@dataclass(frozen=True)
class Bundle:
    """The ranges of one task, all of one *server* of the fleet. *reader* tells readers apart."""

    server: str
    ranges: tuple[Range, ...]
    reader: str = ""


class Share(NamedTuple):
    """How much a batch may take of a stream. Bytes are not limited if *bytes* is None."""

    entries: int
    bytes: int | None = None


def tasks(start: FleetOffset, end: FleetOffset) -> list[Bundle]:
    """The tasks of the batch that ends at *end*.

    A stream with the same position in *start* and *end* is not in the batch. Nothing else of
    *start* is used.
    """
    return [
        bundle
        for server, streams in end.servers.items()
        for bundle in bundles(
            server, ranges(start.part(server), streams), end.fill, reader=end.query
        )
    ]


def ranges(start: Offset, streams: Streams) -> list[Range]:
    """The ranges of one server's *streams* in the batch that ends there."""
    return [
        task
        for stream, position in streams.items()
        if position != start.streams.get(stream)
        for task in stream_ranges(stream, position)
    ]


def bundles(server: str, ranges: Iterable[Range], fill: int, reader: str) -> Iterator[Bundle]:
    """Tasks of about *fill* entries: a large range is a task, small ones share one.

    A range of which the number of entries is not known is a task.
    """
    held: list[Range] = []
    entries = 0
    for task in ranges:
        alone = task.expected is None or not fill
        if held and (alone or entries + (task.expected or 0) > fill):
            yield Bundle(server, tuple(held), reader)
            held, entries = [], 0
        held.append(task)
        entries += fill + 1 if alone else task.expected or 0
    if held:
        yield Bundle(server, tuple(held), reader)


def fill(entries: int, parts: int, most: int | None) -> int:
    """How many entries a task gets that reads several streams: for *parts* tasks of all."""
    size = max(SMALL, -(-entries // parts))
    return size if most is None else min(size, most)


def stream_ranges(stream: str, end: Position) -> list[Range]:
    """The tasks of one stream in the batch that ends at *end*.

    Cuts without counts are made only if nothing was ever removed, so *removed* is 0 then.
    """
    if end.begin is None or end.begin.id >= end.id:
        return []
    begin, upto = end.begin, Cut(end.id, end.n)
    uncounted = None if begin.n is None else (begin, upto)
    return [
        Range(stream, a.id, b.id, batch=uncounted, part=part)
        if a.n is None or b.n is None
        else Range(stream, a.id, b.id, expected=b.n - a.n, part=part)
        for part, (a, b) in enumerate(pairwise([begin, *end.cuts, upto]))
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


def shares(backlogs: Mapping[K, int], limit: int, turn: K | None = None) -> dict[K, int]:
    """Divide *limit* entries among streams in proportion to their backlogs, whole.

    Each stream with a backlog gets at least one entry, so that a large one starves no other. If
    there are more streams than entries, they take turns: those after *turn* come first.
    """
    total = sum(backlogs.values())
    if total <= limit:
        return dict(backlogs)
    waiting = [stream for stream, backlog in backlogs.items() if backlog]
    if limit < len(waiting):
        chosen = in_turn(waiting, turn)[:limit]
        return dict.fromkeys(backlogs, 0) | dict.fromkeys(chosen, 1)
    found = dict.fromkeys(backlogs, 0)
    large = sorted(waiting, key=backlogs.__getitem__, reverse=True)
    while backlogs[large[-1]] * limit < total:  # its part would be less than one entry
        found[last := large.pop()] = 1
        limit, total = limit - 1, total - backlogs[last]
    found |= {stream: limit * backlogs[stream] // total for stream in large}
    left = limit - sum(found[stream] for stream in large)
    rests = sorted(large, key=lambda stream: limit * backlogs[stream] % total, reverse=True)
    return found | {stream: found[stream] + 1 for stream in rests[:left]}


def in_turn(streams: Iterable[K], turn: K | None) -> list[K]:
    """The streams in order, those after *turn* first."""
    ordered = sorted(streams)
    behind = 0 if turn is None else bisect_right(ordered, turn)
    return ordered[behind:] + ordered[:behind]


def budgets(backlogs: Mapping[K, int], limit: int) -> dict[K, int]:
    """Divide *limit* bytes among streams in the same way; each gets at least one.

    The sizes of entries are not known, so bytes that one stream leaves over go to no other stream.
    """
    total = max(1, sum(backlogs.values()))
    return {stream: max(1, limit * backlog // total) for stream, backlog in backlogs.items()}
