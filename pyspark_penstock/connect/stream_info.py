"""The state of streams, groups and consumers, as XINFO reports it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import redis

from pyspark_penstock.connect.connection import Connection, pairs
from pyspark_penstock.entry_id import FIRST, EntryId
from pyspark_penstock.errors import ServerError
from pyspark_penstock.names import key, text

SCAN_COUNT = 1_000
GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class StreamState:
    """The state of a stream. A stream that does not exist is empty and never had an entry."""

    length: int = 0
    added: int = 0  # entries ever added
    last_id: EntryId = FIRST  # the largest id ever given
    first_entry: EntryId | None = None  # the oldest that is still there
    last_entry: EntryId | None = None
    groups: int = 0
    exists: bool = False

    @property
    def removed(self) -> int:
        """How many entries have ever been trimmed or deleted."""
        return self.added - self.length


@dataclass(frozen=True)
class GroupState:
    """A consumer group. *entries_read* and *lag* are None if the server does not know them."""

    name: str
    consumers: int
    pending: int
    last_delivered: EntryId
    entries_read: int | None
    lag: int | None


@dataclass(frozen=True)
class ConsumerState:
    """A consumer. *idle_ms* is since its last attempt to read, *inactive_ms* since its last
    success.

    *inactive_ms* is None before Redis 7.2.
    """

    name: str
    pending: int
    idle_ms: int
    inactive_ms: int | None


def stream_state(client: redis.Redis, stream: str) -> StreamState:
    """The state of *stream*.

    Raises ServerError if the key is not a stream, or Redis is older than 7.0.
    """
    try:
        return state_of(ask(client, "XINFO", "STREAM", key(stream)))
    except redis.ResponseError as refused:
        if "no such key" in str(refused):
            return StreamState()
        raise ServerError(f"stream {stream!r}: {refused}") from None


def state_by(connection: Connection, stream: str) -> StreamState:
    """The state of *stream*, asked for on a connection for bulk work."""
    if connection.call("EXISTS", key(stream)) == 0:
        return StreamState()
    return state_of(connection.call("XINFO", "STREAM", key(stream)))


def state_of(answer: Any) -> StreamState:
    """Parse the reply of XINFO STREAM. Raises ServerError if the server is too old."""
    reply = pairs(answer)
    if "entries-added" not in reply:
        raise ServerError("the server is too old: XINFO STREAM lacks entries-added (Redis 7.0)")
    return StreamState(
        length=reply["length"],
        added=reply["entries-added"],
        last_id=EntryId.parse(reply["last-generated-id"]),
        first_entry=entry_id(reply["first-entry"]),
        last_entry=entry_id(reply["last-entry"]),
        groups=reply["groups"],
        exists=True,
    )


def group_states(client: redis.Redis, stream: str) -> list[GroupState]:
    """The consumer groups of a stream, which must exist."""
    return groups_of(ask(client, "XINFO", "GROUPS", key(stream)))


def groups_of(answer: Any) -> list[GroupState]:
    """Parse the reply of XINFO GROUPS."""
    replies = map(pairs, answer)
    return [
        GroupState(
            name=text(reply["name"]),
            consumers=reply["consumers"],
            pending=reply["pending"],
            last_delivered=EntryId.parse(reply["last-delivered-id"]),
            entries_read=reply.get("entries-read"),
            lag=reply.get("lag"),
        )
        for reply in replies
    ]


def consumer_states(client: redis.Redis, stream: str, group: str) -> list[ConsumerState]:
    """The consumers of a group, which must exist."""
    replies = map(pairs, ask(client, "XINFO", "CONSUMERS", key(stream), key(group)))
    return [
        ConsumerState(text(r["name"]), r["pending"], r["idle"], r.get("inactive")) for r in replies
    ]


def matching_streams(client: redis.Redis, pattern: str) -> list[str]:
    """The names of all streams that match the glob *pattern*, sorted."""
    found: Iterator[Any] = client.scan_iter(match=key(pattern), count=SCAN_COUNT, _type="stream")
    return sorted({text(name) for name in found})


def is_glob(client: redis.Redis, name: str) -> bool:
    """Whether *name* is a glob. It is not if there is a stream of exactly this name."""
    return GLOB.search(name) is not None and not stream_state(client, name).exists


def ask(client: redis.Redis, *words: bytes | str | int) -> Any:
    """The reply to one command, as redis-py parses it."""
    return client.execute_command(*words)  # type: ignore[no-untyped-call]


def entry_id(entry: Any) -> EntryId | None:
    """The id of an entry in a reply; None for a null entry."""
    return EntryId.parse(entry[0]) if entry else None
