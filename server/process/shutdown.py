"""How SHUTDOWN ends the server; what is done then is in server/lifecycle."""

from __future__ import annotations

from typing import Protocol


class Shutdown(Protocol):
    """Ends the server."""

    @property
    def is_waiting(self) -> bool:
        """Whether the server will stop as soon as its replicas have everything."""

    @property
    def left_ms(self) -> int | None:
        """How long it waits for that, at most; None if it does not wait."""

    def begin(self, options: frozenset[bytes]) -> bool:
        """Stop, with the *options* of SHUTDOWN. False if not all is safe: the server stays."""

    def abort(self) -> bool:
        """End the wait for replicas. False if there was none."""

    def script_ended(self) -> None:
        """A suspended script has ended: the server may have waited for that."""


class NoShutdown:
    """Stands for it where there is no process to end."""

    is_waiting = False
    left_ms: int | None = None

    def begin(self, _options: frozenset[bytes]) -> bool:
        return True

    def abort(self) -> bool:
        return False

    def script_ended(self) -> None:
        """Nobody has waited for it."""
