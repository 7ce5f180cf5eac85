"""What one client is subscribed to.

SUBSCRIBE news      CHANNELS          gets what is sent by  PUBLISH news ..
PSUBSCRIBE n*       PATTERNS          gets the same, once for each pattern that matches
SSUBSCRIBE news     SHARD_CHANNELS    gets what is sent by  SPUBLISH news ..
"""

from __future__ import annotations

CHANNELS, PATTERNS, SHARD_CHANNELS = range(3)  # the kinds of names


class Subscriptions:
    """The names that a client is subscribed to: an ordered set for each kind."""

    __slots__ = ("channels", "patterns", "shard_channels")

    def __init__(self) -> None:
        self.channels: dict[bytes, None] = {}
        self.patterns: dict[bytes, None] = {}
        self.shard_channels: dict[bytes, None] = {}

    def of(self, kind: int) -> dict[bytes, None]:
        """The names of *kind*."""
        return (self.channels, self.patterns, self.shard_channels)[kind]

    def counted_with(self, kind: int) -> int:
        """How many an answer about *kind* counts: channels and patterns together, shards apart."""
        if kind == SHARD_CHANNELS:
            return len(self.shard_channels)
        return len(self.channels) + len(self.patterns)

    @property
    def total(self) -> int:
        """How many there are of all kinds."""
        return len(self.channels) + len(self.patterns) + len(self.shard_channels)


NO_SUBSCRIPTIONS = Subscriptions()  # of all clients that have none; it stays empty
