"""What a backend asks for when it accepts a client: the server's end of the connection."""

from __future__ import annotations

from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.network.transport import Transport
from server.observe.part import Part


class Acceptor(Part):
    """Makes the endpoint of each connection. *keep_alive_s* is the present tcp-keepalive."""

    def __init__(self, config: Config) -> None:
        self.configured(config)

    def configured(self, config: Config) -> None:
        self.keep_alive_s: int = config.tcp_keepalive

    def room(self) -> int:
        """How many more may connect."""
        raise NotImplementedError

    def connect(self, transport: Transport) -> Endpoint:
        """Serve the client at the other end of *transport*. Called once for each that comes."""
        raise NotImplementedError
