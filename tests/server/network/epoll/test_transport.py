"""EpollTransport over a socket pair. The test runs each turn of the selector."""

from __future__ import annotations

import socket
import sys
from typing import Any

import pytest

from protocol.encoder import Encoder
from server.client.endpoint import Endpoint
from server.network.epoll import socket_calls
from server.network.epoll.selector import Selector
from server.network.epoll.transport import EpollTransport

FAR = 64 * 1024  # bytes; a value of this size is sent without a copy, as a piece
MANY = 1 << 22  # more bytes than a socket pair holds


class Listener(Endpoint):
    """Records what the transport reports."""

    def __init__(self):
        super().__init__()
        self.data = b""
        self.events = []
        self.some = 0  # how often the socket took a part of the data
        self.out = Encoder()

    def data_received(self, data):
        self.data += data

    def eof_received(self):
        self.events.append("eof")

    def connection_lost(self):
        self.events.append("lost")

    def pause_writing(self):
        self.events.append("pause")

    def sent_some(self):
        self.some += 1

    def resume_writing(self):
        self.events.append("resume")


class Pair:
    """A transport, and the other end of its socket."""

    def __init__(self, endpoint=None, selector=None):
        self.selector = selector or Selector()
        own, self.peer = socket.socketpair()
        for sock in (own, self.peer):
            sock.setblocking(False)
        self.endpoint: Any = endpoint or Listener()
        self.transport = EpollTransport(own.detach(), "", "", self.selector)
        self.transport.open(self.endpoint)

    def write(self, data):
        out = Encoder()
        out.raw(data)
        self.transport.write(out)
        assert len(out) == 0

    def received(self):
        """All that has arrived at the other end."""
        data = b""
        try:
            while piece := self.peer.recv(1 << 20):
                data += piece
        except BlockingIOError:
            pass
        return data

    def leave(self):
        self.transport.abort()
        self.peer.close()


@pytest.fixture
def pair():
    pair = Pair()
    yield pair
    pair.leave()


def test_received_data_is_reported_once(pair):
    pair.peer.send(b"abc")
    pair.selector.turn()
    pair.selector.turn()
    assert pair.endpoint.data == b"abc"


def test_data_beyond_one_read_comes_with_the_next_turn(pair):
    sent = 0
    pair.peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * socket_calls.AT_ONCE)
    while sent <= socket_calls.AT_ONCE:
        sent += pair.peer.send(b"x" * 1000)
    pair.selector.turn()
    assert len(pair.endpoint.data) == socket_calls.AT_ONCE
    pair.selector.turn()
    assert len(pair.endpoint.data) == sent


def test_eof_is_reported_after_the_data_before_it(pair):
    pair.peer.send(b"abc")
    pair.peer.shutdown(socket.SHUT_WR)
    pair.selector.turn()
    pair.selector.turn()
    assert (pair.endpoint.data, pair.endpoint.events) == (b"abc", ["eof"])


def test_a_broken_connection_is_lost_at_once(pair):
    pair.peer.close()
    pair.write(b"abc")
    assert pair.endpoint.events == ["lost"]
    assert pair.transport.fd == -1
    pair.write(b"more")
    pair.selector.turn()
    assert pair.endpoint.events == ["lost"]


