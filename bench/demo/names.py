"""The names that the processes of the demo share: the stream, its groups, their ledgers."""

from __future__ import annotations

from typing import Final

import redis

STREAM: Final = "demo:events"
GROUPS: Final = ("index", "audit")
CONSUMERS: Final = ("ann", "bob", "cem")
MIN_IDLE_MS: Final = 2000  # an entry pending for so long belongs to a consumer that is dead


def ledger(group: str) -> str:
    """The list in which a group's consumers write down what they have acknowledged.

    An item is ``id digest consumer how``, how being "read" or "claimed".
    """
    return f"demo:acknowledged:{group}"


def refused(group: str) -> str:
    """The counter of ids whose XACK found nothing: they were acknowledged before."""
    return f"demo:refused:{group}"


def connect(port: int) -> redis.Redis:
    """A connection that leaves bytes as they are."""
    return redis.Redis("127.0.0.1", port, protocol=2)
