"""The listener that is told when the AOF is on the disk."""

from __future__ import annotations

from typing import Protocol


class SyncListener(Protocol):
    """Called in the thread that has synced."""

    def log_synced(self) -> None:
        """More of the AOF is safe, or the AOF is off."""


class NoListener:
    """Nobody waits for an fsync."""

    def log_synced(self) -> None:
        """Nothing to do."""
