"""A server with a TLS port, on each loop with each backend: clients, certificates, ports."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from server.network.tls import handshakes
from tests.certificates import PASSWORD, Certificates, openssl
from tests.ports import free_port
from tests.server.running import ROOT, Running, Streams, ask, on_each_loop, running
from tests.worth import rounds

FAILED = b"-ERR CONFIG SET failed (possibly related to argument '%s') - %s\r\n"
NOT_UPDATED = b"Unable to update TLS configuration. Check server logs."
NOT_HEARD = b"Unable to listen on this port. Check server logs."
BIG = 8 * 1024 * 1024  # bytes: more than sockets hold


class TlsServer:
    """A running server, and clients that reach it by TLS."""

    def __init__(self, instance: Running, port: int, certificates: Certificates) -> None:
        self.instance = instance
        self.port = port
        self.certificates = certificates

    async def connect(self, own: str = "", context: ssl.SSLContext | None = None) -> Streams:
        """A client, with the certificate *own*."""
        streams = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=context or self.certificates.context(own)
        )
        self.instance._opened.append(streams[1])
        return streams

    async def send(self, *words: object, streams: Streams | None = None) -> bytes:
        """The first line of the answer to a command; by plain TCP if no client is given."""
        reader, writer = streams or await self.instance.connect()
        parts = [str(word).encode() for word in words]
        writer.write(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part)
                                                         for part in parts))  # fmt: skip
        return await reader.readline()

    async def serial_number(self) -> str:
        """Of the certificate that the server shows now."""
        _, writer = await self.connect()
        certificate: dict[str, Any] = writer.get_extra_info("peercert")
        writer.transport.abort()
        return str(certificate["serialNumber"])

    @property
    def clients(self) -> list[Any]:
        return list(self.instance.server.state.clients.values())


@asynccontextmanager
async def serving(certificates: Certificates, **parameters: Any) -> AsyncIterator[TlsServer]:
    tls_port = free_port()
    given = certificates.parameters(**{"tls_port": tls_port, **parameters})
    async with running(**given) as instance:
        yield TlsServer(instance, tls_port, certificates)


@pytest.mark.parametrize("hello", [b"", b"HELLO 3\r\n"])
@on_each_loop
async def test_a_client_is_served(certificates: Certificates, hello: bytes) -> None:
    async with serving(certificates) as server:
        reader, writer = await server.connect()
        writer.write(hello + b"SET k v\r\nGET k\r\nXADD s 1-1 f v\r\nQUIT\r\n")
        assert (await reader.read()).endswith(b"+OK\r\n$1\r\nv\r\n$3\r\n1-1\r\n+OK\r\n")


@on_each_loop
async def test_long_requests_and_replies_pass(certificates: Certificates) -> None:
    async with serving(certificates) as server:
        reader, writer = await server.connect()
        value = bytes(range(256)) * (BIG // 256)
        writer.write(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n%s\r\n" % (BIG, value))
        assert await reader.readline() == b"+OK\r\n"
        writer.write(b"GET k\r\n")
        assert await reader.readline() == b"$%d\r\n" % BIG
        assert await reader.readexactly(BIG) == value


@on_each_loop
async def test_a_blocked_client_is_woken_across_the_ports(certificates: Certificates) -> None:
    async with serving(certificates) as server:
        waiting = await server.connect()
        waiting[1].write(b"BLPOP l 0\r\n")
        await server.instance.until(lambda: server.instance.waiting == 1)
        assert await server.send("LPUSH", "l", "a") == b":1\r\n"
        assert await ask(waiting, b"", 18) == b"*2\r\n$1\r\nl\r\n$1\r\na\r\n"


@on_each_loop
async def test_without_a_plain_port_only_tls_is_heard(certificates: Certificates) -> None:
    async with serving(certificates, port=0) as server:
        reader, writer = await server.connect()
        writer.write(b"INFO server\r\nQUIT\r\n")
        info = (await reader.read()).decode()
        assert f"tcp_port:{server.port}\r\n" in info
        assert f"listener2:name=tls,bind=127.0.0.1,port={server.port}\r\n" in info
        assert "listener0" not in info
        assert server.instance.server._listeners.kinds == ["tls"]


@on_each_loop
async def test_client_list_shows_it_as_any_other(certificates: Certificates) -> None:
    async with serving(certificates) as server:
        streams = await server.connect()
        host, port = streams[1].get_extra_info("sockname")
        await server.send("CLIENT", "ID", streams=streams)
        reader, writer = streams
        writer.write(b"CLIENT LIST\r\nQUIT\r\n")
        line = (await reader.read()).decode()
        assert f"addr={host}:{port} laddr=127.0.0.1:{server.port} fd=" in line
        assert "flags=N" in line


# ---------------------------------------------------------------------- client certificates


@pytest.mark.parametrize(
    ("mode", "own", "name"),
    [
        ("no", "", ""), ("no", "client", ""), ("optional", "", ""),
        ("optional", "client", "client"), ("yes", "client", "client"),
    ],
)  # fmt: skip
@on_each_loop
async def test_the_name_in_a_clients_certificate_is_kept(
    certificates: Certificates, mode: str, own: str, name: str
) -> None:
    async with serving(certificates, tls_auth_clients=mode) as server:
        streams = await server.connect(own)
        assert await server.send("PING", streams=streams) == b"+PONG\r\n"
        assert [client.certificate_name for client in server.clients] == [name]


@pytest.mark.parametrize(
    ("mode", "own"), [("yes", ""), ("yes", "stranger"), ("optional", "stranger")]
)
@on_each_loop
async def test_a_client_without_a_good_certificate_is_turned_away(
    certificates: Certificates, mode: str, own: str
) -> None:
    async with serving(certificates, tls_auth_clients=mode) as server:
        assert not await _is_let_in(server, own)
        assert server.clients == []


async def _is_let_in(server: TlsServer, own: str) -> bool:
    """Whether a client is served. In TLS 1.3 it learns only after the handshake that it is not."""
    try:
        return bool(await server.send("PING", streams=await server.connect(own)))
    except OSError:
        return False


# ---------------------------------------------------------------------- CONFIG SET


@on_each_loop
async def test_a_new_certificate_is_shown_to_who_comes_and_drops_nobody(
    certificates: Certificates,
) -> None:
    async with serving(certificates) as server:
        streams = await server.connect()
        before = await server.serial_number()
        words = ["tls-cert-file", certificates["other.crt"]]
        words += ["tls-key-file", certificates["other.key"]]
        assert await server.send("CONFIG", "SET", *words, streams=streams) == b"+OK\r\n"
        assert await server.serial_number() != before
        assert await server.send("PING", streams=streams) == b"+PONG\r\n"


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("tls-cert-file", "none.crt"), ("tls-cert-file", ""), ("tls-key-file", "none.key"),
        ("tls-protocols", "TLSv9"), ("tls-ciphers", "FOO"), ("tls-ciphersuites", "FOO"),
        ("tls-ca-cert-file", "none.crt"), ("tls-dh-params-file", "none.pem"),
    ],
)  # fmt: skip
@on_each_loop
async def test_a_bad_setting_is_refused_and_changes_nothing(
    certificates: Certificates, parameter: str, value: str
) -> None:
    async with serving(certificates) as server:
        before = await server.serial_number()
        config = server.instance.server.config
        kept = getattr(config, parameter.replace("-", "_"))
        answer = await server.send("CONFIG", "SET", parameter, value)
        assert answer == FAILED % (parameter.encode(), NOT_UPDATED)
        assert getattr(config, parameter.replace("-", "_")) == kept
        assert await server.serial_number() == before


@on_each_loop
async def test_a_password_never_shows(
    certificates: Certificates, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(certificates) as server:
        watching = await server.instance.connect()
        await server.send("MONITOR", streams=watching)
        await server.send("CONFIG", "SET", "slowlog-log-slower-than", 0)
        words = ["tls-key-file", certificates["locked.key"], "tls-key-file-pass"]
        answer = await server.send("CONFIG", "SET", *words, "a wrong secret")
        assert answer == FAILED % (b"tls-key-file", NOT_UPDATED)
        assert await server.send("CONFIG", "SET", *words, PASSWORD) == b"+OK\r\n"
        await server.send("PING", "the end")
        shown = await watching[0].readuntil(b"the end")
        reader, writer = await server.instance.connect()
        writer.write(b"SLOWLOG GET -1\r\nCLIENT LIST\r\nQUIT\r\n")
        shown += await reader.read() + caplog.text.encode()
        assert b"tls-key-file-pass" in shown
        assert b"a wrong secret" not in shown
        assert PASSWORD.encode() not in shown


@on_each_loop
async def test_the_tls_port_opens_moves_and_closes_while_clients_stay(
    certificates: Certificates,
) -> None:
    async with serving(certificates, tls_port=0) as server:
        server.port = free_port()
        assert await server.send("CONFIG", "SET", "tls-port", server.port) == b"+OK\r\n"
        streams = await server.connect()
        first, server.port = server.port, free_port()
        assert await server.send("CONFIG", "SET", "tls-port", server.port) == b"+OK\r\n"
        assert await server.send("PING", streams=await server.connect()) == b"+PONG\r\n"
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", first)
        assert await server.send("CONFIG", "SET", "tls-port", 0) == b"+OK\r\n"
        with pytest.raises(ConnectionRefusedError):
            await server.connect()
        assert await server.send("PING", streams=streams) == b"+PONG\r\n"
        assert list(server.instance.server.state.addresses.descriptions) == ["listener0"]


@on_each_loop
async def test_the_plain_port_moves_and_closes_too(certificates: Certificates) -> None:
    async with serving(certificates) as server:
        plain = await server.instance.connect()
        server.instance.port = free_port()
        answer = await server.send("CONFIG", "SET", "port", server.instance.port, streams=plain)
        assert answer == b"+OK\r\n"
        assert await server.send("PING") == b"+PONG\r\n"
        assert await server.send("CONFIG", "SET", "port", 0) == b"+OK\r\n"
        with pytest.raises(ConnectionRefusedError):
            await server.instance.connect()
        assert await server.send("PING", streams=plain) == b"+PONG\r\n"
        assert await server.send("PING", streams=await server.connect()) == b"+PONG\r\n"


@on_each_loop
async def test_a_port_that_another_has_is_refused_and_changes_nothing(
    certificates: Certificates,
) -> None:
    async with serving(certificates) as server:
        for parameter, taken in (("port", server.port), ("tls-port", server.instance.port)):
            answer = await server.send("CONFIG", "SET", parameter, taken)
            assert answer == FAILED % (parameter.encode(), NOT_HEARD)
        assert await server.send("PING") == b"+PONG\r\n"
        assert await server.send("PING", streams=await server.connect()) == b"+PONG\r\n"
        listening = server.instance.server.state.addresses.descriptions
        assert list(listening) == ["listener0", "listener2"]


@on_each_loop
async def test_a_tls_port_without_a_certificate_is_refused(certificates: Certificates) -> None:
    async with serving(certificates, tls_port=0, tls_cert_file="") as server:
        assert await server.send("CONFIG", "SET", "tls-cert-file", "none.crt") == b"+OK\r\n"
        answer = await server.send("CONFIG", "SET", "tls-port", free_port())
        assert answer == FAILED % (b"tls-port", NOT_UPDATED)
        assert server.instance.server.config.tls_port == 0


@on_each_loop
async def test_certificates_change_while_many_clients_connect_and_work(
    certificates: Certificates,
) -> None:
    async with serving(certificates) as server:
        context = certificates.context()

        async def work() -> None:
            for _ in range(3):
                streams = await server.connect(context=context)
                for _ in range(20):
                    assert await server.send("INCR", "n", streams=streams)
                streams[1].close()

        async def change() -> None:
            for name in ("other", "server") * 5:
                words = ["tls-cert-file", certificates[f"{name}.crt"]]
                words += ["tls-key-file", certificates[f"{name}.key"]]
                assert await server.send("CONFIG", "SET", *words) == b"+OK\r\n"

        await asyncio.gather(*(work() for _ in range(8)), change())
        assert await server.send("INCR", "n") == b":481\r\n"


# ---------------------------------------------------------------------- limits


@on_each_loop
async def test_with_maxclients_a_client_is_told_so_by_tls(certificates: Certificates) -> None:
    async with serving(certificates, maxclients=1) as server:
        streams = await server.connect()
        await server.send("PING", streams=streams)
        reader, _ = await server.connect()
        assert await reader.read() == b"-ERR max number of clients reached\r\n"
        assert await server.send("PING", streams=streams) == b"+PONG\r\n"


@on_each_loop
async def test_many_handshakes_at_once_all_succeed(certificates: Certificates) -> None:
    async with serving(certificates) as server:
        context = certificates.context()
        count = rounds(200)
        came = await asyncio.gather(*(server.connect(context=context) for _ in range(count)))
        assert len(came) == count
        await server.instance.until(lambda: len(server.clients) == count)


@on_each_loop
async def test_half_a_handshake_is_ended_when_its_time_is_over(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handshakes, "LONGEST_MS", 0)
    async with serving(certificates, hz=500) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"\x16\x03\x01\x02\x00\x01")
        with suppress(ConnectionResetError):  # it may end before these bytes are read
            assert await reader.read() == b""
        writer.close()


@on_each_loop
async def test_a_client_that_reads_nothing_is_disconnected_at_its_output_limit(
    certificates: Certificates,
) -> None:
    async with serving(certificates) as server:
        await server.send("CONFIG", "SET", "client-output-buffer-limit", "normal 1mb 0 0")
        await server.send("SETRANGE", "big", BIG, "x")
        reader, writer = await server.connect()
        await server.instance.until(lambda: len(server.clients) == 3)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(b"GET big\r\n" * 20)
        stats = server.instance.server.state.stats
        await server.instance.until(lambda: stats.output_limit_disconnections == 1)
        del reader


@on_each_loop
async def test_a_client_may_write_all_its_requests_before_it_reads_a_reply(
    certificates: Certificates,
) -> None:
    async with serving(certificates) as server:
        value, count = "v" * 5000, 4000
        await server.send("SET", "k", value)
        reader, writer = await server.connect()
        await server.instance.until(lambda: len(server.clients) == 2)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(b"GET k\r\n" * count + b"ECHO end\r\n")
        client = server.clients[-1]
        await server.instance.until(lambda: client.commands == count + 1)
        assert len(client.out) + client.endpoint.unsent() > 1 << 20
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        expected = b"$5000\r\n%b\r\n" % value.encode() * count + b"$3\r\nend\r\n"
        assert await reader.readexactly(len(expected)) == expected
        await server.instance.until(lambda: not client.memory)


@on_each_loop
async def test_plain_text_on_the_tls_port_disturbs_nobody(certificates: Certificates) -> None:
    async with serving(certificates) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"SET k v\r\n")
        with suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()
        assert await server.send("EXISTS", "k", streams=await server.connect()) == b":0\r\n"


# ---------------------------------------------------------------------- as a process


def test_a_server_without_a_tls_port_loads_nothing_of_it() -> None:
    program = (
        "import sys, server.__main__, server.network.listeners as all;"
        "all.backend(); sys.exit(any('.tls' in name for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


def test_a_start_with_bad_settings_says_why_and_ends(certificates: Certificates) -> None:
    command = [sys.executable, "-m", "server", "--port", "0", "--tls-port", str(free_port()),
               "--save", "", "--dir", str(certificates.folder)]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"No tls-cert-file configured!" in done.stdout
    assert b"Failed to configure TLS. Check logs for more info." in done.stdout + done.stderr


@on_each_loop
async def test_a_client_cannot_renegotiate(certificates: Certificates) -> None:
    async with serving(certificates, tls_protocols="TLSv1.2") as server:
        words = ["s_client", "-connect", f"127.0.0.1:{server.port}", "-CAfile", "ca.crt"]
        shown = await asyncio.to_thread(openssl, certificates.folder, *words, typed=b"R\n")
        assert b"RENEGOTIATING" in shown
        assert b"no renegotiation" in shown