def test_data_that_the_socket_does_not_take_is_sent_when_there_is_room(pair):
    data = bytes(range(256)) * (MANY // 256)
    pair.write(data)
    assert pair.endpoint.events == ["pause"]
    assert 0 < pair.transport.unsent() < MANY
    pair.write(b"behind")
    arrived = b""
    while pair.endpoint.events == ["pause"]:
        arrived += pair.received()
        pair.selector.turn()
    arrived += pair.received()
    assert pair.endpoint.events == ["pause", "resume"]
    assert arrived == data + b"behind"
    assert pair.transport.unsent() == 0


def test_nothing_is_read_while_something_is_unsent(pair):
    pair.write(bytes(MANY))
    pair.peer.send(b"abc")
    pair.selector.turn()
    assert pair.endpoint.data == b""
    while pair.transport.unsent():
        pair.received()
        pair.selector.turn()
    pair.selector.turn()
    assert pair.endpoint.data == b"abc"


def test_close_waits_until_all_is_sent(pair):
    pair.write(bytes(MANY))
    pair.transport.close()
    arrived = 0
    while "lost" not in pair.endpoint.events:
        arrived += len(pair.received())
        pair.selector.turn()
    assert arrived + len(pair.received()) == MANY
    assert "resume" not in pair.endpoint.events


def test_abort_drops_what_is_unsent(pair):
    pair.write(bytes(MANY))
    pair.transport.abort()
    pair.transport.abort()
    assert pair.endpoint.events == ["pause", "lost"]
    assert pair.transport.unsent() == 0


def test_a_socket_closed_earlier_in_the_turn_is_not_served(pair):
    class Closer(Listener):
        def data_received(self, data):
            pair.transport.abort()

    closer = Pair(Closer(), pair.selector)
    closer.peer.send(b"abc")
    pair.peer.send(b"abc")
    pair.selector.turn()
    assert pair.endpoint.data == b""
    closer.leave()


def test_a_bug_in_serving_a_client_ends_only_its_connection(pair, caplog):
    class Broken(Listener):
        def data_received(self, data):
            raise ZeroDivisionError

    broken = Pair(Broken(), pair.selector)
    broken.peer.send(b"abc")
    pair.peer.send(b"abc")
    pair.selector.turn()
    assert pair.endpoint.data == b"abc"
    assert broken.endpoint.events == ["lost"]
    assert "ZeroDivisionError" in caplog.text
    broken.leave()


def test_a_call_at_the_end_of_the_turn_runs_once_after_all_sockets_were_served(pair):
    done = []

    class Waiting(Listener):
        def data_received(self, data):
            self.data += data
            pair.selector.at_end_of_turn(lambda: done.append(pair.endpoint.data))

    waiting = Pair(Waiting(), pair.selector)
    waiting.peer.send(b"first")
    pair.peer.send(b"second")
    pair.selector.turn()
    pair.selector.turn()
    assert done == [b"second"]
    waiting.leave()


# ---------------------------------------------------------------------- buffers of the endpoint


class Reader(Listener):
    """Receives the first *room* bytes into a buffer of its own."""

    def __init__(self, room):
        super().__init__()
        self.word = bytearray(room)
        self.filled = 0
        self.wants_buffer = True

    def get_buffer(self):
        return memoryview(self.word)[self.filled :]

    def buffer_updated(self, size):
        self.filled += size
        self.wants_buffer = self.filled < len(self.word)


def test_data_fills_the_buffer_of_the_endpoint_and_the_rest_is_reported_as_usual():
    pair = Pair(Reader(6))
    pair.peer.send(b"abc")
    pair.selector.turn()
    assert pair.endpoint.word == b"abc\0\0\0"
    pair.peer.send(b"defghi")
    pair.selector.turn()
    assert (pair.endpoint.word, pair.endpoint.data) == (b"abcdef", b"")
    pair.selector.turn()
    assert pair.endpoint.data == b"ghi"
    pair.leave()


def test_eof_before_the_buffer_is_full_is_reported():
    pair = Pair(Reader(6))
    pair.peer.send(b"abc")
    pair.peer.shutdown(socket.SHUT_WR)
    pair.selector.turn()
    pair.selector.turn()
    assert (pair.endpoint.filled, pair.endpoint.events) == (3, ["eof"])
    pair.leave()


def test_a_connection_that_breaks_before_the_buffer_is_full_is_lost():
    pair = Pair(Reader(6))
    pair.write(b"never read")
    pair.peer.close()
    pair.selector.turn()
    assert pair.endpoint.events == ["lost"]
    pair.leave()


# ---------------------------------------------------------------------- large values


def written(pair, *values):
    """Write *values* as bulk strings. Returns the bytes that the peer must get."""
    out, same = Encoder(), Encoder()
    for value in values:
        out.bulk(value)
        same.bulk(value)
    pair.transport.write(out)
    assert len(out) == 0
    return same.take()


def test_pieces_arrive_in_order_whatever_the_socket_takes(pair):
    large = [bytes([n]) * (FAR + n) for n in range(200)]  # more pieces than one call sends
    expected = written(pair, *large)
    expected += written(pair, b"small")
    expected += written(pair, large[7], b"end")
    assert pair.endpoint.events == ["pause"]
    arrived = b""
    while pair.endpoint.events == ["pause"]:
        arrived += pair.peer.recv(100_000)
        pair.selector.turn()
    arrived += pair.received()
    assert arrived == expected
    assert pair.endpoint.events == ["pause", "resume"]
    expected = written(pair, large[0])
    assert pair.received() == expected


def test_a_large_value_is_released_as_soon_as_it_is_sent(pair):
    large = [bytes(MANY) for _ in range(3)]
    held = [sys.getrefcount(value) for value in large]
    written(pair, *large)
    assert [sys.getrefcount(value) for value in large] == [count + 1 for count in held]
    while pair.transport.unsent() > 2 * MANY:
        pair.received()
        pair.selector.turn()
    assert [sys.getrefcount(value) for value in large] == [held[0], held[1] + 1, held[2] + 1]
    assert pair.endpoint.some > 0
    pair.transport.abort()
    assert [sys.getrefcount(value) for value in large] == held


def test_close_sends_waiting_pieces_first(pair):
    expected = written(pair, bytes(MANY), bytes(MANY))
    pair.transport.close()
    arrived = b""
    while "lost" not in pair.endpoint.events:
        arrived += pair.received()
        pair.selector.turn()
    assert arrived + pair.received() == expected


def test_a_connection_that_breaks_amid_pieces_is_lost(pair):
    pair.peer.close()
    written(pair, bytes(MANY))
    assert pair.endpoint.events == ["lost"]
    assert pair.transport.unsent() == 0
