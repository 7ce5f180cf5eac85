"""Consumer groups as signposts: where a query stands, for whoever asks XINFO GROUPS.

The query reads by ranges; the group delivers nothing. Its position and its count of entries read
are set to what the query has committed, so that the server shows its exact lag.

Whoever reads by a group does not get what it is moved past. So a query moves those only that it
has made itself: it leaves a consumer in each, which never reads, and goes when the group does.

    XINFO CONSUMERS orders progress      name spark-signpost-3f9a1c2b, pending 0

3f9a1c2b is the query: drawn when it first starts, and kept in its checkpoint.
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
from pyspark_penstock.read.offsets import Offset, Position

PREFIX = "spark-signpost-"
GONE = ("NOGROUP", "no such key", "The XGROUP subcommand requires the key to exist")
ADVICE = "give the query a group of its own, or groupTakeover=true to move this one all the same"


@dataclass(frozen=True)
class PositionGroup:
    """A consumer group that shows where a query stands; none, if *group* is empty.

    With *takeover* it is moved whoever has made it, and whoever reads by it.
    """

    group: str
    takeover: bool = False

    def check(self, client: Client, streams: Iterable[str], query: str) -> None:
        """Raises OptionError if one of *streams* has the group, and *query* may not move it."""
        for stream in streams:
            found = self._consumers(client, stream)
            if found is not None:
                self._check(stream, found, query)

    def publish(self, client: Client, offset: Offset) -> None:
        """Set the group's position in each stream of *offset*; make the group where it is not.

        A stream that does not exist is left alone. Raises OptionError as ``check`` does.
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
        """The group's consumers in *stream*; None where there is no such group."""
        if not self.group:
            return None
        try:
            return consumer_states(client, stream, self.group)
        except redis.ResponseError as refused:
            if str(refused).startswith(GONE):
                return None
            raise

    def _check(self, stream: str, consumers: Sequence[ConsumerState], query: str) -> None:
        """Raises OptionError if the group may not be moved."""
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
        """Set the position of a group that is there, and make it *query*'s if it was another's."""
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
        """Make the group and the consumer that says whose it is, both or none of them."""
        group, own = (key(stream), key(self.group)), consumer_of(query)
        made, marked = client.transact(
            ("XGROUP", "CREATE", *group, *place(position)),
            ("XGROUP", "CREATECONSUMER", *group, own),
        )
        if not isinstance(made, redis.ResponseError) or str(made).startswith(GONE):
            return
        if not str(made).startswith("BUSYGROUP"):
            raise made
        if marked:  # somebody else has made it at this very moment: not by this name, but any
            ask(client, "XGROUP", "DELCONSUMER", *group, own)
            self._check(stream, consumer_states(client, stream, self.group), query)


def consumer_of(query: str) -> str:
    """The consumer that says that a group is *query*'s."""
    return f"{PREFIX}{query}"


def place(position: Position) -> tuple[str | int, ...]:
    """The words that say where a group stands: the id, and how many entries it counts as read."""
    return str(position.id), "ENTRIESREAD", position.n
