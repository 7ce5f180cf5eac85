"""A scan: reads the pages of a range, one page ahead, and reconnects when the connection is lost.

The next page is requested before this one is parsed, so that the server works meanwhile. The
request needs the last id of this page, which is guessed from the last bytes that look like the
beginning of an entry. If they were part of a value, the reply to the wrong request is dropped.

After a reconnect the scan continues after the last entry that it has yielded.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.retry import Retry, resumed
from pyspark_penstock.connect.stream_info import StreamState, state_by
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.names import key
from pyspark_penstock.read.page import Page, parse

EMPTY = b"*0\r\n"
LINE = b"\r\n"
ENTRY = b"\r\n*2\r\n$"
GUESSES = 2  # the list of a single field begins like an entry too


class Scan:
    """Iterates over the pages of (after, upto]. *after* becomes the last id that was yielded.

    With *wait*, a server that has never had an entry as late as *upto* is waited for: it is a
    replica that lags. Then *state* is the state of the stream after the last page.
    """

    def __init__(
        self,
        server: Server,
        stream: str,
        after: EntryId,
        upto: EntryId,
        page_size: int,
        *,
        wait: bool = False,
    ) -> None:
        self.after = after
        self.bytes = 0  # of all replies so far
        self.entries = 0
        self.state: StreamState | None = None
        self._server = server
        self._stream = stream
        self.upto = upto
        self._page_size = page_size
        self._wait = wait
        self._links = Links(server, Preference.ANY, "reading a stream")

    def __iter__(self) -> Iterator[Page]:
        try:
            yield from resumed(self._server, f"reading stream {self._stream!r}", self._pages)
        finally:
            self._links.close()

    def _pages(self, retry: Retry) -> Iterator[Page]:
        with self._links.lent(self._stream) as connection:
            if self.after < self.upto:  # servers refuse a range after the largest id
                yield from self._read(connection, retry)
            if self._wait:
                self._check_end(connection)

    def _read(self, connection: Connection, retry: Retry) -> Iterator[Page]:
        self._ask(connection, self.after)
        while (answer := connection.answer()) != EMPTY:
            guess = self._guess(answer)
            if guess is not None:
                self._ask(connection, guess)
            page = parse(answer)
            last = EntryId.parse(page.last_id)
            is_last = len(page) < self._page_size or last >= self.upto
            if guess not in {None, last}:
                connection.answer()  # the reply to the wrong request
            if not is_last and guess != last:
                self._ask(connection, last)
            retry.renew()
            self.bytes += len(answer)
            self.entries += len(page)
            self.after = last
            yield page
            if is_last:
                return

    def _check_end(self, connection: Connection) -> None:
        """Raises ConnectionError if the server has never had an entry as late as the range ends."""
        state = state_by(connection, self._stream)
        if state.last_id < self.upto:
            raise ConnectionError(
                f"stream {self._stream!r}: the server has nothing after {state.last_id}, and "
                f"entries up to {self.upto} were there: it lags, it lost data, or it is another"
            )
        self.state = state

    def _guess(self, answer: bytes) -> EntryId | None:
        """The id after which the next page begins, if this one is full and not the last."""
        if not answer.startswith(b"*%d\r\n" % self._page_size):
            return None
        guess = probable_last_id(answer)
        return guess if guess is not None and guess < self.upto else None

    def _ask(self, connection: Connection, after: EntryId) -> None:
        words = (f"({after}", str(self.upto), "COUNT", self._page_size)
        connection.ask("XRANGE", key(self._stream), *words)


def probable_last_id(answer: bytes) -> EntryId | None:
    """The id of the page's last entry, unless a value in that entry looks like an entry."""
    at = len(answer)
    for _ in range(GUESSES):
        at = answer.rfind(ENTRY, 0, at)
        start = answer.find(LINE, at + len(ENTRY)) + len(LINE)
        try:
            return EntryId.parse(answer[start : answer.find(LINE, start)])
        except ValueError:
            continue
    return None
