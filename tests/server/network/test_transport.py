"""One client's socket, over a socket pair, with each of the backends."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from protocol.encoder import Encoder
from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.network.transport import Transport
from server.parts.state import ServerState
from tests.server.network.faces import FACES, Face, opened_face

FAR = 64 * 1024  # bytes; a value of this size is sent without a copy, as a piece
MANY = 1 << 22  # more bytes than a socket pair holds


class Listener(Endpoint):
    """Records what the transport reports."""

    transport: Transport

    def __init__(self):
        super().__init__()
        self.data = b""
        self.events = []
        self.unsent_then: list[int] = []  # each time that the socket had taken a part
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
        self.unsent_then.append(self.transport.unsent())

    def resume_writing(self):
        self.events.append("resume")


class Pair:
    """A transport, and the other end of its socket."""

    def __init__(self, face: Face, endpoint: Any = None) -> None:
        self.face = face
        own, self.peer = socket.socketpair()
        for sock in (own, self.peer):
            sock.setblocking(False)
        self.endpoint: Any = endpoint or Listener()
        self.transport = self.endpoint.transport = face.open(own, self.endpoint)

    def turn(self):
        self.face.turn()

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


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> Iterator[Face]:
    with opened_face(request.param) as face:
        yield face


@pytest.fixture
def pair(face):
    pair = Pair(face)
    yield pair
    pair.leave()


def test_received_data_is_reported_once(pair):
    pair.peer.send(b"abc")
    pair.turn()
    pair.turn()
    assert pair.endpoint.data == b"abc"


def test_eof_is_reported_after_the_data_before_it(pair):
    pair.peer.send(b"abc")
    pair.peer.shutdown(socket.SHUT_WR)
    pair.turn()
    pair.turn()
    assert (pair.endpoint.data, pair.endpoint.events) == (b"abc", ["eof"])


def test_a_broken_connection_is_lost_at_once(pair):
    pair.peer.close()
    pair.write(b"abc")
    assert pair.endpoint.events == ["lost"]
    assert pair.transport.fd == -1
    pair.write(b"more")
    pair.turn()
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
        pair.turn()
    arrived += pair.received()
    assert pair.endpoint.events == ["pause", "resume"]
    assert arrived == data + b"behind"
    assert pair.transport.unsent() == 0


def test_what_is_unsent_gets_less_while_it_is_sent(pair):
    """The endpoint is told, too, and counts the memory: one long reply, of one piece or many."""
    for values in ([bytes(4 * MANY)], [bytes(FAR)] * (4 * MANY // FAR)):
        pair.endpoint.unsent_then = []
        expected = len(written(pair, *values))
        arrived = 0
        while pair.transport.unsent():
            arrived += len(pair.received())
            pair.turn()
        assert arrived + len(pair.received()) == expected
        told = pair.endpoint.unsent_then
        assert told == sorted(told, reverse=True)
        assert len(set(told)) > 4
        assert told[-1] < MANY


def test_what_comes_is_read_while_something_is_unsent(pair):
    pair.write(bytes(MANY))
    for word in (b"abc", b"def"):
        pair.peer.send(word)
        pair.turn()
        assert pair.endpoint.data.endswith(word)
    assert pair.endpoint.events == ["pause"]


def test_an_end_is_reported_while_something_is_unsent_and_the_rest_is_sent(face):
    class Closing(Listener):
        def eof_received(self):
            super().eof_received()
            self.transport.close()

    pair = Pair(face, Closing())
    pair.write(bytes(MANY))
    pair.peer.send(b"abc")
    pair.peer.shutdown(socket.SHUT_WR)
    for _ in range(3):
        pair.turn()
    assert (pair.endpoint.data, pair.endpoint.events) == (b"abc", ["pause", "eof"])
    arrived = 0
    while "lost" not in pair.endpoint.events:
        arrived += len(pair.received())
        pair.turn()
    assert arrived + len(pair.received()) == MANY
    assert pair.endpoint.events == ["pause", "eof", "lost"]
    pair.leave()


def test_nothing_is_read_while_it_is_held_whatever_is_unsent(pair):
    pair.write(bytes(MANY))
    pair.transport.pause_reading()
    pair.peer.send(b"abc")
    pair.turn()
    assert pair.endpoint.data == b""
    pair.transport.resume_reading()
    pair.turn()
    assert pair.endpoint.data == b"abc"
    pair.transport.pause_reading()
    pair.peer.send(b"def")
    while pair.transport.unsent():
        pair.received()
        pair.turn()
    pair.turn()
    assert pair.endpoint.data == b"abc"
    pair.transport.resume_reading()
    pair.turn()
    assert pair.endpoint.data == b"abcdef"


def test_nothing_is_read_once_it_is_closing(pair):
    pair.write(bytes(MANY))
    pair.transport.close()
    pair.peer.send(b"abc")
    pair.turn()
    assert (pair.endpoint.data, pair.endpoint.events) == (b"", ["pause"])


def test_a_connection_that_breaks_while_something_is_unsent_is_lost(pair):
    pair.write(bytes(MANY))
    pair.peer.close()
    while "lost" not in pair.endpoint.events:
        pair.turn()
    assert pair.transport.unsent() == 0


def test_close_waits_until_all_is_sent(pair):
    pair.write(bytes(MANY))
    pair.transport.close()
    arrived = 0
    while "lost" not in pair.endpoint.events:
        arrived += len(pair.received())
        pair.turn()
    assert arrived + len(pair.received()) == MANY
    assert "resume" not in pair.endpoint.events


@pytest.mark.parametrize("end", ["close", "abort"])
def test_what_follows_a_long_reply_may_end_the_connection(face, end):
    """The loop's own transports closed their socket twice then, which ended the server."""

    class Ending(Listener):
        def resume_writing(self):
            super().resume_writing()
            getattr(self.transport, end)()

    pair = Pair(face, Ending())
    pair.write(bytes(MANY))
    while "lost" not in pair.endpoint.events:
        pair.received()
        pair.turn()
    assert pair.endpoint.events == ["pause", "resume", "lost"]
    pair.turn()
    pair.leave()


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

    closer = Pair(pair.face, Closer())
    closer.peer.send(b"abc")
    pair.peer.send(b"abc")
    pair.turn()
    assert pair.endpoint.data == b""
    closer.leave()


