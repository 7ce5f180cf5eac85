"""TLS as redis-server has it: CONFIG SET and its errors, redis-cli, who gets in."""

from __future__ import annotations

import re
import shlex
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from tests.certificates import Certificates
from tests.compat.comparing import NEWER_FIELDS
from tests.compat.connection import Connection, encode
from tests.compat.oracles import REDIS_7, REDIS_8, REDIS_8_6, command_of
from tests.compat.processes import ServerProcess, penstock_command, redis_tool
from tests.compat.resp import Reply
from tests.ports import free_port


class TlsServer(NamedTuple):
    """A server with a plain port and a TLS port."""

    process: ServerProcess
    tls_port: int
    certificates: Certificates

    def cli(self, *words: str, own: str = "") -> str:
        """What redis-cli shows, over TLS, with the certificate *own*."""
        options = ["--tls", "--cacert", self.certificates["ca.crt"], "-p", str(self.tls_port)]
        if own:
            options += ["--cert", self.certificates[f"{own}.crt"]]
            options += ["--key", self.certificates[f"{own}.key"]]
        done = subprocess.run(
            [redis_tool("redis-cli"), *options, *words], capture_output=True, check=False
        )
        return (done.stdout + done.stderr).decode()


@pytest.fixture(scope="module", params=[REDIS_7, REDIS_8, REDIS_8_6])
def started(
    request: pytest.FixtureRequest,
    certificates: Certificates,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[TlsServer, TlsServer]]:
    """Penstock and an oracle, with the same settings."""
    servers = []
    for command in (penstock_command(), command_of(request.param)):
        port = free_port()
        words = ["--tls-port", str(port)]
        for name, value in certificates.parameters().items():
            words += [f"--{name.replace('_', '-')}", str(value)]
        process = ServerProcess(command, tmp_path_factory.mktemp("tls"), *words)
        servers.append(TlsServer(process, port, certificates))
    yield servers[0], servers[1]
    for server in servers:
        server.process.stop()


@pytest.fixture
def pair(started: tuple[TlsServer, TlsServer]) -> Iterator[tuple[TlsServer, TlsServer]]:
    """The two servers, whose settings are what they were when the test is over."""
    yield started
    for server in started:
        words = []
        for name, value in server.certificates.parameters().items():
            words += [name.replace("_", "-").encode(), str(value).encode()]
        assert server.process.control.call(b"CONFIG", b"SET", *words) == ("+", b"OK")


def both(pair: tuple[TlsServer, TlsServer], ask: Callable[[TlsServer], object]) -> list[object]:
    return [ask(server) for server in pair]


SETTINGS = [
    b"tls-cert-file none.crt", b"tls-cert-file ''", b"tls-key-file none.key",
    b"tls-key-file ''", b"tls-ca-cert-file none.crt", b"tls-ca-cert-file ''",
    b"tls-ca-cert-file '' tls-auth-clients yes", b"tls-ca-cert-dir /none", b"tls-ca-cert-dir ''",
    b"tls-dh-params-file none.pem", b"tls-dh-params-file ''",
    b"tls-protocols TLSv9", b"tls-protocols 'TLSv1.2 TLSv1.3'", b"tls-protocols tlsv1.2",
    b"tls-protocols ' '", b"tls-protocols ''",
    b"tls-ciphers FOO", b"tls-ciphers DEFAULT:!MEDIUM", b"tls-ciphers ''",
    b"tls-ciphersuites FOO", b"tls-ciphersuites TLS_AES_128_GCM_SHA256", b"tls-ciphersuites ''",
    b"tls-prefer-server-ciphers yes", b"tls-prefer-server-ciphers maybe",
    b"tls-auth-clients maybe", b"tls-auth-clients optional", b"tls-auth-clients no",
    b"tls-session-caching no", b"tls-session-caching yes",
    b"tls-session-cache-size -1", b"tls-session-cache-size 0", b"tls-session-cache-size 20480",
    b"tls-session-cache-timeout x", b"tls-session-cache-timeout 60",
    b"tls-port 70000", b"tls-port -1", b"port x",
]  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS, ids=bytes.decode)
def test_a_setting_is_taken_or_refused_in_the_same_words(
    pair: tuple[TlsServer, TlsServer], setting: bytes, protocol: int
) -> None:
    words = [word.encode() for word in shlex.split(setting.decode())]

    def ask(server: TlsServer) -> list[str]:
        connection = Connection(server.process.port, protocol)
        answers = [connection.call(b"CONFIG", b"SET", *words)]
        answers += [connection.call(b"CONFIG", b"GET", name) for name in words[::2]]
        connection.close()
        return [_without_ports(answer, server) for answer in answers]

    ours, theirs = both(pair, ask)
    assert ours == theirs
    assert both(pair, lambda server: server.cli("PING")) == ["PONG\n", "PONG\n"]


