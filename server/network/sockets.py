"""The addresses of sockets, as CLIENT LIST shows them, and their options.

host:port, [host]:port with IPv6, path:0 on a unix socket
"""

from __future__ import annotations

import contextlib
import os
import socket
from typing import Any

UNKNOWN = "?:0"
WILDCARDS = ("0.0.0.0", "::")  # noqa: S104  (they are compared with, not bound)

# macOS names the first of them otherwise.
_IDLE = getattr(socket, "TCP_KEEPIDLE", None) or getattr(socket, "TCP_KEEPALIVE", None)


def address(family: int, name: Any) -> str:
    """The address of a socket of *family*; *name* is what getsockname or getpeername gave."""
    if family == socket.AF_UNIX:
        return f"{os.fsdecode(name)}:0"
    if not name:
        return UNKNOWN
    host, port = name[:2]
    return f"[{host}]:{port}" if family == socket.AF_INET6 else f"{host}:{port}"


def host_name(text: str) -> bytes:
    """*text* as getaddrinfo takes it. Raises OSError if no host can have that name.

    A text would be encoded by IDNA there, which takes long to import, and raises other errors.
    """
    if text.isascii():
        return text.encode()
    try:
        return text.encode("idna")
    except UnicodeError:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known") from None


def is_wildcard(family: int, name: Any) -> bool:
    """Whether a socket bound to *name* takes connections to several addresses of the machine."""
    return family != socket.AF_UNIX and name[0] in WILDCARDS


# ---------------------------------------------------------------------- options
# *sock* may be what an event loop shows of a socket.


def send_at_once(sock: Any) -> None:
    """Send small answers without waiting for more."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def keep_alive(sock: Any, seconds: int) -> None:
    """Have the kernel notice within twice *seconds* that a peer has gone, as Redis sets it.

    0 turns that off. What the system refuses is ignored: it takes no more than 32,767 s.
    """
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1 if seconds else 0)
        if seconds and _IDLE is not None:
            sock.setsockopt(socket.IPPROTO_TCP, _IDLE, seconds)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, max(seconds // 3, 1))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
