"""What the epoll backend alone does with a client's socket."""

from __future__ import annotations

import socket

from server.network.epoll import socket_calls
from tests.server.network.faces import EpollFace
from tests.server.network.test_transport import Pair


def test_what_one_read_leaves_comes_with_the_next_turns():
    """One read a turn: no client that sends much keeps the others waiting."""
    pair = Pair(EpollFace())
    sent = 0
    pair.peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * socket_calls.AT_ONCE)
    while sent <= socket_calls.AT_ONCE:
        sent += pair.peer.send(b"x" * 1000)
    pair.turn()
    assert len(pair.endpoint.data) == socket_calls.AT_ONCE
    pair.turn()
    assert len(pair.endpoint.data) == sent
    pair.leave()
