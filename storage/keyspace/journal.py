"""What all databases share: the time, the count of changes, and who hears of them."""

from __future__ import annotations


class Journal:
    """The keyspaces write here what happens to keys; the server overrides what it wants to hear.

    Storage has no clock: the server sets *now_ms* (unix time) before each batch of commands.
    """

    __slots__ = (
        "changes",
        "expired",
        "hides_expired",
        "hits",
        "keeps_expired",
        "misses",
        "no_touch",
        "now_ms",
    )

    def __init__(self) -> None:
        self.now_ms = 0
        self.changes = 0  # writes since the last save; redis calls it dirty
        self.expired = 0  # keys that have gone because their time was up
        self.hits = 0  # reads that found their key
        self.misses = 0
        self.no_touch = (
            False  # while the command of a client runs whose look-ups are no use of keys
        )
        self.keeps_expired = False  # while data is loaded: what has been logged decides alone
        self.hides_expired = False  # while writes are paused: gone for readers, but not removed

    def touched(self, db: int, key: bytes, event: bytes) -> None:
        """The value at *key* was changed, made or removed by what *event* names."""

    def noted(self, db: int, key: bytes, event: bytes) -> None:
        """Like touched, but WATCH does not mind: a group is no part of a stream's value."""

    def ready(self, db: int, key: bytes) -> None:
        """*key* may now have what somebody waits for: it was made, appended to, or is gone."""

    def gone(self, db: int, key: bytes) -> None:
        """*key* expired: the AOF and the replicas must hear of a deletion."""
