"""The fuzzer of sockets: it draws what it should, and finds what is planted."""

from __future__ import annotations

import signal
import socket
import ssl
from pathlib import Path
from random import Random

import pytest

from fuzz import sockets
from fuzz.socket_crowd import Crowd
from fuzz.socket_primary import Link
from fuzz.socket_requests import End, Requests, Road, Visit
from fuzz.socket_round import Round
from fuzz.socket_scene import Scene, draw_stock
from fuzz.socket_server import Finding, FuzzedProcess
from fuzz.socket_visitor import Addresses, Probe, Visitor
from fuzz.socket_visits import KINDS, draw_visit
from tests.certificates import Certificates
from tests.polling import until


@pytest.fixture(scope="module")
def scene():
    return Scene([1001, 1002], [1003, 1004], [1005], draw_stock(Random(1)))


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def server(tmp_path, certificates):
    server = FuzzedProcess(Random(1), tmp_path / "server", certificates, "epoll")
    server.start()
    yield server
    server.kill()


# ---------------------------------------------------------------------- what it draws


def test_a_seed_always_draws_the_same_visits(scene):
    first, again = ([draw_visit(Random(n), scene) for n in range(100)] for _ in range(2))
    assert first == again


def test_every_kind_of_client_sends_something(scene):
    for _, draw in KINDS.values():
        for seed in range(30):
            assert draw(Random(seed), scene).done()


def test_visits_come_by_every_road_and_end_in_every_way(scene):
    visits = [draw_visit(Random(n), scene) for n in range(1500)]
    assert {visit.road for visit in visits} == set(Road)
    assert {visit.end for visit in visits} == set(End)
    assert {visit.kind for visit in visits} == set(KINDS)


# ---------------------------------------------------------------------- what its clients do


class Listener:
    """What a visit sends arrives here."""

    def __init__(self) -> None:
        self.sock = socket.create_server(("127.0.0.1", 0))
        self.sock.settimeout(60)
        self.addresses = Addresses(self.sock.getsockname()[1], 0, "")

    def receive(self, crowd):
        """What one client has sent, and how it ended: the bytes, and whether by a reset."""
        connection, _ = self.sock.accept()
        with connection:
            connection.setblocking(False)
            received = b""
            while True:
                crowd.turn(0.01)
                try:
                    data = connection.recv(1 << 16)
                except BlockingIOError:
                    continue
                except ConnectionResetError:
                    return received, True
                if not data:
                    return received, False
                received += data


def perform(end):
    listener, crowd = Listener(), Crowd()
    bursts = Requests().add("PING").wait(0.01).add("GET", "k").done()
    visit = Visit("any", Road.TCP, bursts, 2, [], lasts=0.1, end=end)
    crowd.add(Visitor(visit, listener.addresses, ssl.create_default_context()))
    try:
        return listener.receive(crowd)
    finally:
        crowd.close()
        listener.sock.close()


SENT = b"*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"


@pytest.mark.parametrize("end", [End.CLOSE, End.HALF_CLOSE])
def test_a_visitor_sends_all_its_bursts_and_goes(end):
    assert perform(end) == (SENT, False)


def test_a_visitor_may_end_by_a_reset():
    assert perform(End.RESET)[1]


def test_a_lying_primary_answers_the_handshake_and_sends_a_copy(scene):
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    crowd = Crowd()
    crowd.add(Link(theirs, Random(2), scene, lambda: b"a copy"))
    received = b""
    with ours:
        ours.setblocking(False)
        for line in (b"PING\r\n", b"REPLCONF\r\n", b"PSYNC\r\n"):
            ours.sendall(line)
            begun = len(received)
            while len(received) == begun:
                crowd.turn(0.01)
                try:
                    received += ours.recv(1 << 20)
                except BlockingIOError:
                    continue
        crowd.close()
    assert received.startswith(b"+PONG\r\n+OK\r\n+FULLRESYNC ")


# ---------------------------------------------------------------------- what it finds


def test_a_server_that_ends_by_a_signal_is_found(server):
    server.signal(signal.SIGSEGV)
    with pytest.raises(Finding, match=r"signal 11|Segmentation fault"):
        until(server.check, "a finding")


def test_a_server_that_the_fuzzer_kills_is_no_finding(server):
    server.signal(signal.SIGKILL)
    until(server.has_ended, "the end of the server")
    server.start()
    server.stop()


def test_what_a_sanitizer_says_is_found(tmp_path, certificates, monkeypatch):
    report = "print('==1==ERROR: AddressSanitizer: heap-use-after-free'); input()"
    monkeypatch.setattr("fuzz.socket_server.COMMAND", ("-c", report))
    server = FuzzedProcess(Random(1), tmp_path / "server", certificates, "epoll")
    try:
        with pytest.raises(Finding, match="heap-use-after-free"):
            server.start()
    finally:
        server.kill()


def test_a_server_that_cannot_start_is_found(tmp_path, certificates):
    server = FuzzedProcess(Random(1), tmp_path / "server", certificates, "epoll")
    server.options += ["--no-such-parameter", "1"]
    with pytest.raises(Finding, match="status 1"):
        server.start()


def test_a_server_that_does_not_answer_is_found(server):
    crowd = Crowd()
    server.signal(signal.SIGSTOP)
    crowd.add(Probe(server.addresses, 0.1))
    while not (over := crowd.turn(0.01)):
        pass
    crowd.close()
    (probe,) = over
    assert isinstance(probe, Probe)
    assert probe.failed == "no answer to PING"


def test_a_finding_ends_the_run_with_its_seed_and_what_was_sent(tmp_path, monkeypatch, capsys):
    def crash(this):
        if len(this.visits) > 20:
            this.servers[0].signal(signal.SIGSEGV)

    monkeypatch.setattr(Round, "_disturb", crash)
    assert sockets.main(["-seed=7", f"-artifact_prefix={tmp_path}/"]) == 1
    said = capsys.readouterr().out
    assert "found by -seed=7" in said
    assert "signal 11" in said or "Segmentation fault" in said
    kept = Path(tmp_path, "sockets-7.txt").read_text()
    assert "Ready to accept connections" in kept
    assert " to server " in kept
