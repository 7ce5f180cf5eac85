"""Where the server listens, with each backend."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import asynccontextmanager, closing

import pytest

from server.config.parameters import BadValue, Config
from server.network.listener_kinds import Tcp, kinds_of
from server.network.listeners import Listeners, backend
from server.network.new_sockets import bound_sockets
from tests.ports import free_port
from tests.server.network.faces import StubAcceptor

pytestmark = [pytest.mark.usefixtures("sockets"), pytest.mark.asyncio]


class ListeningServer:
    """Listeners on a backend of their own, and the transports of the clients that connected."""

    def __init__(self, **parameters):
        self.config = Config()
        for name, value in {"port": free_port(), **parameters}.items():
            setattr(self.config, name, value)
        self.acceptor = StubAcceptor()
        self.acceptor.configured(self.config)
        self.accepted = self.acceptor.accepted
        self.backend = backend()
        self.kinds = kinds_of(self.config, self.acceptor, self.backend)
        self.listeners = Listeners(self.config, self.backend, self.kinds)

    async def connects(self, host="127.0.0.1"):
        """Whether a connection is accepted."""
        try:
            _, writer = await asyncio.open_connection(host, self.config.port)
        except OSError:
            return False
        writer.close()
        return True

    async def until_accepted(self, count):
        """Let the loop turn until *count* clients have connected, for ten seconds at most."""
        async with asyncio.timeout(60):
            while len(self.accepted) < count:
                await asyncio.sleep(0)


@asynccontextmanager
async def listening_server(**parameters):
    """A ListeningServer that listens, and is closed in the end."""
    listening = ListeningServer(**parameters)
    listening.backend.start(asyncio.get_running_loop())
    try:
        listening.listeners.open()
        yield listening
    finally:
        listening.listeners.close()
        listening.backend.stop()
        for _ in range(3):  # the loop closes its own sockets when it turns
            await asyncio.sleep(0)


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


async def test_each_client_gets_a_socket_that_does_not_block():
    async with listening_server(bind=["127.0.0.1"]) as listening:
        assert await listening.connects()
        assert await listening.connects()
        await listening.until_accepted(2)
        assert not any(os.get_blocking(transport.fd) for transport in listening.accepted)


async def test_a_transport_knows_both_addresses():
    async with listening_server(bind=["127.0.0.1"]) as listening:
        _, writer = await asyncio.open_connection("127.0.0.1", listening.config.port)
        await listening.until_accepted(1)
        host, port = writer.get_extra_info("sockname")
        assert listening.accepted[0].address == f"{host}:{port}"
        assert listening.accepted[0].local_address == f"127.0.0.1:{listening.config.port}"
        writer.close()


async def test_a_listener_on_all_addresses_knows_the_local_address_of_each_connection():
    async with listening_server(bind=["*"]) as listening:
        assert await listening.connects("127.0.0.1")
        await listening.until_accepted(1)
        assert listening.accepted[0].local_address == f"127.0.0.1:{listening.config.port}"


@pytest.mark.skipif(not has_ipv6(), reason="needs IPv6")
async def test_an_ipv6_host_stands_in_brackets():
    async with listening_server(bind=["::1"]) as listening:
        assert await listening.connects("::1")
        await listening.until_accepted(1)
        assert listening.accepted[0].address.startswith("[::1]:")
        assert listening.accepted[0].local_address == f"[::1]:{listening.config.port}"


async def test_each_new_connection_has_the_present_tcp_keepalive():
    def options(transport):
        with closing(socket.socket(fileno=os.dup(transport.fd))) as sock:
            return [
                bool(sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)),
                sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE),
                sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL),
                sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT),
                bool(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)),
            ]

    async with listening_server(bind=["127.0.0.1"], tcp_keepalive=60) as listening:
        writers = []
        for seconds in (60, 90, 0):
            listening.config.tcp_keepalive = seconds
            listening.acceptor.configured(listening.config)
            writers.append((await asyncio.open_connection("127.0.0.1", listening.config.port))[1])
            await listening.until_accepted(len(writers))
        assert options(listening.accepted[0]) == [True, 60, 20, 3, True]
        assert options(listening.accepted[1]) == [True, 90, 30, 3, True]
        assert options(listening.accepted[2])[0] is False
        for writer in writers:
            writer.close()


async def test_an_unavailable_address_is_an_error():
    with pytest.raises(OSError, match=r" socket 192\.0\.2\.1:\d+: bind: "):
        async with listening_server(bind=["192.0.2.1"]):
            pass


async def test_an_unavailable_address_with_a_dash_is_skipped():
    async with listening_server(bind=["127.0.0.1", "-192.0.2.1"]) as listening:
        assert await listening.connects()
        port = listening.config.port
        assert listening.listeners.descriptions == {
            "listener0": f"name=tcp,bind=127.0.0.1,port={port}"
        }


@pytest.mark.skipif(not has_ipv6(), reason="needs IPv6")
async def test_a_busy_port_of_an_address_with_a_dash_is_an_error():
    """Once, the address was skipped without a word."""
    async with listening_server(bind=["::1"]) as listening:
        with pytest.raises(OSError, match="bind: Address already in use"):
            async with listening_server(port=listening.config.port, bind=["127.0.0.1", "-::1"]):
                pass


async def test_kinds_has_the_accepted_kinds_of_connections(tmp_path):
    path = str(tmp_path / "sock")
    async with listening_server(bind=["127.0.0.1"], unixsocket=path) as listening:
        assert listening.listeners.kinds == ["tcp", "unix"]
    async with listening_server(port=0, unixsocket=path) as listening:
        assert listening.listeners.kinds == ["unix"]


async def test_a_unix_socket_in_a_missing_folder_is_an_error_with_its_path(tmp_path):
    with pytest.raises(OSError, match="none/sock': bind: No such file"):
        async with listening_server(port=0, unixsocket=str(tmp_path / "none" / "sock")):
            pass


async def test_no_address_at_all_is_an_error():
    with pytest.raises(OSError, match="No address to listen on"):
        async with listening_server(bind=["-192.0.2.1"]):
            pass


async def test_a_busy_port_is_an_error():
    async with listening_server(bind=["127.0.0.1"]) as listening:
        with pytest.raises(OSError, match="in use"):
            async with listening_server(port=listening.config.port, bind=["127.0.0.1"]):
                pass


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
async def test_ipv4_and_ipv6_have_a_socket_each():
    async with listening_server(bind=["127.0.0.1", "::1"]) as listening:
        assert await listening.connects("127.0.0.1")
        assert await listening.connects("::1")


@pytest.mark.parametrize(("host", "address"), [("*", "0.0.0.0"), ("::*", "::")])
async def test_an_asterisk_stands_for_all_addresses_of_its_family(host, address):
    if ":" in host and not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    sockets = bound_sockets(host, free_port())
    hosts = [sock.getsockname()[0] for sock in sockets]
    for sock in sockets:
        sock.close()
    assert hosts == [address]


async def test_a_socket_that_a_killed_server_left_behind_is_replaced(tmp_path):
    path = tmp_path / "penstock.sock"
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()
    async with listening_server(port=0, unixsocket=str(path), unixsocketperm=0o700) as listening:
        assert path.stat().st_mode & 0o777 == 0o700
        _, writer = await asyncio.open_unix_connection(str(path))
        await listening.until_accepted(1)
        assert listening.accepted[0].address == listening.accepted[0].local_address == f"{path}:0"
        writer.close()
    assert not path.exists()


async def test_a_bug_in_accepting_a_client_ends_only_its_connection(caplog):
    async with listening_server(bind=["127.0.0.1"]) as listening:
        listening.acceptor.is_broken = True
        reader, writer = await asyncio.open_connection("127.0.0.1", listening.config.port)
        assert await reader.read() == b""
        writer.close()
        assert "who is turned away" in caplog.text
        listening.acceptor.is_broken = False
        assert await listening.connects()
        await listening.until_accepted(1)


def set_bind(listening, *addresses):
    """CONFIG SET bind: what the command does, with the undo of a value that is refused."""
    before, listening.config.bind = listening.config.bind, list(addresses)
    try:
        listening.listeners.follow_bind()
    except BadValue:
        listening.config.bind = before
        raise


async def test_bind_can_be_changed_and_connected_clients_stay():
    async with listening_server(bind=["127.0.0.1"]) as listening:
        port = listening.config.port
        with closing(socket.create_connection(("127.0.0.1", port))):
            await listening.until_accepted(1)
            set_bind(listening, "127.0.0.2", "-203.0.113.7")
            assert not await listening.connects("127.0.0.1")
            assert await listening.connects("127.0.0.2")
            assert listening.accepted[0].fd != -1
        assert listening.listeners.descriptions == {
            "listener0": f"name=tcp,bind=127.0.0.2,port={port}"
        }
        set_bind(listening, "*")
        assert await listening.connects("127.0.0.1")
        set_bind(listening, "127.0.0.1", "127.0.0.2")
        assert await listening.connects("127.0.0.2")


async def test_addresses_that_cannot_be_had_change_nothing():
    async with listening_server(bind=["127.0.0.1", "127.0.0.3"]) as listening:
        was = dict(listening.listeners.descriptions)
        for addresses in (
            ["127.0.0.2", "203.0.113.7"],
            ["203.0.113.7", "127.0.0.1"],
            ["127.0.0.1", "127.0.0.1"],
            ["no.such.host.invalid"],
            ["\u00e9..x"],
            ["\udcff"],
        ):
            with pytest.raises(BadValue, match="Failed to bind to specified addresses"):
                set_bind(listening, *addresses)
            assert listening.listeners.descriptions == was
            assert await listening.connects("127.0.0.1")
            assert await listening.connects("127.0.0.3")
            assert not await listening.connects("127.0.0.2")


async def test_a_server_that_listens_nowhere_can_listen_again():
    async with listening_server(bind=["127.0.0.1"]) as listening:
        set_bind(listening)
        assert not await listening.connects("127.0.0.1")
        assert listening.listeners.kinds == []
        set_bind(listening, "127.0.0.1")
        assert await listening.connects("127.0.0.1")


async def test_who_waits_at_an_address_that_stays_is_not_turned_away():
    async with listening_server(bind=["127.0.0.1", "127.0.0.2"]) as listening:
        with closing(socket.create_connection(("127.0.0.1", listening.config.port))):
            set_bind(listening, "127.0.0.1", "127.0.0.3")  # the client is not let in yet
            await listening.until_accepted(1)


class Echo(Tcp):
    """A kind that Listeners knows nothing of, with a port and an acceptor of its own."""

    name = "echo"
    port_parameter = "echo-port"
    wanted_port = 0

    @property
    def port(self):
        return self.wanted_port


async def test_a_further_kind_is_opened_shown_moved_and_closed_as_the_others_are():
    listening = ListeningServer(bind=["127.0.0.1"])
    acceptor = StubAcceptor()
    acceptor.configured(listening.config)
    echo = Echo(listening.config, acceptor, listening.backend)
    listening.kinds.append(echo)
    echo.wanted_port = free_port()
    listening.backend.start(asyncio.get_running_loop())
    try:
        listening.listeners.open()
        assert listening.listeners.kinds == ["tcp", "echo"]
        shown = listening.listeners.descriptions["listener3"]
        assert shown == f"name=echo,bind=127.0.0.1,port={echo.port}"
        with closing(socket.create_connection(("127.0.0.1", echo.port))):
            async with asyncio.timeout(60):
                while not acceptor.accepted:
                    await asyncio.sleep(0)
        assert not listening.accepted
        first, echo.wanted_port = echo.port, free_port()
        listening.listeners.follow_port("echo-port")
        with closing(socket.create_connection(("127.0.0.1", echo.port))):
            pass
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", first))
    finally:
        listening.listeners.close()
        listening.backend.stop()
        for _ in range(3):
            await asyncio.sleep(0)
    assert listening.listeners.kinds == []
