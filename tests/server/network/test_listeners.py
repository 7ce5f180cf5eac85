"""Where the server listens."""

from __future__ import annotations

import asyncio
import errno
import socket
from contextlib import closing

import pytest

from server.config.parameters import Config
from server.network.listeners import Listeners, bound_sockets
from server.network.selector import Selector


def free_port():
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        return probe.getsockname()[1]


class Door:
    """Listeners on a selector of their own, and who has come."""

    def __init__(self, **parameters):
        self.config = Config()
        for name, value in {"port": free_port(), **parameters}.items():
            setattr(self.config, name, value)
        self.selector = Selector()
        self.came: list[socket.socket] = []
        self.listeners = Listeners(self.config, self.selector, self.came.append)

    def open(self):
        asyncio.run(self.listeners.open())
        return self

    def knock(self, host="127.0.0.1"):
        """Whether somebody answers there."""
        try:
            sock = socket.create_connection((host, self.config.port), timeout=5)
        except OSError:
            return False
        sock.close()
        return True

    def close(self):
        for sock in self.came:
            sock.close()
        self.listeners.close()


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def test_each_who_knocks_comes_in_with_a_socket_that_does_not_block():
    with closing(Door(bind=["127.0.0.1"]).open()) as door:
        assert door.knock()
        assert door.knock()
        door.selector.turn()
        assert [sock.getblocking() for sock in door.came] == [False, False]


def test_an_address_that_the_machine_lacks_is_an_error():
    door = Door(bind=["192.0.2.1"])
    with closing(door), pytest.raises(OSError, match=r" socket 192\.0\.2\.1:\d+: bind: "):
        door.open()


def test_with_a_dash_before_it_it_is_left_out():
    with closing(Door(bind=["127.0.0.1", "-192.0.2.1"]).open()) as door:
        assert door.knock()
        assert [line.split(",")[1] for line in door.listeners.descriptions] == ["bind=127.0.0.1"]


@pytest.mark.skipif(not has_ipv6(), reason="needs IPv6")
def test_an_optional_address_whose_port_another_has_was_left_out_in_silence():
    with closing(Door(bind=["::1"]).open()) as door:
        late = Door(port=door.config.port, bind=["127.0.0.1", "-::1"])
        with closing(late), pytest.raises(OSError, match="bind: Address already in use"):
            late.open()


def test_the_log_tells_what_kinds_of_connections_are_accepted(tmp_path):
    with closing(Door(bind=["127.0.0.1"], unixsocket=str(tmp_path / "sock")).open()) as door:
        assert door.listeners.kinds == ["tcp", "unix"]
    with closing(Door(port=0, unixsocket=str(tmp_path / "sock")).open()) as door:
        assert door.listeners.kinds == ["unix"]


def test_a_path_whose_folder_is_missing_is_named(tmp_path):
    door = Door(port=0, unixsocket=str(tmp_path / "none" / "sock"))
    with closing(door), pytest.raises(OSError, match="none/sock': bind: No such file"):
        door.open()


def test_no_address_at_all_is_an_error():
    door = Door(bind=["-192.0.2.1"])
    with closing(door), pytest.raises(OSError, match="No address to listen on"):
        door.open()


def test_a_port_that_is_taken_is_an_error():
    with closing(Door(bind=["127.0.0.1"]).open()) as door:
        late = Door(port=door.config.port, bind=["127.0.0.1"])
        with closing(late), pytest.raises(OSError, match="in use"):
            late.open()


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_ipv4_and_ipv6_have_a_socket_each():
    with closing(Door(bind=["127.0.0.1", "::1"]).open()) as door:
        assert door.knock("127.0.0.1")
        assert door.knock("::1")


@pytest.mark.parametrize(("host", "address"), [("*", "0.0.0.0"), ("::*", "::")])
def test_an_asterisk_stands_for_all_addresses_of_its_family(host, address):
    if ":" in host and not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    sockets = asyncio.run(bound_sockets(host, free_port()))
    hosts = [sock.getsockname()[0] for sock in sockets]
    for sock in sockets:
        sock.close()
    assert hosts == [address]


def test_a_socket_that_a_killed_server_left_behind_is_replaced(tmp_path):
    path = tmp_path / "penstock.sock"
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()
    with closing(Door(port=0, unixsocket=str(path), unixsocketperm=0o700).open()) as door:
        assert path.stat().st_mode & 0o777 == 0o700
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.connect(str(path))
        door.selector.turn()
        assert len(door.came) == 1
    assert not path.exists()


def no_room(_sock: socket.socket) -> None:
    raise ZeroDivisionError


def test_a_bug_in_letting_a_client_in_costs_that_client_alone(caplog):
    with closing(Door(bind=["127.0.0.1"])) as door:
        let_in, door.listeners._connect = door.listeners._connect, no_room
        door.open()
        with closing(socket.create_connection(("127.0.0.1", door.config.port))) as client:
            door.selector.turn()
            assert client.recv(1) == b""
        assert "who is turned away" in caplog.text
        door.listeners._listeners[0]._connect = let_in
        door.knock()
        door.selector.turn()
        assert len(door.came) == 1


def test_while_there_is_no_file_for_a_client_the_listener_rests(monkeypatch, caplog):
    """Else it would be told of that client again and again, and nobody else would be served."""

    def no_file(_self):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("server.network.listeners.RETRY_S", 0)

    async def scene():
        await door.listeners.open()
        assert door.knock()
        with monkeypatch.context() as short_of_files:
            short_of_files.setattr(socket.socket, "accept", no_file)
            door.selector.turn()
            door.selector.turn()
        assert caplog.text.count("cannot accept a client for now: Too many open files") == 1
        while not door.came:
            await asyncio.sleep(0)
            door.selector.turn()

    with closing(Door(bind=["127.0.0.1"])) as door:
        asyncio.run(scene())
