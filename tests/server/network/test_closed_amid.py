"""A client that is closed during its own work leaves no use of freed memory.

The servers here are processes: a use of freed memory ends them.
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.certificates import Certificates
from tests.polling import until
from tests.ports import free_port

ROOT = Path(__file__).parents[3]
PATIENCE_S = 60.0
SIZE = 20_000_000  # bytes of the value "big": more than a socket takes at once
TRIES = 20
HTTP = b"POST / HTTP/1.1\r\n"
GET_BIG = b"GET big\r\n"

Connect = Callable[[], socket.socket]


class Server:
    """A server in a process of its own, whose files may grow to *file_kb* KiB."""

    def __init__(self, folder: Path, sockets: str, *options: str, file_kb: int = 0) -> None:
        self.port, self.tls_port = free_port(), free_port()
        words = ["--port", str(self.port), "--dir", str(folder), "--save", "", *options]
        with (folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                ["sh", "-c", 'ulimit -f "$0"; exec "$@"', str(2 * file_kb or "unlimited"),
                 sys.executable, "-m", "server", *words],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "PENSTOCK_SOCKETS": sockets},
            )  # fmt: skip
        self._until_it_answers()

    def _until_it_answers(self) -> None:
        until(
            lambda: self._process.poll() is not None or self.ask(b"PING"), "an answer, or the end"
        )
        assert self._process.poll() is None

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)

    def ask(self, line: bytes) -> bytes:
        with self.connect() as sock:
            sock.sendall(line + b"\r\n")
            return sock.recv(4096)

    def is_well(self) -> bool:
        """Whether it answers, and has not ended."""
        with contextlib.suppress(OSError):
            self.ask(b"PING")
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture(params=["epoll", "asyncio"])
def sockets(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def start(tmp_path: Path, sockets: str) -> Iterator[Callable[..., Server]]:
    """Starts servers, which end with the test."""
    servers: list[Server] = []

    def start(*options: str, file_kb: int = 0) -> Server:
        server = Server(tmp_path, sockets, *options, file_kb=file_kb)
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.kill()


def tls_options(server_files: Certificates) -> list[str]:
    return [
        "--tls-cert-file", server_files["server.crt"],
        "--tls-key-file", server_files["server.key"],
        "--tls-ca-cert-file", server_files["ca.crt"],
        "--tls-auth-clients", "no",
    ]  # fmt: skip


def reset(sock: socket.socket) -> None:
    """Close *sock* by a RST, as a client does that goes away with replies unread."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def read(sock: socket.socket, size: int) -> None:
    """Read *size* bytes, or as many as come."""
    left = size
    with contextlib.suppress(OSError):
        while left > 0:
            data = sock.recv(min(left, 1 << 20))
            if not data:
                return
            left -= len(data)


def test_a_reader_who_is_hung_up_on_amid_a_large_reply(start: Callable[..., Server]) -> None:
    server = start()
    server.ask(b"SETRANGE big %d x" % SIZE)
    for _ in range(TRIES):
        with server.connect() as sock:
            sock.sendall(GET_BIG + HTTP)
            read(sock, 2 * SIZE)
        assert server.is_well()


@pytest.mark.parametrize("replies", [2, 3])
def test_a_reader_who_goes_away_amid_large_replies(
    start: Callable[..., Server], replies: int
) -> None:
    server = start()
    server.ask(b"SETRANGE big %d x" % SIZE)
    for turn in range(TRIES):
        sock = server.connect()
        sock.sendall(GET_BIG * replies)
        read(sock, (14 + turn * 26 // TRIES) * 1_000_000)
        reset(sock)
        assert server.is_well()


def test_a_tls_reader_who_goes_away_amid_large_replies(
    start: Callable[..., Server], certificates: Certificates
) -> None:
    port = free_port()
    server = start("--tls-port", str(port), *tls_options(certificates))
    server.ask(b"SETRANGE big %d x" % SIZE)
    for turn in range(TRIES):
        plain = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        with certificates.context().wrap_socket(plain, server_hostname="localhost") as sock:
            sock.sendall(GET_BIG * 2)
            raw = socket.socket(fileno=sock.detach())
        raw.settimeout(PATIENCE_S)
        read(raw, (14 + turn * 26 // TRIES) * 1_000_000)
        reset(raw)
        assert server.is_well()


def test_a_muted_tls_client_that_is_gone_when_its_writes_were_not_saved(
    start: Callable[..., Server], certificates: Certificates
) -> None:
    """Its goodbye fails: the transport is freed below the layer that says it."""
    port = free_port()
    server = start(
        "--tls-port", str(port), *tls_options(certificates), "--appendonly", "yes",
        "--appendfsync", "always", "--busy-reply-threshold", "60000",
        file_kb=15,
    )  # fmt: skip
    for _ in range(TRIES):
        plain = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
        sock = certificates.context().wrap_socket(plain, server_hostname="localhost")
        sock.sendall(b"CLIENT REPLY OFF\r\n")
        with server.connect() as busy:
            script = b"for i = 1, 3000000 do end return 1"
            busy.sendall(b"*3\r\n$4\r\nEVAL\r\n$%d\r\n%b\r\n$1\r\n0\r\n" % (len(script), script))
            with contextlib.suppress(OSError, ssl.SSLError):
                sock.sendall(b"SET k %s\r\n" % (b"v" * 4000) * 10)
            reset(socket.socket(fileno=sock.detach()))
            busy.recv(100)
        assert server.is_well()
