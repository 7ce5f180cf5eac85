"""The names that the processes of the demo share: the stream, its groups, their ledgers."""

from __future__ import annotations

from typing import Final

import redis

STREAM: Final = "demo:events"
GROUPS: Final = ("index", "audit")
CONSUMERS: Final = ("ann", "bob", "cem")
MIN_IDLE_MS: Final = 2000  # if an entry has been pending for so long, its consumer is dead


def ledger(group: str) -> str:
    """The key of the list in which a group's consumers record what they have acknowledged.

    An item is ``id digest consumer how``, where *how* is "read" or "claimed".
    """
    return f"demo:acknowledged:{group}"


def refused(group: str) -> str:
    """The key that counts the ids that XACK did not find: they were acknowledged before."""
    return f"demo:refused:{group}"


def connect(port: int) -> redis.Redis:
    """A client that returns bytes as they are."""
    return redis.Redis("127.0.0.1", port, protocol=2)