def _without_ports(answer: Reply, server: TlsServer) -> str:
    text = repr(answer)
    for port, name in ((server.tls_port, "TLS PORT"), (server.process.port, "PORT")):
        text = re.sub(rf"(?<!\d){port}(?!\d)", name, text)  # 14748 is in 2147483647, too
    return text


@pytest.mark.parametrize("parameter", [b"port", b"tls-port"])
def test_a_port_that_is_taken_is_refused_in_the_same_words(
    pair: tuple[TlsServer, TlsServer], parameter: bytes
) -> None:
    def ask(server: TlsServer) -> list[Reply]:
        taken = server.tls_port if parameter == b"port" else server.process.port
        call = server.process.control.call
        answer = call(b"CONFIG", b"SET", parameter, str(taken).encode())
        return [answer, call(b"PING")]

    ours, theirs = both(pair, ask)
    assert ours == theirs
    assert both(pair, lambda server: server.cli("PING")) == ["PONG\n", "PONG\n"]


@pytest.mark.parametrize("mode", ["no", "optional", "yes"])
@pytest.mark.parametrize("own", ["", "client", "stranger"])
def test_the_same_clients_get_in(pair: tuple[TlsServer, TlsServer], mode: str, own: str) -> None:
    def ask(server: TlsServer) -> bool:
        call = server.process.control.call
        assert call(b"CONFIG", b"SET", b"tls-auth-clients", mode.encode()) == ("+", b"OK")
        gets_in = server.cli("PING", own=own) == "PONG\n"
        assert call(b"CONFIG", b"SET", b"tls-auth-clients", b"no") == ("+", b"OK")
        return gets_in

    ours, theirs = both(pair, ask)
    assert ours == theirs


@pytest.mark.parametrize("version", ["TLSv1_2", "TLSv1_3"])
def test_the_same_cipher_is_chosen_and_the_session_can_be_resumed(
    pair: tuple[TlsServer, TlsServer], version: str, certificates: Certificates
) -> None:
    def ask(server: TlsServer) -> object:
        context = certificates.context()
        context.maximum_version = ssl.TLSVersion[version]
        first = _tls_connection(server, context, None)
        _call(first, b"PING")  # the tickets come before the answer
        second = _tls_connection(server, context, first.session)
        found = (first.cipher(), first.session_reused, second.session_reused)
        first.close()
        second.close()
        return found

    ours, theirs = both(pair, ask)
    assert ours == theirs


def _tls_connection(
    server: TlsServer, context: ssl.SSLContext, session: ssl.SSLSession | None
) -> ssl.SSLSocket:
    plain = socket.create_connection(("127.0.0.1", server.tls_port), timeout=5)
    return context.wrap_socket(plain, server_hostname="localhost", session=session)


def _call(sock: ssl.SSLSocket, *command: bytes) -> bytes:
    sock.sendall(encode(command))
    return sock.recv(1 << 16)


def test_info_and_client_list_are_alike(pair: tuple[TlsServer, TlsServer]) -> None:
    if pair[1].process.is_7_0:
        pytest.skip("Redis 7.0 has no listener lines")
    shown = []
    for server in pair:
        lines = server.cli("INFO", "server").splitlines()
        line = next(line for line in lines if "name=tls" in line)
        shown.append(line.replace(str(server.tls_port), "PORT"))
    assert shown[0] == shown[1]
    fields = [
        [field.split("=")[0] for field in server.cli("CLIENT", "LIST").split()] for server in pair
    ]
    newer = {field.decode() for field in NEWER_FIELDS}
    assert set(fields[0]) - newer == set(fields[1]) - newer
