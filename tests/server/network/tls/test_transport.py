"""TLS on one connection: records, long replies, ends."""

from __future__ import annotations

import ssl

import pytest

from protocol.encoder import Encoder
from server.network.tls.context import make_context
from server.network.tls.endpoint import TlsEndpoint
from server.network.tls.handshakes import Handshakes
from server.network.tls.transport import TlsTransport
from tests.certificates import Certificates
from tests.server.network.tls.conftest import MakeConfig
from tests.server.network.tls.wires import Peer, Recorder, Room, Wire

RECORD = 16 * 1024  # bytes of data that a record holds at most
PORTION = 16 * RECORD  # bytes that are encrypted at a time
LONG = bytes(range(256)) * 8192  # two megabytes: more than the portions that a full wire gets
OVERHEAD = 1.01  # what encryption adds to long data, at most


class Call:
    """A connection whose handshake is done."""

    def __init__(self, make_config: MakeConfig, context: ssl.SSLContext) -> None:
        self.wire = Wire()
        self.room = Room()
        self.transport = TlsTransport(self.wire, make_context(make_config()))
        handshakes = Handshakes(self.room, lambda call: call(), 1)
        handshakes.begin(self.transport)
        self.wire.endpoint = TlsEndpoint(self.transport, handshakes)
        self.peer = Peer(self.wire, context)
        self.wire.endpoint.data_received(self.peer.hello())
        self.peer.step()
        self.peer.received()  # the tickets for the next session
        self.endpoint: Recorder = self.room.endpoints[0]

    def write(self, data: bytes) -> None:
        out = Encoder()
        out.raw(data)
        self.transport.write(out)
        assert out.size() == 0


@pytest.fixture(params=["TLSv1_2", "TLSv1_3"])
def call(
    request: pytest.FixtureRequest, certificates: Certificates, make_config: MakeConfig
) -> Call:
    context = certificates.context()
    context.maximum_version = ssl.TLSVersion[request.param]
    return Call(make_config, context)


def test_data_goes_both_ways(call: Call) -> None:
    call.peer.send(b"PING\r\n")
    assert call.endpoint.data == b"PING\r\n"
    call.write(b"+PONG\r\n")
    assert call.peer.received() == b"+PONG\r\n"


def test_long_data_of_a_client_arrive_whole(call: Call) -> None:
    call.peer.send(LONG)
    assert call.endpoint.data == LONG


def test_a_long_word_is_decrypted_into_the_buffer_of_who_wants_it(call: Call) -> None:
    call.endpoint.wants_buffer = True
    call.endpoint.buffer = bytearray(RECORD // 2)
    call.peer.send(LONG)
    assert call.endpoint.data == LONG


def test_a_part_of_a_record_waits_for_the_rest(call: Call) -> None:
    record = call.peer.encrypted(b"PING\r\n")
    for byte in record[:-1]:
        call.wire.endpoint.data_received(bytes([byte]))
    assert call.endpoint.data == b""
    call.wire.endpoint.data_received(record[-1:])
    assert call.endpoint.data == b"PING\r\n"


def test_a_record_whose_end_comes_alone_is_handed_on_in_two_pieces_at_most(call: Call) -> None:
    """A client must not have the server read a record byte by byte."""
    data = LONG[:RECORD]
    record = call.peer.encrypted(data)
    call.wire.endpoint.data_received(record[:-1])
    call.wire.endpoint.data_received(record[-1:])
    assert call.endpoint.data == data
    assert call.endpoint.reads <= 2


def test_a_long_reply_is_encrypted_as_the_wire_takes_it(call: Call) -> None:
    """A slow client costs the reply itself, and one portion of it encrypted."""
    call.wire.is_full = True
    call.write(LONG)
    assert call.endpoint.events == ["pause"]
    assert PORTION <= len(call.wire.kept) < PORTION * OVERHEAD
    assert len(LONG) <= call.transport.unsent() < len(LONG) * OVERHEAD
    taken = b""
    while call.wire.kept:
        call.wire.drain()
        assert len(call.wire.kept) < PORTION * OVERHEAD
        taken += call.peer.received()
    assert taken == LONG
    assert call.endpoint.events[-1] == "resume"
    assert call.transport.unsent() == 0


def test_what_is_written_to_a_full_wire_follows_in_order(call: Call) -> None:
    call.wire.is_full = True
    for number in range(100):
        call.write(b"%d\r\n" % number)
    while call.wire.kept:
        call.wire.drain()
    assert call.peer.received() == b"".join(b"%d\r\n" % number for number in range(100))


def test_a_closed_connection_still_gets_what_was_answered_and_then_a_close_notify(
    call: Call,
) -> None:
    call.wire.is_full = True
    call.write(LONG)
    call.transport.close()
    taken = b""
    while call.wire.is_open:
        call.wire.drain()
        taken += call.peer.received()
    assert taken == LONG
    assert call.peer.session.read(1) == b""  # it would raise an error without a close_notify
    assert call.endpoint.events[-1] == "lost"


def test_a_client_that_is_disconnected_is_told_so(call: Call) -> None:
    call.transport.abort()
    assert not call.wire.is_open
    assert call.peer.received() == b""
    assert call.peer.session.read(1) == b""


def test_a_close_notify_is_the_end_of_what_comes(call: Call) -> None:
    call.peer.send(b"QUIT\r\n")
    call.peer.say_goodbye()
    assert (call.endpoint.data, call.endpoint.events) == (b"QUIT\r\n", ["eof"])
    call.wire.endpoint.eof_received()
    assert call.endpoint.events == ["eof"]


def test_a_client_that_closes_without_a_close_notify_has_ended_too(call: Call) -> None:
    call.wire.endpoint.eof_received()
    assert call.endpoint.events == ["eof"]


def test_an_end_amid_a_record_is_an_end(call: Call) -> None:
    call.wire.endpoint.data_received(call.peer.encrypted(b"SET k v\r\n")[:-5])
    call.wire.endpoint.eof_received()
    assert (call.endpoint.data, call.endpoint.events) == (b"", ["eof"])


@pytest.mark.parametrize("at", [0, 3, 10, -1])
def test_a_record_that_was_changed_on_its_way_ends_the_connection(call: Call, at: int) -> None:
    record = bytearray(call.peer.encrypted(b"SET k v\r\n"))
    record[at] ^= 0x55
    call.wire.endpoint.data_received(bytes(record) + bytes(RECORD))
    assert call.endpoint.data == b""
    assert call.endpoint.events == ["lost"]
    assert not call.wire.is_open


def test_nothing_is_written_once_the_connection_is_lost(call: Call) -> None:
    call.wire.abort()
    call.write(b"+OK\r\n")
    assert call.transport.unsent() == 0
    assert call.transport.fd == -1


def test_it_has_the_addresses_of_the_socket(call: Call) -> None:
    assert (call.transport.address, call.transport.local_address) == ("10.0.0.1:1", "10.0.0.2:2")
    assert call.transport.fd == 7