def test_a_bug_in_serving_a_client_ends_only_its_connection(pair, caplog):
    class Broken(Listener):
        def data_received(self, data):
            raise ZeroDivisionError

    broken = Pair(pair.face, Broken())
    broken.peer.send(b"abc")
    pair.peer.send(b"abc")
    pair.turn()
    assert pair.endpoint.data == b"abc"
    assert broken.endpoint.events == ["lost"]
    assert "ZeroDivisionError" in caplog.text
    broken.leave()


def test_a_turn_ends_once_after_all_sockets_were_served(pair):
    done = []
    turn = Dispatcher(ServerState(Config())).turn
    pair.face.tell_turns(turn)

    class Answering(Listener):
        def data_received(self, data):
            self.data += data
            turn.send_later(self)

        def send(self):
            done.append(pair.endpoint.data)

    answering = Pair(pair.face, Answering())
    answering.peer.send(b"first")
    pair.peer.send(b"second")
    pair.turn()
    pair.turn()
    assert done == [b"second"]
    answering.leave()


def test_what_is_answered_outside_of_a_turn_is_sent_all_the_same(pair):
    done = []
    turn = Dispatcher(ServerState(Config())).turn
    pair.face.tell_turns(turn)

    class Woken(Listener):
        def send(self):
            done.append(b"sent")

    turn.send_later(Woken())
    assert done == []
    pair.peer.send(b"anybody")
    pair.turn()
    pair.turn()
    assert done == [b"sent"]


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


def test_data_fills_the_buffer_of_the_endpoint_and_the_rest_is_reported_as_usual(face):
    pair = Pair(face, Reader(6))
    pair.peer.send(b"abc")
    pair.turn()
    assert pair.endpoint.word == b"abc\0\0\0"
    pair.peer.send(b"defghi")
    pair.turn()
    pair.turn()
    assert (pair.endpoint.word, pair.endpoint.data) == (b"abcdef", b"ghi")
    pair.leave()


def test_eof_before_the_buffer_is_full_is_reported(face):
    pair = Pair(face, Reader(6))
    pair.peer.send(b"abc")
    pair.peer.shutdown(socket.SHUT_WR)
    pair.turn()
    pair.turn()
    assert (pair.endpoint.filled, pair.endpoint.events) == (3, ["eof"])
    pair.leave()


def test_a_connection_that_breaks_before_the_buffer_is_full_is_lost(face):
    pair = Pair(face, Reader(6))
    pair.write(b"never read")
    pair.peer.close()
    pair.turn()
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
        pair.turn()
    arrived += pair.received()
    assert arrived == expected
    assert pair.endpoint.events == ["pause", "resume"]
    expected = written(pair, large[0])
    assert pair.received() == expected


def test_a_large_value_is_released_as_soon_as_it_is_sent(pair):
    large = [bytes(MANY) for _ in range(3)]
    held = [sys.getrefcount(value) for value in large]
    written(pair, *large)
    assert all(sys.getrefcount(value) > count for value, count in zip(large, held, strict=True))
    while pair.transport.unsent() > 2 * MANY:
        pair.received()
        pair.turn()
    counts = [sys.getrefcount(value) for value in large]
    assert counts[0] == held[0]
    assert counts[1] > held[1]
    assert counts[2] > held[2]
    assert pair.endpoint.unsent_then
    pair.transport.abort()
    pair.turn()
    assert [sys.getrefcount(value) for value in large] == held


def test_close_sends_waiting_pieces_first(pair):
    expected = written(pair, bytes(MANY), bytes(MANY))
    pair.transport.close()
    arrived = b""
    while "lost" not in pair.endpoint.events:
        arrived += pair.received()
        pair.turn()
    assert arrived + pair.received() == expected


def test_a_connection_that_breaks_between_pieces_is_lost(pair):
    pair.peer.close()
    written(pair, bytes(MANY))
    assert pair.endpoint.events == ["lost"]
    assert pair.transport.unsent() == 0
