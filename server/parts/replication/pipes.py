"""The pipes that copies come through, which the backend of the sockets reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Pipes(Protocol):
    """Watches descriptors."""

    def add_reader(self, fd: int, call: Callable[[], None]) -> None:
        """Make *call* as long as *fd* has something to read."""

    def remove_reader(self, fd: int) -> None:
        """Stop that. To be called before *fd* is closed."""


class NoPipes:
    """Stands for them where nobody serves sockets, and so nobody replicates."""

    def add_reader(self, _fd: int, _call: Callable[[], None]) -> None:
        """Nobody reads."""

    def remove_reader(self, _fd: int) -> None:
        """Nobody reads."""
