"""The options of TCP sockets; *sock* may be what an event loop shows of one."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

# macOS names the first of them otherwise.
_IDLE = getattr(socket, "TCP_KEEPIDLE", None) or getattr(socket, "TCP_KEEPALIVE", None)


def send_at_once(sock: Any) -> None:
    """Send small answers without waiting for more."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def keep_alive(sock: Any, seconds: int) -> None:
    """Let the kernel find out within twice *seconds* that a peer is gone, as Redis sets it.

    0 turns that off. What the system does not take is passed over: it knows no more than 32,767 s.
    """
    with contextlib.suppress(OSError):
        _set_keep_alive(sock, seconds)


def _set_keep_alive(sock: Any, seconds: int) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1 if seconds else 0)
    if seconds and _IDLE is not None:
        sock.setsockopt(socket.IPPROTO_TCP, _IDLE, seconds)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, max(seconds // 3, 1))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
