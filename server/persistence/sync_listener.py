"""Who waits for the append-only file to be on the disk."""

from __future__ import annotations

from typing import Protocol


class SyncListener(Protocol):
    """Hears of it in the thread that has synced."""

    def log_synced(self) -> None:
        """More of the log is safe, or there is no log any more."""


class NoListener:
    """Nobody waits for an fsync."""

    def log_synced(self) -> None:
        """Nobody minds."""
