"""Consumer groups as signposts: where a query stands, for whoever asks XINFO GROUPS.

The query reads by ranges; the group delivers nothing. Its position and its count of entries read
are set to what the query has committed, so that the server shows its exact lag.
"""

from __future__ import annotations

import redis

from pyspark_penstock.offsets import Offset, Position
from pyspark_penstock.stream_info import ask, key


def publish(client: redis.Redis, group: str, offset: Offset) -> None:
    """Set *group*'s position in each stream of *offset*; make the group where it is not there.

    A stream that does not exist is left alone.
    """
    for stream, position in offset.streams.items():
        if position != Position():
            publish_position(client, stream, group, position)


def publish_position(client: redis.Redis, stream: str, group: str, position: Position) -> None:
    """Set the group's position in one stream."""
    try:
        ask(client, "XGROUP", "SETID", *place(stream, group, position))
    except redis.ResponseError as refused:
        if str(refused).startswith("NOGROUP"):
            create(client, stream, group, position)
        elif "requires the key to exist" not in str(refused):
            raise


def create(client: redis.Redis, stream: str, group: str, position: Position) -> None:
    """Make the group at *position*, unless another has just made it."""
    try:
        ask(client, "XGROUP", "CREATE", *place(stream, group, position))
    except redis.ResponseError as refused:
        if not str(refused).startswith("BUSYGROUP"):
            raise


def place(stream: str, group: str, position: Position) -> tuple[bytes | str | int, ...]:
    """The words that say where a group stands: the id, and how many entries it counts as read."""
    return key(stream), key(group), str(position.id), "ENTRIESREAD", position.n
