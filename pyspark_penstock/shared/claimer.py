"""Claims the entries of a batch: those its consumer has, then stale entries, then new ones."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from pyspark_penstock.connect.links import Links
from pyspark_penstock.read import plan
from pyspark_penstock.shared import claims
from pyspark_penstock.shared.group_offsets import Claim, Place
from pyspark_penstock.shared.group_queue import GroupQueue

logger = logging.getLogger(__name__)


class Claimer:
    """Claims entries for one query. *step* gives the size of a task for a number of entries.

    The search for stale entries goes through all pending entries. So it runs only at the start, and
    then twice in *min_idle_ms*.
    """

    def __init__(
        self,
        links: Links,
        min_idle_ms: int,
        page_size: int,
        step: Callable[[int], int],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._links = links
        self._min_idle_ms = min_idle_ms
        self._page_size = page_size
        self._step = step
        self._now = now
        self._next_search_s: dict[str, float] = {}

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
                held[stream] += taken
                left -= taken
        new = plan.shares({s: q.backlog for s, q in queues.items()}, left) if left > 0 else {}
        wanted = {s: held[s] + new.get(s, 0) for s in queues}
        return {s: self._claim(places[s], held[s], n) for s, n in wanted.items() if n}

    def _pending(self, place: Place) -> int:
        return self._links.retry(place.stream, lambda connection: claims.pending(connection, place))

    def _due(self, stream: str) -> bool:
        return self._now() >= self._next_search_s.get(stream, 0.0)

    def _take_over(self, place: Place, most: int) -> int:
        """Claim stale entries until *most* are pending at *place*. Returns how many are."""
        stale = self._links.retry(
            place.stream,
            lambda connection: claims.claim_stale(connection, place, self._min_idle_ms, most),
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
                lambda connection: claims.claim_new(connection, place, most, self._page_size),
            )
        step = self._step(most)
        return self._links.retry(
            place.stream, lambda connection: claims.claim_of(connection, place, step)
        )
