"""Connections: passwords, databases, TLS, and servers that are not ready."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.client import Client
from pyspark_penstock.connect.connection import command, refusal
from pyspark_penstock.connect.dial import dial
from pyspark_penstock.entry_id import FIRST, LAST
from pyspark_penstock.errors import OptionError, ServerError
from pyspark_penstock.read.scan import Scan
from tests.ports import free_port


def server_of(at: dict[str, str], **options: str) -> Server:
    return Server.from_environment(at | options)


def entries(server: Server) -> int:
    return sum(len(page) for page in Scan(server, "s", FIRST, LAST, 10))


def test_both_kinds_of_connections_send_the_password(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client.xadd("s", {"i": 1})
    client.config_set("requirepass", "secret")
    try:
        monkeypatch.setenv("PW", "secret")
        server = server_of(at, passwordEnv="PW")
        assert entries(server) == 1
        with Client(server) as checked:
            assert checked.xlen("s") == 1
        with pytest.raises(ServerError, match="NOAUTH"):
            entries(server_of(at))
        monkeypatch.setenv("PW", "wrong")
        with pytest.raises(ServerError, match="WRONGPASS"):
            entries(server)
    finally:
        redis.Redis(port=int(at["port"]), password="secret").config_set("requirepass", "")


@pytest.fixture
def guarded(client: redis.Redis, at: dict[str, str]) -> Iterator[redis.Redis]:
    """A client of a server that requires a password and has one stream."""
    client.xadd("s", {"i": 1})
    client.config_set("requirepass", "secret")
    with redis.Redis(port=int(at["port"]), password="secret") as admitted:
        yield admitted
        admitted.config_set("requirepass", "")


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("secret", {}),
        ("secret\n", {"username": "default"}),
        ('password = "secret"\n', {}),
        ('username = "default"\npassword = "secret"', {}),
    ],
)
def test_a_credentials_file_can_hold_the_password_and_the_user(
    guarded: redis.Redis, at: dict[str, str], tmp_path: Path, content: str, options: dict[str, str]
) -> None:
    (tmp_path / "file").write_text(content)
    server = server_of(at, credentialsFile=str(tmp_path / "file"), **options)
    assert entries(server) == 1
    with Client(server) as client:
        assert client.xlen("s") == 1


@pytest.mark.parametrize("server", ["redis"], indirect=True)  # Penstock has only the default user
def test_the_user_of_the_credentials_file_connects(
    guarded: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    guarded.acl_setuser("ann", enabled=True, passwords=["+hers"], categories=["+@all"])
    (tmp_path / "file").write_text('username = "ann"\npassword = "hers"')
    server = server_of(at, credentialsFile=str(tmp_path / "file"))
    try:
        with dial(server) as connection:
            assert connection.call("ACL", "WHOAMI") == b"ann"
        with Client(server) as client:
            assert client.acl_whoami() == "ann"
    finally:
        guarded.acl_deluser("ann")


def test_a_changed_password_is_read_at_the_next_connection(
    guarded: redis.Redis, at: dict[str, str], tmp_path: Path
) -> None:
    """A redis-py client that has connected before reads it too."""
    (tmp_path / "file").write_text("secret")
    server = server_of(at, credentialsFile=str(tmp_path / "file"))
    with Client(server) as client:
        guarded.config_set("requirepass", "changed")
        guarded.client_kill_filter(_type="normal", skipme=True)
        (tmp_path / "file").write_text("changed")
        try:
            assert client.xlen("s") == 1
            assert entries(server) == 1
        finally:
            guarded.config_set("requirepass", "secret")


def test_a_user_in_both_file_and_options_is_refused(at: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text('username = "ann"\npassword = "hers"')
    server = server_of(at, credentialsFile=str(tmp_path / "file"), username="bob")
    for connect in (dial, lambda server: Client(server).ping()):
        with pytest.raises(OptionError, match=r"'username' .* credentialsFile=.*contradict"):
            connect(server)


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
    with Client(server) as checked:
        assert checked.ping()


def test_a_large_exchange_does_not_deadlock(at: dict[str, str]) -> None:
    """Requests and replies are much larger than the socket buffers."""
    text = b"x" * (1 << 16)
    with dial(server_of(at)) as connection:
        answers = connection.exchange([command("ECHO", text)] * 300)
    assert answers == b"$65536\r\n%s\r\n" % text * 300


def test_a_refused_login_is_reported_as_such(
    guarded: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PW", "wrong")
    for options in ({}, {"passwordEnv": "PW"}):
        refused = rf"the server at 127\.0\.0\.1:{at['port']} refuses the login: "
        with pytest.raises(ServerError, match=refused):
            Client(server_of(at, **options)).ping()


def test_a_refused_database_is_reported_with_the_server(
    client: redis.Redis, at: dict[str, str]
) -> None:
    refused = (
        rf"the server at 127\.0\.0\.1:{at['port']} refuses SELECT: ERR DB index is out of range"
    )
    with pytest.raises(ServerError, match=refused):
        Client(server_of(at, db="99")).ping()


@pytest.mark.parametrize("option", ["tls.caFile", "tls.certFile", "tls.keyFile"])
def test_an_unreadable_tls_file_is_named(option: str) -> None:
    """The failure comes at once, without connecting and without retries."""
    server = server_of({"host": "127.0.0.1", "port": "1"}, **{option: "/nope"})
    with pytest.raises(OptionError, match=f"{option}='/nope': the file cannot be read: No such"):
        Client(server).ping()
    assert server.tls is not None
    with pytest.raises(OptionError, match=option):
        server.tls.context()


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({"tls.caFile": "file"}, "tls.caFile='.*file': no certificate: "),
        ({"tls.certFile": "file"}, "tls.certFile='.*file', tls.keyFile=None: no certificate and "),
    ],
)
def test_an_invalid_tls_file_is_named_at_once(
    tmp_path: Path, options: dict[str, str], refused: str
) -> None:
    (tmp_path / "file").write_text("something else")
    given = {name: str(tmp_path / file) for name, file in options.items()}
    with pytest.raises(OptionError, match=refused):
        Client(server_of({"host": "127.0.0.1", "port": "1"}, **given)).ping()


def test_a_failed_tls_handshake_is_not_retried() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer_once() -> None:
            with listener.accept()[0] as plain:
                plain.recv(1 << 16)
                plain.sendall(b"-ERR Protocol error\r\n")

        threading.Thread(target=answer_once).start()
        port = listener.getsockname()[1]
        at = {"host": "127.0.0.1", "port": str(port)}
        with pytest.raises(ServerError, match=rf"^no TLS with the server at 127.0.0.1:{port}: "):
            Client(server_of(at, tls="true")).ping()


@pytest.mark.parametrize("text", ["LOADING Redis is loading the dataset in memory", "BUSY script"])
def test_loading_and_busy_errors_are_retried(text: str) -> None:
    assert isinstance(refusal(text), ConnectionError)
    assert isinstance(refusal("WRONGTYPE x"), ServerError)


def test_both_kinds_of_connections_use_tls(tls_port: int, certificate: Path) -> None:
    at = {"host": "127.0.0.1", "port": str(tls_port)}
    server = server_of(at, **{"tls.caFile": str(certificate / "cert.pem")})
    assert entries(server) == 1
    with Client(server) as client:
        assert client.xlen("s") == 1
    with dial(server) as connection:
        assert connection.exchange([b"PING\r\n"] * 10_000) == b"+PONG\r\n" * 10_000


def test_an_untrusted_certificate_is_refused_unless_verification_is_off(tls_port: int) -> None:
    at = {"host": "127.0.0.1", "port": str(tls_port)}
    with pytest.raises(ServerError, match="certificate verify failed"):
        Client(server_of(at, tls="true")).ping()
    with Client(server_of(at, **{"tls.verify": "false"})) as client:
        assert client.ping()
