"""The deliveries of one task: to each stream of each server its own, over connections by node."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.line import Line
from pyspark_penstock.connect.links import Links
from pyspark_penstock.errors import ServerError
from pyspark_penstock.figures import (
    BYTES_WRITTEN,
    ROWS_REPEATED,
    ROWS_WRITTEN,
    WRITE_RETRIES,
    Place,
    Sums,
)
from pyspark_penstock.names import key
from pyspark_penstock.write.atomic import Piece, Staging
from pyspark_penstock.write.delivery import AtLeastOnce, Delivery, Task
from pyspark_penstock.write.exactly_once import MOST_BYTES, ExactlyOnce
from pyspark_penstock.write.marker import MarkerKey, marker_name
from pyspark_penstock.write.ordered import WriterMarkerKey
from pyspark_penstock.write.row_encoder import Encoded
from pyspark_penstock.write.sink_options import AT_LEAST_ONCE, ATOMIC, ORDERED, SinkOptions


class Deliveries:
    """What a task writes, by server and stream."""

    def __init__(self, options: SinkOptions, task: Task) -> None:
        self._options = options
        self._task = task
        self._links: dict[str, Links] = {}
        self._all: dict[Place, Delivery] = {}
        self._lines: dict[Place, Line] = {}
        self._sums = Sums()

    def send(self, rows: list[Encoded]) -> None:
        """Send the rows of one batch to their streams. Raises SinkError, ServerError."""
        self._begin([place for *place, _ in rows if tuple(place) not in self._all])
        for server, stream, commands in rows:
            self._all[server, stream].send(commands)
            self._sums.add((server, stream), ROWS_WRITTEN, commands.rows)
            self._sums.add((server, stream), BYTES_WRITTEN, len(commands.data))
        self._make_room()

    def finish(self) -> None:
        """Write what is held, and mark everything as done."""
        for each in self._all.values():
            each.finish()

    def close(self) -> None:
        """Close all connections."""
        for links in self._links.values():
            links.close()

    def sums(self) -> Sums:
        """What was written, by server and stream."""
        sums = self._sums.copy()
        for place, each in self._all.items():
            sums.add(place, WRITE_RETRIES, self._lines[place].failures)
            if isinstance(each, ExactlyOnce):
                sums.add(place, ROWS_REPEATED, each.repeated)
        return sums

    @property
    def places(self) -> list[Place]:
        """The servers and streams that got rows."""
        return list(self._all)

    @property
    def staged(self) -> list[Piece]:
        """The staged commands of all deliveries."""
        return [
            piece
            for each in self._all.values()
            if isinstance(each, Staging)
            for piece in each.pieces
        ]

    # ------------------------------------------------------------------ new streams

    def _begin(self, places: Iterable[Iterable[str]]) -> None:
        """Make the deliveries of streams that had no rows yet, each server's in one round trip."""
        by_server: dict[str, list[str]] = {}
        for server, stream in places:
            by_server.setdefault(server, []).append(stream)
        for server, streams in by_server.items():
            if server not in self._links:
                title = f"writing {self._task.title}"
                self._links[server] = Links(
                    self._options.fleet.server(server), Preference.PRIMARY, title
                )
            for stream, each in self._deliveries(server, streams):
                self._all[server, stream] = each

    def _deliveries(self, server: str, streams: list[str]) -> Iterable[tuple[str, Delivery]]:
        links, options, task = self._links[server], self._options, self._task
        lines = {stream: Line(links, stream) for stream in streams}
        self._lines |= {(server, stream): line for stream, line in lines.items()}
        most_rows = options.max_transaction_rows
        if options.delivery == AT_LEAST_ONCE:
            return [(stream, AtLeastOnce(line)) for stream, line in lines.items()]
        if options.delivery == ATOMIC:
            return [
                (stream, Staging(line, server, stream, task, most_rows, options.confirmation))
                for stream, line in lines.items()
            ]
        early = bool(options.stream)
        keys = [self._marker_key(stream) for stream in streams]
        if len(keys) == 1:
            (stream, line), marker_key = *lines.items(), keys[0]
            only = ExactlyOnce(
                line, stream, marker_key, most_rows, early, None, options.confirmation
            )
            return [(stream, only)]
        found = links.ask([(each.name, ("GET", key(each.name))) for each in keys])
        made: list[tuple[str, Delivery]] = []
        for (stream, line), marker_key, text in zip(lines.items(), keys, found, strict=True):
            if isinstance(text, ServerError):
                raise text
            seen = marker_key.accepted(text)
            each = ExactlyOnce(
                line, stream, marker_key, most_rows, early, seen, options.confirmation
            )
            made.append((stream, each))
        return made

    def _marker_key(self, stream: str) -> MarkerKey:
        task = self._task
        if self._options.delivery == ORDERED:
            return WriterMarkerKey(stream, task)
        return MarkerKey(marker_name(stream, task.query, task.partition), task)

    def _make_room(self) -> None:
        """Write the held rows of the streams with most of them, until few enough are held."""
        held = [each for each in self._all.values() if isinstance(each, ExactlyOnce)]
        size = sum(each.held_bytes for each in held)
        for each in sorted(held, key=lambda each: each.held_bytes, reverse=True):
            if size <= MOST_BYTES:
                return
            size -= each.held_bytes
            each.write_held()
