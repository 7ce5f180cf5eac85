"""The options of TCP sockets."""

from __future__ import annotations

import socket

from server.network.tcp_options import keep_alive


def test_a_keep_alive_that_the_system_does_not_take_is_passed_over() -> None:
    """tcp-keepalive 40000 ended the server when the next client came."""
    with socket.socket() as sock:
        keep_alive(sock, 40_000)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        keep_alive(sock, 0)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 0
