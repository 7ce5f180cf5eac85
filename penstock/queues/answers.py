"""What the answers of the server mean, and its errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import redis

from penstock.queues.hand import Entry

# For a while no server works for us: it cannot be reached, or says so.
LOST = (
    redis.ConnectionError,
    redis.TimeoutError,
    redis.ReadOnlyError,
    redis.OutOfMemoryError,
    redis.exceptions.ClusterDownError,  # MASTERDOWN, too
)
BUSY = ("BUSY ", "MISCONF ", "NOREPLICAS ", "NOQUORUM ", "NOTCONFIRMED ", "UNBLOCKED ")


def entries_in(answer: Any) -> list[Entry]:
    """The entries of an answer to XREADGROUP of one stream, in octets.

    RESP3 answers a map of lists of entries, RESP2 pairs.
    """
    if not answer:
        return []
    found: list[Entry] = (
        next(iter(answer.values()))[0] if isinstance(answer, dict) else answer[0][1]
    )
    return found


def is_missing(error: redis.ResponseError) -> bool:
    """Whether there is no such group, or no such stream."""
    return "NOGROUP" in str(error) or "requires the key to exist" in str(error)


def is_unused(stream: Mapping[str, Any]) -> bool:
    """Whether XINFO STREAM tells of a stream without entries and groups."""
    return not (stream["length"] or stream["groups"] or stream.get("scheduled"))


def is_lost(error: redis.RedisError) -> bool:
    """Whether it may be over in a while: so with a failover, a long script, a disk that is full."""
    if isinstance(error, redis.AuthenticationError):  # a ConnectionError that does not pass
        return False
    answer = str(error).rpartition("caused error: ")[2]  # redis-py puts the command before it
    return isinstance(error, LOST) or answer.startswith(BUSY)


def has_nothing(consumers: Any, worker: str) -> bool:
    """Whether XINFO CONSUMERS says that *worker* is there, and has nothing pending."""
    for consumer in consumers:
        if consumer["name"] in (worker, worker.encode()):  # those of others may be no text
            return not consumer["pending"]
    return False
