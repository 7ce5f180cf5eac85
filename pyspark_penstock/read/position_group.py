"""Position groups: consumer groups that show in XINFO GROUPS how far a query has read.

The query reads ranges by XRANGE, so the group delivers nothing. After each batch its last-delivered
id and entries-read are set to the query's position. So the server reports the exact lag.

Consumers of a group would miss the entries that the group is moved past. So a query moves only
groups that it has created. It marks them by a consumer that never reads, and that is deleted with
the group:

    XINFO CONSUMERS orders progress      name spark-signpost-3f9a1c2b, pending 0

3f9a1c2b is the random id of the query, which is kept in its checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import redis

from pyspark_penstock.connect.client import Client
from pyspark_penstock.connect.stream_info import ConsumerState, ask, consumer_states
from pyspark_penstock.errors import OptionError
from pyspark_penstock.names import key
from pyspark_penstock.read.offsets import Offset
from pyspark_penstock.read.positions import Position

PREFIX = "spark-signpost-"
GONE = ("NOGROUP", "no such key", "The XGROUP subcommand requires the key to exist")
ADVICE = "give the query a group of its own, or groupTakeover=true to move this one all the same"


@dataclass(frozen=True)
class PositionGroup:
    """A consumer group that shows a query's position; an empty *group* means none.

    With *takeover* the group is moved although others have created it, or read by it.
    """

    group: str
    takeover: bool = False

    def check(self, client: Client, streams: Iterable[str], query: str) -> None:
        """Raises OptionError if one of *streams* has the group, and it is not *query*'s to move."""
        for stream in streams:
            found = self._consumers(client, stream)
            if found is not None:
                self._check(stream, found, query)

    def publish(self, client: Client, offset: Offset) -> None:
        """Move the group in each stream of *offset*, or create it.

        Streams that do not exist are skipped. Raises OptionError as ``check`` does.
        """
        for stream, position in offset.streams.items():
            if position == Position():
                continue
            found = self._consumers(client, stream)
            if found is not None:
                self._check(stream, found, offset.query)
                self._move(client, stream, position, found, offset.query)
            elif self.group:
                self._make(client, stream, position, offset.query)

    def _consumers(self, client: Client, stream: str) -> list[ConsumerState] | None:
        """The group's consumers in *stream*; None if there is no such group."""
        if not self.group:
            return None
        try:
            return consumer_states(client, stream, self.group)
        except redis.ResponseError as refused:
            if str(refused).startswith(GONE):
                return None
            raise

    def _check(self, stream: str, consumers: Sequence[ConsumerState], query: str) -> None:
        """Raises OptionError if the group with these consumers may not be moved."""
        names = [consumer.name for consumer in consumers]
        readers = [name for name in names if not name.startswith(PREFIX)]
        pending = sum(consumer.pending for consumer in consumers)
        if self.takeover or (consumer_of(query) in names and not readers and not pending):
            return
        if readers or pending:
            why = f"is read by others (consumers: {len(readers)}, pending entries: {pending})"
        elif names:
            why = "is another query's, or was this one's before its checkpoint was deleted"
        else:
            why = "was not made by this query, or by an older version of this package"
        raise OptionError(f"group {self.group!r} of stream {stream!r} {why}; {ADVICE}")

    def _move(
        self,
        client: Client,
        stream: str,
        position: Position,
        consumers: Sequence[ConsumerState],
        query: str,
    ) -> None:
        """Move a group that exists. If it was another query's, mark it as *query*'s."""
        own, names = consumer_of(query), [consumer.name for consumer in consumers]
        group = key(stream), key(self.group)
        changes: list[tuple[Any, ...]] = [("XGROUP", "SETID", *group, *place(position))]
        if own not in names:
            changes.append(("XGROUP", "CREATECONSUMER", *group, own))
            others = [name for name in names if name.startswith(PREFIX)]
            changes += [("XGROUP", "DELCONSUMER", *group, key(name)) for name in others]
        for answer in client.transact(*changes):
            if isinstance(answer, redis.ResponseError) and not str(answer).startswith(GONE):
                raise answer

    def _make(self, client: Client, stream: str, position: Position, query: str) -> None:
        """Create the group and the consumer that marks it, in one transaction."""
        group, own = (key(stream), key(self.group)), consumer_of(query)
        made, marked = client.transact(
            ("XGROUP", "CREATE", *group, *place(position)),
            ("XGROUP", "CREATECONSUMER", *group, own),
        )
        if not isinstance(made, redis.ResponseError) or str(made).startswith(GONE):
            return
        if not str(made).startswith("BUSYGROUP"):
            raise made
        if marked:  # another client has created the group in between
            ask(client, "XGROUP", "DELCONSUMER", *group, own)
            self._check(stream, consumer_states(client, stream, self.group), query)


def consumer_of(query: str) -> str:
    """The name of the consumer that marks a group as *query*'s."""
    return f"{PREFIX}{query}"


def place(position: Position) -> tuple[str | int, ...]:
    """The arguments of XGROUP for a position: last-delivered id, and entries read."""
    return str(position.id), "ENTRIESREAD", position.n
