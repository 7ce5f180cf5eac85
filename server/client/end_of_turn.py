"""The end of a turn of the loop, when all that was answered in it is sent."""

from __future__ import annotations

from typing import Protocol

from server.client.endpoint import Endpoint


class EndOfTurn(Protocol):
    """Comes when all that was received together has been dealt with."""

    def send_later(self, connection: Endpoint) -> None:
        """Have *connection* send when this turn ends."""


class NoTurns:
    """Stands for it where nobody serves sockets."""

    def send_later(self, _connection: Endpoint) -> None:
        """There is nobody to send to."""
