"""Making sockets: bound to an address, or connected to one."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any

from server.network.sockets import host_name

EVERYWHERE = {"*": "0.0.0.0", "::*": "::"}  # noqa: S104  (where the configuration says so)


def bound_sockets(host: str, port: int) -> list[socket.socket]:
    """A socket for each address that *host* stands for. Raises OSError."""
    name = host_name(EVERYWHERE.get(host, host))
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    try:
        for family, _, _, _, address in dict.fromkeys(found):
            sockets.append(_bound(family, address))
    except OSError:
        for sock in sockets:
            sock.close()
        raise
    return sockets


def _bound(family: int, address: Any) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:  # IPv4 has a socket of its own
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
    except OSError:
        sock.close()
        raise
    return sock


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
