"""The endpoint of a link that has been dialled."""

from __future__ import annotations

from collections.abc import Callable

from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.network.acceptor import Acceptor
from server.network.transport import Transport


class LinkAcceptor(Acceptor):
    """Makes the endpoint of a link that has been dialled."""

    def __init__(self, config: Config, new_endpoint: Callable[[Transport], Endpoint]) -> None:
        super().__init__(config)
        self._new_endpoint = new_endpoint
        self._endpoint: Endpoint

    def connect(self, transport: Transport) -> Endpoint:
        self._endpoint = self._new_endpoint(transport)
        return self._endpoint

    def begin(self) -> None:
        """The socket is served: let the endpoint say its first words."""
        self._endpoint.resume()

    def close(self) -> None:
        """Nothing to do: the owner of the endpoint closes it."""
