"""The listener that is told of the server's role in replication."""

from __future__ import annotations

from typing import Protocol


class RoleListener(Protocol):
    """Does what follows from the role."""

    def role_changed(self) -> None:
        """The server has become a primary or a replica, or follows another primary."""

    def hold_writes(self, holds: bool) -> None:
        """Pause writes while a replica catches up; resume them if not *holds*."""


class NoListener:
    """There is no dispatcher, whose clients would notice."""

    def role_changed(self) -> None:
        """Nothing follows."""

    def hold_writes(self, _holds: bool) -> None:
        """Nobody writes."""
