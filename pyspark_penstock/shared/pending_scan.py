"""A scan of pending entries: reads the entries on a consumer's pending list, page by page.

    XPENDING   ids    3-0 4-0 5-0 9-0        what is pending
    XRANGE 3-0 9-0    3-0 4-0     6-0 9-0    5-0 was deleted, 6-0 is another consumer's

The ids in both are those that XREADGROUP would return from the consumer's history. But XREADGROUP
counts each such read as a delivery, and is slow. XRANGE, for as many entries as are pending,
usually returns just these. If consumers take turns with small portions, it returns others, too. If
fewer than one in SPARSE is pending here, the rest of the page is requested id by id.

After a reconnect the scan continues after the last page that it has yielded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.connection import Connection, refusal
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.retry import Retry, resumed
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import ServerError
from pyspark_penstock.names import key
from pyspark_penstock.read.page import MixedPage, Page, parse
from pyspark_penstock.read.scan import EMPTY
from pyspark_penstock.read.uniform_page import UniformPage
from pyspark_penstock.shared.claims import pending_ids
from pyspark_penstock.shared.group_offsets import ClaimedRange

SPARSE = 4


class PendingScan:
    """Iterates over pages. *listed* ids were pending so far; *found* of these entries exist."""

    def __init__(self, server: Server, task: ClaimedRange, page_size: int) -> None:
        self.listed = 0
        self.found = 0
        self._server = server
        self._task = task
        self._after = task.after
        self._page_size = page_size
        self._links = Links(server, Preference.PRIMARY, "reading a stream")

    def __iter__(self) -> Iterator[Page]:
        try:
            yield from resumed(
                self._server, f"reading stream {self._task.place.stream!r}", self._pages
            )
        finally:
            self._links.close()

    def _pages(self, retry: Retry) -> Iterator[Page]:
        with self._links.lent(self._task.place.stream) as connection:
            wanted = self._ask(connection, self._after)
            while wanted:
                pages = list(self._take(connection, wanted))
                after = EntryId.parse(wanted[-1])
                following = self._ask(connection, after) if len(wanted) == self._page_size else []
                retry.renew()
                self.listed += len(wanted)
                self._after, wanted = after, following
                for page in pages:
                    self.found += len(page)
                    yield page

    def _ask(self, connection: Connection, after: EntryId) -> list[bytes]:
        """Request the next page of pending entries. Returns their ids."""
        task = self._task
        ids = pending_ids(connection, task.place, after, task.upto, self._page_size)
        if ids:
            self._ask_range(connection, ids)
        return ids

    def _ask_range(self, connection: Connection, ids: list[bytes]) -> None:
        connection.ask("XRANGE", key(self._task.place.stream), ids[0], ids[-1], "COUNT", len(ids))

    def _take(self, connection: Connection, wanted: list[bytes]) -> Iterator[Page]:
        """The entries with the ids *wanted*, whose range was requested."""
        while (answer := connection.answer()) != EMPTY:
            page = parse(answer)
            chosen = chosen_of(page, wanted)
            if len(chosen):
                yield chosen
            rest = behind(wanted, page.last_id) if len(page) == len(wanted) else []
            if not rest:
                return
            if len(chosen) * SPARSE < len(page):
                yield from one_by_one(connection, self._task.place.stream, rest)
                return
            wanted = rest
            self._ask_range(connection, wanted)


def chosen_of(page: UniformPage | MixedPage, wanted: list[bytes]) -> Page:
    """The entries of a page that are wanted."""
    ids = pa.array(wanted, pa.binary())
    if page.ids.equals(ids):
        return page
    mask = pc.is_in(page.ids, value_set=ids)
    return page.chosen(np.flatnonzero(mask.to_numpy(zero_copy_only=False)))


def behind(wanted: list[bytes], last: bytes) -> list[bytes]:
    """The ids after *last*."""
    return wanted[bisect_right(wanted, EntryId.parse(last), key=EntryId.parse) :]


def one_by_one(connection: Connection, stream: str, ids: list[bytes]) -> Iterator[Page]:
    """The entries with these ids, each requested by its id. Raises OSError, ServerError."""
    connection.send_all([("XRANGE", key(stream), text, text) for text in ids])
    found = connection.replies()
    for answer in found:
        if isinstance(answer, ServerError):
            raise refusal(str(answer))
    entries = [entry for answer in found for entry in answer]
    if entries:
        yield MixedPage(entries, sum(len(text) for _, fields in entries for text in fields))
