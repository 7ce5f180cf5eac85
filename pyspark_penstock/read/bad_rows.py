"""Bad rows: entries that do not fit the schema go to a stream of their own, each of them once.

    XADD bad-orders * item pencil count many
                      _error "count='many' is not int32" _server "" _stream orders _id 1763-0

The raw entry comes first, in its order; what is said of it comes last, since the last of two fields
of one name counts. The stream is on the server that the entry is from.

A task may be tried again, may run twice at the same time, and is run again when its batch is
replayed. So beside the stream a marker says up to which entry a range's bad rows are written:

    {bad-orders}:spark-bad:<reader>:<part>:<stream>  ->  1763000062499-3

It is set in the transaction that adds them, and nothing up to it is written again. A range reads
its entries in order, and the same part of the next batch begins after it: so one id is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from pyspark_penstock.connect.connection import Connection, Word
from pyspark_penstock.connect.hash_tags import tagged
from pyspark_penstock.connect.links import Links
from pyspark_penstock.entry_id import FIRST, EntryId
from pyspark_penstock.errors import SinkError
from pyspark_penstock.names import key
from pyspark_penstock.read.columns import BadRow

MOST_ROWS, MOST_BYTES = 1_000, 4 << 20  # of a transaction: others wait while the server runs it
TIME_TO_LIVE_S = 7 * 24 * 3600
ALLOWED = (b"stream", b"none")


class DeadLetters:
    """Writes bad rows to *stream*; *server* is the name of the server, *reader* tells readers
    apart.
    """

    def __init__(self, links: Links, stream: str, server: str, reader: str) -> None:
        self._links = links
        self._stream = stream
        self._server = server
        self._reader = reader

    def write(self, rows: Sequence[BadRow]) -> None:
        """Write *rows*, except those that are there. Raises SinkError, ServerError."""
        for some in portions(rows):
            while not self._links.retry(self._stream, partial(self._attempt, rows=some)):
                pass  # another attempt of the task has written in between: what is left now?

    def _attempt(self, connection: Connection, rows: Sequence[BadRow]) -> bool:
        """Write them in one transaction; False if another client was faster."""
        markers = {place: self._marker(*place) for place in map(place_of, rows)}
        connection.call("WATCH", *markers.values())
        if connection.call("TYPE", key(self._stream)) not in ALLOWED:
            raise SinkError(f"badRows=stream:{self._stream}: this key is no stream")
        found = connection.call("MGET", *markers.values())
        done = {
            place: FIRST if mark is None else EntryId.parse(mark)
            for place, mark in zip(markers, found, strict=True)
        }
        left = [row for row in rows if EntryId.parse(row.id) > done[place_of(row)]]
        if not left:
            connection.call("UNWATCH")
            return True
        last = {place_of(row): row.id for row in left}
        marks = [
            ("SET", markers[place], entry, "EX", TIME_TO_LIVE_S) for place, entry in last.items()
        ]
        connection.send_all([("MULTI",), *map(self._add, left), *marks, ("EXEC",)])
        answer = connection.replies()[-1]
        if isinstance(answer, Exception):
            raise answer
        refused = next((one for one in answer or () if isinstance(one, Exception)), None)
        if refused is not None:
            raise SinkError(f"badRows=stream:{self._stream}: {refused}")
        return answer is not None

    def _marker(self, stream: str, part: int) -> bytes:
        return key(f"{tagged(self._stream)}:spark-bad:{self._reader}:{part}:{stream}")

    def _add(self, row: BadRow) -> tuple[Word, ...]:
        about = ("_error", row.error, "_server", self._server, "_stream", key(row.origin.stream))
        return ("XADD", key(self._stream), "*", *row.fields, *about, "_id", row.id)


def place_of(row: BadRow) -> tuple[str, int]:
    """The range that the row is from."""
    return row.origin.stream, row.origin.part


def portions(rows: Sequence[BadRow]) -> Iterator[Sequence[BadRow]]:
    """The rows in portions for one transaction each."""
    first = size = 0
    for at, row in enumerate(rows):
        bytes_of = sum(map(len, row.fields))
        if at > first and (at - first == MOST_ROWS or size + bytes_of > MOST_BYTES):
            yield rows[first:at]
            first, size = at, 0
        size += bytes_of
    if first < len(rows):
        yield rows[first:]
