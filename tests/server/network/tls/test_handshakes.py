"""Handshakes are led one by one, and bounded in number, time and memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from server.network.tls import handshakes as module
from server.network.tls.acceptor import TlsAcceptor
from server.network.tls.handshakes import LONGEST_MS, MOST_AHEAD
from tests.certificates import Certificates
from tests.server.network.tls.conftest import MakeConfig
from tests.server.network.tls.wires import Peer, Room, Wire


class Door:
    """An acceptor of TLS, and the turns that a test makes by hand."""

    def __init__(self, certificates: Certificates, make_config: MakeConfig) -> None:
        self.room = Room()
        self._client_side = certificates.context()
        self._soon: list[Callable[[], None]] = []
        self.acceptor = TlsAcceptor(make_config(), self.room, self._soon.append)

    def connect(self) -> tuple[Wire, Peer]:
        wire = Wire()
        wire.endpoint = self.acceptor.connect(wire)
        return wire, Peer(wire, self._client_side)

    def turn(self) -> None:
        soon, self._soon[:] = self._soon[:], []
        for call in soon:
            call()


@pytest.fixture
def door(certificates: Certificates, make_config: MakeConfig) -> Door:
    return Door(certificates, make_config)


def test_a_client_comes_in_when_its_handshake_is_done(door: Door) -> None:
    wire, peer = door.connect()
    wire.endpoint.data_received(peer.hello())
    door.turn()
    assert door.room.came == []
    peer.step()
    door.turn()
    assert len(door.room.came) == 1


def test_what_comes_with_the_end_of_the_handshake_is_served(door: Door) -> None:
    wire, peer = door.connect()
    wire.endpoint.data_received(peer.hello())
    door.turn()
    peer.step(b"PING\r\n")
    door.turn()
    assert door.room.endpoints[0].data == b"PING\r\n"


def test_a_handshake_may_come_byte_by_byte(door: Door) -> None:
    wire, peer = door.connect()
    for byte in peer.hello():
        wire.endpoint.data_received(bytes([byte]))
        door.turn()
    peer.step()
    door.turn()
    assert len(door.room.came) == 1


def test_in_one_turn_only_so_many_handshakes_go_on(door: Door, make_config: MakeConfig) -> None:
    door.acceptor.configured(make_config(max_new_tls_connections_per_cycle=2))
    wires = []
    for _ in range(5):
        wire, peer = door.connect()
        wire.endpoint.data_received(peer.hello())
        wires.append(wire)
    answered = []
    for _ in range(4):
        door.turn()
        answered.append(sum(1 for wire in wires if wire.sent))
    assert answered == [2, 4, 5, 5]


@pytest.mark.parametrize(
    "garbage",
    [b"PING\r\n", b"*1\r\n$4\r\nPING\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01garbage",
     b"\x16\x03\x01\x00\x05hello", bytes(64), b"\xff" * 70_000],
)  # fmt: skip
def test_who_speaks_no_tls_is_turned_away(
    door: Door, garbage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    wire, _ = door.connect()
    wire.endpoint.data_received(garbage)
    door.turn()
    assert not wire.is_open
    assert door.room.came == []
    assert "Error accepting a client connection: " in caplog.text
    assert "(addr=10.0.0.1:1 laddr=10.0.0.2:2)" in caplog.text


def test_a_handshake_that_takes_too_long_is_ended(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    wire, peer = door.connect()
    wire.endpoint.data_received(peer.hello()[:20])
    door.turn()
    door.acceptor.tick(1000)
    door.acceptor.tick(1000 + LONGEST_MS)
    assert wire.is_open
    door.acceptor.tick(1001 + LONGEST_MS)
    assert not wire.is_open
    assert "the handshake has taken too long" in caplog.text


def test_a_client_that_is_in_is_not_ended_as_a_handshake(door: Door) -> None:
    wire, peer = door.connect()
    door.acceptor.tick(1000)
    wire.endpoint.data_received(peer.hello())
    door.turn()
    peer.step()
    door.turn()
    door.acceptor.tick(2000 + LONGEST_MS)
    assert wire.is_open


@pytest.mark.parametrize("by", ["their number", "maxclients"])
def test_of_too_many_handshakes_the_oldest_is_ended(
    door: Door, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    if by == "maxclients":
        door.room.space = 3
    else:
        monkeypatch.setattr(module, "MOST", 3)
    wires = [door.connect()[0] for _ in range(5)]
    assert [wire.is_open for wire in wires] == [False, False, True, True, True]


def test_with_no_room_for_clients_there_is_one_handshake_at_a_time(door: Door) -> None:
    """The client can be told that there are too many, as on a plain connection."""
    door.room.space = 0
    wires = [door.connect()[0] for _ in range(2)]
    assert [wire.is_open for wire in wires] == [False, True]


def test_what_comes_ahead_of_its_turn_is_bounded(door: Door) -> None:
    """A client that floods the server before its turn is served at once."""
    wire, peer = door.connect()
    wire.endpoint.data_received(peer.hello())
    for _ in range(MOST_AHEAD // 1024 + 1):
        if wire.is_open:
            wire.endpoint.data_received(bytes(1024))
    assert not wire.is_open


def test_a_client_that_goes_amid_its_handshake_is_forgotten(door: Door) -> None:
    wire, peer = door.connect()
    wire.endpoint.data_received(peer.hello())
    wire.abort()
    door.turn()
    assert wire.sent == b""
    other, peer = door.connect()
    other.endpoint.data_received(peer.hello()[:10])
    other.endpoint.eof_received()
    assert not other.is_open
    door.turn()
    assert door.room.came == []
