"""Counting the entries of a batch: where does it end, and where are its cuts?

    known already       from walks before (``walked``)
    XSPLIT of Penstock  exact, without reading an entry
    one XRANGE each     of many streams with small shares, in one round trip
    a walk              page by page (``entry_count``)

What is found beyond the batch is kept for the next ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from pyspark_penstock.connect.links import Links
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import ServerError
from pyspark_penstock.names import key
from pyspark_penstock.read.entry_count import Counted, count_up_to
from pyspark_penstock.read.positions import Cut, Position
from pyspark_penstock.read.scan import Scan
from pyspark_penstock.read.source_options import ReadOptions
from pyspark_penstock.read.walked import Walked

MOST_PARTS = 10_000  # of an XSPLIT: bounds its reply
MOST_ENTRIES = 100_000  # that one round trip may bring for small shares


class Wanted(NamedTuple):
    """The share of a stream that is to be counted, from *begin* towards *head*.

    *most* is None for all of it; *removed* is what the stream has lost.
    """

    begin: Position
    head: Position
    most: int | None
    most_bytes: int | None
    step: int
    removed: int


class Counting:
    """Counts entries of one server."""

    def __init__(self, links: Links, options: ReadOptions, walked: Walked) -> None:
        self._links = links
        self._options = options
        self._walked = walked
        self._splits = True  # whether the server has XSPLIT, as far as is known

    def count(self, wanted: Mapping[str, Wanted]) -> dict[str, Counted]:
        """Where the shares of these streams end."""
        found = self._small({s: each for s, each in wanted.items() if self._is_small(each)})
        for stream, each in wanted.items():
            if stream not in found:
                found[stream] = self._one(stream, each)
                end = Position(found[stream].id, each.begin.n + found[stream].entries)
                self._walked.passed(stream, end)
        return found

    def _is_small(self, each: Wanted) -> bool:
        """Whether the share is one page, and one task."""
        most = each.most
        return (
            most is not None
            and each.most_bytes is None
            and most <= min(self._options.fetch_size, each.step)
        )

    def _small(self, wanted: Mapping[str, Wanted]) -> dict[str, Counted]:
        """Count one page of each stream, many streams in a round trip."""
        found: dict[str, Counted] = {}
        streams = list(wanted)
        while streams:
            sizes = accumulate(wanted[stream].most or 0 for stream in streams)
            taken = max(1, sum(size <= MOST_ENTRIES for size in sizes))
            some, streams = streams[:taken], streams[taken:]
            replies = self._links.ask([(s, page_command(s, wanted[s])) for s in some])
            for stream, reply in zip(some, replies, strict=True):
                if isinstance(reply, ServerError):
                    raise ServerError(f"stream {stream!r}: {reply}")
                counted = page_counted(reply, wanted[stream])
                if counted is not None:
                    found[stream] = counted
        return found

    def _one(self, stream: str, each: Wanted) -> Counted:
        if each.most_bytes is not None:
            return self._walk(stream, each, each.begin.id, each.most, Cut(each.begin.id, 0))
        known = [] if each.most is None else self._known(stream, each, each.most)
        if not known and self._splits:
            ends = self._split(stream, each)
            if each.most is None and ends and ends[-1].id == each.head.id:
                return Counted(
                    ends[-1].id, ends[-1].n or 0, tuple(spaced(ends, each.step)), all=True
                )
            known = [] if each.most is None else self._known(stream, each, each.most)
        if known and each.most is not None:
            return self._from(stream, each, each.most, known)
        return self._walk(stream, each, each.begin.id, each.most, Cut(each.begin.id, 0))

    def _known(self, stream: str, each: Wanted, most: int) -> list[Cut]:
        """The marks within the share, unless they are too far apart for its tasks."""
        marks = self._walked.ahead(stream, each.begin, most, each.removed)
        counts = [0, *(mark.n or 0 for mark in marks)]
        return marks if all(b - a <= each.step for a, b in pairwise(counts)) else []

    def _from(self, stream: str, each: Wanted, most: int, known: list[Cut]) -> Counted:
        """Count on from the marks that are known; often that is all."""
        last = known[-1]
        count = last.n or 0
        cuts = tuple(spaced(known, each.step))
        missing = most - count
        if not missing:
            return Counted(last.id, count, cuts, all=last.id == each.head.id)
        more = self._walk(stream, each, last.id, missing, last)
        rest = tuple(Cut(mark.id, count + (mark.n or 0)) for mark in more.marks)
        behind = (last,) if more.entries else ()
        return Counted(more.id, count + more.entries, (*cuts, *behind, *rest), more.all)

    def _walk(
        self, stream: str, each: Wanted, after: EntryId, most: int | None, base: Cut
    ) -> Counted:
        """Read page by page from *after*, which is *base* of the share."""
        pages: list[Cut] = []
        options = self._options
        scan = Scan(
            options.server, stream, after, each.head.id, options.fetch_size,
            wait=options.fail_on_data_loss,
        )  # fmt: skip
        counted = count_up_to(
            scan, most=most, most_bytes=each.most_bytes, step=each.step, pages=pages
        )
        marks = [Cut(page.id, (base.n or 0) + (page.n or 0)) for page in pages]
        if each.most_bytes is None:
            self._walked.learn(stream, each.begin, marks, each.removed)
        return counted

    def _split(self, stream: str, each: Wanted) -> list[Cut]:
        """Have the server divide all that waits into steps; their ends, which are kept, too."""
        parts = -(-(each.head.n - each.begin.n) // each.step)
        if not 1 < parts <= MOST_PARTS:
            return []
        words = ("XSPLIT", key(stream), parts, f"({each.begin.id}", str(each.head.id))
        (reply,) = self._links.ask([(stream, words)])
        if isinstance(reply, ServerError):
            self._splits = False
            return []
        counts = accumulate(int(size) for _, _, size in reply)
        ends = [EntryId.parse(last) for _, last, _ in reply]
        marks = [Cut(end, n) for end, n in zip(ends, counts, strict=True)]
        self._walked.learn(stream, each.begin, marks, each.removed)
        return marks


def page_command(stream: str, each: Wanted) -> tuple[Any, ...]:
    """The command that reads a share of one page."""
    return ("XRANGE", key(stream), f"({each.begin.id}", str(each.head.id), "COUNT", each.most)


def page_counted(reply: list[Any], each: Wanted) -> Counted | None:
    """What the page says; None if it is shorter than the share: then a walk asks why."""
    if not reply or len(reply) != each.most:
        return None
    last = EntryId.parse(reply[-1][0])
    return Counted(last, len(reply), (), all=last == each.head.id)


def spaced(marks: list[Cut], step: int) -> list[Cut]:
    """The marks at which tasks begin, so that none has more than *step* entries."""
    cuts: list[Cut] = []
    begin = 0
    for mark, following in pairwise(marks):
        if (following.n or 0) - begin > step:
            cuts.append(mark)
            begin = mark.n or 0
    return cuts
