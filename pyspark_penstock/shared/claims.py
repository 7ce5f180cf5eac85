"""Claims: how the driver claims the entries of a batch, and acknowledges them.

    XPENDING                 says what is pending now, even if earlier replies were lost
    XAUTOCLAIM ... JUSTID    takes over entries that were pending for too long
    XREADGROUP ... >         takes new entries; their content is dropped unread
    XACK                     after the batch

A batch has the entries that its consumer has already, then stale entries, then new ones. Each step
can be repeated after a lost connection, since it begins with what is pending.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from pyspark_penstock.connect.connection import Connection, pairs
from pyspark_penstock.connect.links import Links
from pyspark_penstock.entry_id import FIRST, LAST, EntryId
from pyspark_penstock.errors import CheckpointError, ServerError
from pyspark_penstock.figures import ENTRIES_REDELIVERED, Sums
from pyspark_penstock.names import key, text
from pyspark_penstock.read import plan
from pyspark_penstock.read.offsets import ONLY
from pyspark_penstock.read.positions import Cut
from pyspark_penstock.shared.group_offsets import Claim, Place
from pyspark_penstock.shared.group_queue import GroupQueue

logger = logging.getLogger(__name__)

PAGE_SIZE = 2_000
NONE_LEFT = b"0-0"
NOTHING = b"*-1\r\n"
MISSING = ("NOGROUP", "ERR no such key")


def pending(connection: Connection, place: Place) -> int:
    """How many entries are pending at *place*; 0 if the group or the stream does not exist."""
    return consumers(connection, place).get(place.consumer, 0)


def consumers(connection: Connection, place: Place) -> dict[str, int]:
    """How many entries each consumer of the group has pending."""
    try:
        replies = connection.call("XINFO", "CONSUMERS", place.stream, place.group)
    except ServerError as refused:
        if str(refused).startswith(MISSING):
            return {}
        raise
    found = map(pairs, replies)
    return {text(consumer["name"]): consumer["pending"] for consumer in found}


def pending_ids(
    connection: Connection, place: Place, after: EntryId, upto: EntryId | str, count: int
) -> list[bytes]:
    """The first *count* ids that are pending at *place* in (after, upto]."""
    if after == LAST:  # servers refuse a range that begins after the largest id
        return []
    words = (f"({after}", str(upto), count, place.consumer)
    return [entry[0] for entry in connection.call("XPENDING", place.stream, place.group, *words)]


def pages(connection: Connection, place: Place, upto: EntryId | str = "+") -> Iterator[list[bytes]]:
    """All ids pending at *place* up to *upto*, in pages."""
    after = FIRST
    while ids := pending_ids(connection, place, after, upto, PAGE_SIZE):
        yield ids
        after = EntryId.parse(ids[-1])


def claim_new(connection: Connection, place: Place, most: int, page_size: int) -> None:
    """Claim entries never delivered to the group, until *most* are pending at *place*.

    The server sends their content too, *page_size* entries at a time.
    """
    wanted = most - pending(connection, place)
    while wanted > 0:
        page = min(wanted, page_size)
        group = ("GROUP", place.group, place.consumer, "COUNT", page)
        connection.ask("XREADGROUP", *group, "STREAMS", place.stream, ">")
        if entries_in(connection.answer(), place.stream) < page:
            return
        wanted -= page


def entries_in(answer: bytes, stream: str) -> int:
    """How many entries the reply to an XREADGROUP of one stream holds."""
    if answer == NOTHING:
        return 0
    name = key(stream)
    start = answer.index(b"*", len(b"*1\r\n*2\r\n$%d\r\n%s\r\n" % (len(name), name))) + 1
    return int(answer[start : answer.index(b"\r\n", start)])


class Stale(NamedTuple):
    """The result of a search for stale entries."""

    complete: bool  # whether the search has reached the end
    deleted: int  # entries that did not exist any more; the server has dropped them


def claim_stale(connection: Connection, place: Place, min_idle_ms: int, most: int) -> Stale:
    """Claim entries that were pending for *min_idle_ms*, until *most* are pending at *place*."""
    wanted, cursor, deleted = most - pending(connection, place), NONE_LEFT, 0
    while wanted > 0:
        words = (min_idle_ms, cursor, "COUNT", min(wanted, PAGE_SIZE), "JUSTID")
        cursor, claimed, gone = connection.call("XAUTOCLAIM", *place, *words)
        wanted, deleted = wanted - len(claimed), deleted + len(gone)
        if cursor == NONE_LEFT:
            return Stale(True, deleted)
    return Stale(False, deleted)


def claim_of(connection: Connection, place: Place, step: int) -> Claim:
    """Everything that is pending at *place*, with a cut every *step* entries."""
    count, last, cuts = 0, FIRST, list[Cut]()
    for ids in pages(connection, place):
        first = step - count % step
        cuts += [
            Cut(EntryId.parse(ids[n - 1]), count + n) for n in range(first, len(ids) + 1, step)
        ]
        count, last = count + len(ids), EntryId.parse(ids[-1])
    return Claim(count, last, tuple(cut for cut in cuts if cut.id != last))


def acknowledge(connection: Connection, place: Place, claim: Claim) -> None:
    """Acknowledge *claim*, which is pending at *place*, and delete the consumer.

    The consumer stays if it has other entries. Raises CheckpointError, before anything is
    acknowledged, if more entries are pending than were claimed: nobody has read them.
    """
    if place.consumer not in consumers(connection, place):
        return
    ids = list(chain.from_iterable(pages(connection, place, claim.upto)))
    if len(ids) > claim.entries:
        raise CheckpointError(
            f"stream {place.stream!r}: {len(ids)} entries are pending for {place.consumer!r}, "
            f"which had claimed {claim.entries}: another query runs from the same checkpoint"
        )
    for first in range(0, len(ids), PAGE_SIZE):
        connection.call("XACK", place.stream, place.group, *ids[first : first + PAGE_SIZE])
    if not pending(connection, place):
        connection.call("XGROUP", "DELCONSUMER", *place)


class Claimer:
    """Claims entries for one query. *step* gives the size of a task for a number of entries.

    The search for stale entries goes through all pending entries. So it runs only at the start, and
    then twice in *min_idle_ms*. What it takes over is counted in *sums*.
    """

    def __init__(
        self,
        links: Links,
        min_idle_ms: int,
        page_size: int,
        step: Callable[[int], int],
        now: Callable[[], float] = time.monotonic,
        sums: Sums | None = None,
    ) -> None:
        self._sums = Sums() if sums is None else sums
        self._links = links
        self._min_idle_ms = min_idle_ms
        self._page_size = page_size
        self._step = step
        self._now = now
        self._next_search_s: dict[str, float] = {}
        self._turn: str | None = None  # the last stream that got a share of too small a limit

    def claim(
        self, places: Mapping[str, Place], queues: Mapping[str, GroupQueue], most: int
    ) -> dict[str, Claim]:
        """Claim up to *most* entries in all. Returns the entries then pending at each place.

        Entries that a consumer has from an earlier attempt belong to the batch, even if they are
        more than *most*.
        """
        held = {s: self._pending(places[s]) if q.pending else 0 for s, q in queues.items()}
        left = most - sum(held.values())
        for stream, queue in queues.items():
            if queue.pending > held[stream] and left > 0 and self._due(stream):
                taken = self._take_over(places[stream], held[stream] + left) - held[stream]
                self._sums.add((ONLY, stream), ENTRIES_REDELIVERED, taken)
                held[stream] += taken
                left -= taken
        new = self._shares(queues, left) if left > 0 else {}
        wanted = {s: held[s] + new.get(s, 0) for s in queues}
        return {s: self._claim(places[s], held[s], n) for s, n in wanted.items() if n}

    def _shares(self, queues: Mapping[str, GroupQueue], most: int) -> dict[str, int]:
        """How many new entries to claim of each stream. If *most* is too small, they take turns."""
        waiting = {s: q.backlog for s, q in queues.items() if q.backlog}
        found = plan.shares(waiting, most, self._turn)
        chosen = [s for s in plan.in_turn(waiting, self._turn) if found[s]]
        self._turn = chosen[-1] if len(chosen) < len(waiting) else None
        return found

    def _pending(self, place: Place) -> int:
        return self._links.retry(place.stream, lambda connection: pending(connection, place))

    def _due(self, stream: str) -> bool:
        return self._now() >= self._next_search_s.get(stream, 0.0)

    def _take_over(self, place: Place, most: int) -> int:
        """Claim stale entries until *most* are pending at *place*. Returns how many are."""
        stale = self._links.retry(
            place.stream,
            lambda connection: claim_stale(connection, place, self._min_idle_ms, most),
        )
        if stale.deleted:
            logger.warning(
                "stream %r: %d entries that others had left pending had been deleted",
                place.stream, stale.deleted,
            )  # fmt: skip
        if stale.complete:
            self._next_search_s[place.stream] = self._now() + self._min_idle_ms / 2_000
        return self._pending(place)

    def _claim(self, place: Place, held: int, most: int) -> Claim:
        """Claim new entries until *most* are pending at *place*. Returns all that are."""
        if most > held:
            self._links.retry(
                place.stream,
                lambda connection: claim_new(connection, place, most, self._page_size),
            )
        step = self._step(most)
        return self._links.retry(place.stream, lambda connection: claim_of(connection, place, step))
