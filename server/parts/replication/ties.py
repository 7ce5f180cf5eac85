"""What replication is given by others: who reads its pipes, and who hears of its role."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Pipes(Protocol):
    """Watches the pipes that copies come through; the backend of the sockets does it."""

    def add_reader(self, fd: int, call: Callable[[], None]) -> None:
        """Call *call* whenever *fd* has something to read, until remove_reader()."""

    def remove_reader(self, fd: int) -> None:
        """Watch *fd* no more. To be called before it is closed."""


class NoPipes:
    """Nobody serves sockets, and so nobody replicates."""

    def add_reader(self, _fd: int, _call: Callable[[], None]) -> None:
        """Nobody reads."""

    def remove_reader(self, _fd: int) -> None:
        """Nobody reads."""


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
