"""What walks along streams have found beyond the batch for which they were made.

To find the end of a batch, entries are counted; to find the place at which a new query starts, all
entries after it are. The ends of the pages with their counts are kept, so that the next batches
know where they end without walking there again. A server's removals make all of that worthless.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.read.positions import Cut, Position

MOST_MARKS = 100_000  # of all streams: what a driver keeps must not grow with the streams' lengths


class Walked:
    """Marks after the positions of streams: ids, each with how many entries were added up to it.

    They hold for as long as the stream has lost nothing more.
    """

    def __init__(self) -> None:
        self._marks: dict[str, tuple[int, list[tuple[int, EntryId]]]] = {}
        self._held = 0

    def learn(self, stream: str, begin: Position, marks: Iterable[Cut], removed: int) -> None:
        """Keep *marks*, whose counts begin at *begin*; *removed* is what the stream has lost."""
        then, known = self._marks.get(stream, (removed, []))
        if then != removed:
            self.forget(stream)
            known = []
        last = known[-1][0] if known else -1
        found = [(begin.n + (mark.n or 0), mark.id) for mark in marks]
        new = [mark for mark in found if mark[0] > last]
        if new and self._held + len(new) <= MOST_MARKS:
            self._marks[stream] = removed, known + new
            self._held += len(new)

    def forget(self, stream: str) -> None:
        """Drop what is known of a stream."""
        _, found = self._marks.pop(stream, (0, []))
        self._held -= len(found)

    def ahead(self, stream: str, position: Position, most: int, removed: int) -> list[Cut]:
        """The marks after *position*, of at most *most* entries; their counts begin there."""
        then, found = self._marks.get(stream, (removed, []))
        if then != removed:
            self.forget(stream)
            return []
        first = bisect_right(found, position.n, key=lambda mark: mark[0])
        last = bisect_right(found, position.n + most, key=lambda mark: mark[0])
        return [Cut(place, n - position.n) for n, place in found[first:last]]

    def passed(self, stream: str, position: Position) -> None:
        """Drop the marks up to *position*: its batch is planned."""
        if stream in self._marks:
            removed, found = self._marks.pop(stream)
            kept = found[bisect_left(found, position.n + 1, key=lambda mark: mark[0]) :]
            self._held -= len(found) - len(kept)
            if kept:
                self._marks[stream] = removed, kept
