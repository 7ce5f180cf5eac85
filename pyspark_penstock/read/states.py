"""The states of all streams of a server, in one round trip to each of its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark_penstock.connect.connection import Word, pairs
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.stream_info import GroupState, StreamState, groups_of, state_of
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import ServerError
from pyspark_penstock.names import key, text

MOST_AT_ONCE = 10_000  # streams asked for in one go, and in a page: bounds the replies in memory
NO_SUCH_KEY = "no such key"
REPLICA = b"replica"


def states_of(links: Links, streams: Iterable[str]) -> dict[str, StreamState]:
    """The state of each stream.

    Raises ServerError if a key is not a stream, or the server is older than Redis 7.0.
    """
    names = list(streams)
    found: dict[str, StreamState] = {}
    for at in range(0, len(names), MOST_AT_ONCE):
        some = names[at : at + MOST_AT_ONCE]
        replies = links.ask([(name, ("XINFO", "STREAM", key(name))) for name in some])
        found |= {name: state_in(name, reply) for name, reply in zip(some, replies, strict=True)}
    return found


def state_in(stream: str, reply: Any) -> StreamState:
    """The state of *stream* in a reply of XINFO STREAM. Raises ServerError."""
    if not isinstance(reply, ServerError):
        return state_of(reply)
    if NO_SUCH_KEY in str(reply):
        return StreamState()
    raise ServerError(f"stream {stream!r}: {reply}")


def listed_states(links: Links, pattern: str) -> dict[str, StreamState] | None:
    """The states of all streams that match the glob *pattern*, by XINFO STREAMS of Penstock.

    They lack the ids of the first and the last entry. None if the server has no such command.
    """
    found: dict[str, StreamState] = {}
    cursor: bytes | str = "0"
    while True:
        words = ("XINFO", "STREAMS", cursor, "MATCH", key(pattern), "COUNT", MOST_AT_ONCE)
        replies = links.each_node(*words)
        if len(replies) != 1 or isinstance(replies[0], ServerError):
            return None
        cursor, streams = replies[0]
        for stream in map(pairs, streams):
            found[text(stream["key"])] = summary(stream)
        if cursor == b"0":
            return found


def summary(stream: Mapping[str, Any]) -> StreamState:
    """The state of a stream in XINFO STREAMS."""
    return StreamState(
        length=stream["length"],
        added=stream["entries-added"],
        last_id=EntryId.parse(stream["last-generated-id"]),
        groups=stream["groups"],
        exists=True,
    )


def news_of(links: Links, positions: Mapping[str, EntryId]) -> set[str] | None:
    """Which streams have an entry after their position: one XREAD for all of them.

    None if the server cannot say, as a cluster, where they are in different slots.
    """
    first = next(iter(positions))
    ids = map(str, positions.values())
    words: tuple[Word, ...] = ("XREAD", "COUNT", 1, "STREAMS", *map(key, positions), *ids)
    (reply,) = links.ask([(first, words)])
    if isinstance(reply, ServerError):
        return None
    return {text(stream) for stream, _ in reply or ()}


def groups_by(links: Links, stream: str) -> list[GroupState]:
    """The groups of a stream, which must exist."""
    return groups_of(links.one(stream, "XINFO", "GROUPS", key(stream)))


def is_of_replica(links: Links, stream: str) -> bool:
    """Whether who is asked for *stream* is a replica. One that does not support HELLO is not."""
    try:
        return bool(pairs(links.one(stream, "HELLO")).get("role") == REPLICA)
    except ServerError:
        return False
