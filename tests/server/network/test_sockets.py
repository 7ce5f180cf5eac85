"""The options of TCP sockets."""

from __future__ import annotations

import socket

from server.network.sockets import keep_alive


def test_a_keepalive_time_that_the_system_refuses_is_ignored() -> None:
    """Once, tcp-keepalive 40000 ended the server when the next client connected."""
    with socket.socket() as sock:
        keep_alive(sock, 40_000)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        keep_alive(sock, 0)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 0
