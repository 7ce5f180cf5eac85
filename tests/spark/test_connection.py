"""Connections: passwords, databases, encryption, and servers that answer later."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from pyspark_penstock.connection import Server
from pyspark_penstock.errors import ServerError
from pyspark_penstock.ids import FIRST, LAST
from pyspark_penstock.scan import Scan
from pyspark_penstock.wire import Wire, command, refusal
from tests.compat.processes import ServerProcess, free_port, redis_tool


def server_of(at: dict[str, str], **options: str) -> Server:
    return Server.from_environment(at | options)


def entries(server: Server) -> int:
    return sum(len(page) for page in Scan(server, "s", FIRST, LAST, 10))


def test_a_password_is_given_by_both_kinds_of_connections(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client.xadd("s", {"i": 1})
    client.config_set("requirepass", "secret")
    try:
        monkeypatch.setenv("PW", "secret")
        server = server_of(at, passwordEnv="PW")
        assert entries(server) == 1
        with server.client() as checked:
            assert checked.xlen("s") == 1
        with pytest.raises(ServerError, match="NOAUTH"):
            entries(server_of(at))
        monkeypatch.setenv("PW", "wrong")
        with pytest.raises(ServerError, match="WRONGPASS"):
            entries(server)
    finally:
        redis.Redis(port=int(at["port"]), password="secret").config_set("requirepass", "")


def test_the_database_is_selected(client: redis.Redis, at: dict[str, str]) -> None:
    client.select(3)
    client.xadd("s", {"i": 1})
    client.select(0)
    assert entries(server_of(at, db="3")) == 1
    assert entries(server_of(at)) == 0


def test_the_first_address_that_answers_is_used(client: redis.Redis, at: dict[str, str]) -> None:
    addresses = f"127.0.0.1:{free_port()},127.0.0.1:{at['port']}"
    server = Server.from_environment({"bootstrap.servers": addresses})
    client.xadd("s", {"i": 1})
    assert entries(server) == 1
    with server.client() as checked:
        assert checked.ping()


def test_neither_side_waits_for_the_other(at: dict[str, str]) -> None:
    """Requests and answers that are together far larger than what the sockets hold."""
    text = b"x" * (1 << 16)
    with Wire(server_of(at)) as wire:
        answers = wire.exchange([command("ECHO", text)] * 300)
    assert answers == b"$65536\r\n%s\r\n" % text * 300


def test_nobody_answers() -> None:
    port = free_port()
    with pytest.raises(ServerError, match=f"no server answers at 127.0.0.1:{port}: "):
        Server((("127.0.0.1", port),)).client(retries=0)


@pytest.mark.parametrize("text", ["LOADING Redis is loading the dataset in memory", "BUSY script"])
def test_a_server_that_will_answer_soon_is_waited_for(text: str) -> None:
    assert isinstance(refusal(text), ConnectionError)
    assert isinstance(refusal("WRONGTYPE x"), ServerError)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1"
    subprocess.run(
        [*words.split(), "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
         str(folder / "key.pem"), "-out", str(folder / "cert.pem")],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def tls_port(certificate: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A redis-server that listens for encrypted connections too."""
    port = free_port()
    options = {
        "--tls-port": str(port),
        "--tls-cert-file": str(certificate / "cert.pem"),
        "--tls-key-file": str(certificate / "key.pem"),
        "--tls-auth-clients": "no",
    }
    words = [word for option in options.items() for word in option]
    process = ServerProcess(
        [redis_tool("redis-server")], tmp_path_factory.mktemp("redis-tls"), *words
    )
    process.control.call(b"XADD", b"s", b"*", b"i", b"1")
    yield port
    process.stop()


def test_encrypted(tls_port: int, certificate: Path) -> None:
    at = {"host": "127.0.0.1", "port": str(tls_port)}
    server = server_of(at, **{"tls.caFile": str(certificate / "cert.pem")})
    assert entries(server) == 1
    with server.client() as client:
        assert client.xlen("s") == 1
    with Wire(server) as wire:
        assert wire.exchange([b"PING\r\n"] * 10_000) == b"+PONG\r\n" * 10_000


def test_a_certificate_of_a_stranger_is_refused_unless_that_is_wanted(tls_port: int) -> None:
    at = {"host": "127.0.0.1", "port": str(tls_port)}
    with pytest.raises(ServerError, match="certificate verify failed"):
        server_of(at, tls="true").client(retries=0)
    with server_of(at, **{"tls.verify": "false"}).client() as client:
        assert client.ping()
