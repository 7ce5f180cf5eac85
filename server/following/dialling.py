"""Connecting to another server, and handing the socket to the backend."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable

from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.network.acceptor import Acceptor
from server.network.sockets import host_name
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


async def connected_socket(host: str, port: int, source: str = "") -> socket.socket:
    """A socket that is connected to *host* and *port*. Raises OSError.

    It comes from the address *source* if one is given, and the machine has it.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host_name(host), port, type=socket.SOCK_STREAM)
    error: OSError = OSError("the host has no address")
    for family, kind, protocol, _, address in found:
        sock = socket.socket(family, kind, protocol)
        sock.setblocking(False)
        try:
            if source:
                await _bind(sock, source)
            await loop.sock_connect(sock, address)
        except OSError as failed:
            error = failed
            sock.close()
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise error


async def _bind(sock: socket.socket, source: str) -> None:
    """Bind *sock* to an address of *source*; leave it as it is if there is none available."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(OSError):
        for *_, address in await loop.getaddrinfo(host_name(source), 0, family=sock.family):
            with contextlib.suppress(OSError):
                sock.bind(address)
                return
