"""The end of a turn of the loop, when all that was answered in it is sent."""

from __future__ import annotations

from server.client.client import Client
from server.client.endpoint import Endpoint


class EndOfTurn:
    """What waits for the end of the turn. This one stands for it where nobody serves sockets."""

    __slots__ = ()

    def send_later(self, connection: Endpoint) -> None:
        """Have the answers of *connection* sent when this turn ends."""

    def resume_later(self, client: Client) -> None:
        """*client* was answered after a wait: resume it when this turn ends."""
