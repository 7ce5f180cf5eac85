"""Twins that call the system: each side must do the same with real sockets, clocks and memory."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import importlib
import mmap
import os
import platform
import resource
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from server.process import ticks
from tests.twins import wrappers
from tests.twins.test_twins import FOLDER

COMPILED = [
    "server.network.epoll.socket_calls",
    "server.process.ticks",
    "server.process.reserve_calls",
    "server.process.page_calls",
]
UNCOMPILED_LEG = bool(os.environ.get("PENSTOCK_UNCOMPILED"))
Pair = tuple[socket.socket, socket.socket]


@functools.cache
def compiled() -> ModuleType:
    return wrappers.build("call_twins", wrappers.source_of(COMPILED, ""), FOLDER)


class Side:
    """The functions of *module*, compiled or plain."""

    def __init__(self, module: str, kind: str) -> None:
        self._plain = importlib.import_module(module)
        self._prefix = module.replace(".", "_") + "__"
        self._is_compiled = kind == "compiled"

    def __getattr__(self, name: str) -> Any:
        if self._is_compiled and hasattr(compiled(), self._prefix + name):
            return getattr(compiled(), self._prefix + name)
        return getattr(self._plain, name)


@pytest.fixture(params=["plain", "compiled"])
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "compiled" and UNCOMPILED_LEG:
        pytest.skip("this leg of the tests runs uncompiled")
    return str(request.param)


@pytest.fixture
def calls(kind: str) -> Side:
    return Side("server.network.epoll.socket_calls", kind)


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Two ends of a connection: own, which does not block, and peer."""
    own, peer = socket.socketpair()
    own.setblocking(False)
    with own, peer:
        yield own, peer


@contextlib.contextmanager
def listening(family: int, address: Any) -> Iterator[socket.socket]:
    with socket.socket(family) as sock:
        sock.bind(address)
        sock.listen()
        sock.setblocking(False)
        yield sock


def accepted(calls: Any, family: int, address: Any) -> tuple[str, str]:
    """What a client that comes is called, and what it calls itself."""
    with listening(family, address) as sock, socket.socket(family) as client:
        assert calls.accept(sock.fileno()) is None
        client.connect(sock.getsockname())
        fd, name = calls.accept(sock.fileno())
        with socket.socket(fileno=fd) as own:
            assert not os.get_blocking(fd)
            assert not os.get_inheritable(fd)
            client.send(b"hello")
            assert own.recv(9) == b"hello"
        assert calls.accept(sock.fileno()) is None
        own_name = client.getsockname()
        return name, f"{own_name[0]}:{own_name[1]}" if family != socket.AF_UNIX else own_name


def reset(peer: socket.socket) -> None:
    """Break the connection of TCP that *peer* has."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


@pytest.fixture
def broken() -> Iterator[socket.socket]:
    """One end of a connection that the other has reset."""
    with listening(socket.AF_INET, ("127.0.0.1", 0)) as sock, socket.socket() as peer:
        peer.connect(sock.getsockname())
        own, _ = sock.accept()
        own.setblocking(False)
        reset(peer)
        with own:
            yield own


def fill(calls: Any, own: socket.socket) -> int:
    """Send until the socket takes no more; how many bytes that were."""
    data, sent = bytearray(1 << 20), 0
    while taken := calls.send(own.fileno(), data, len(data)):
        sent += taken
    return sent


def drain(peer: socket.socket) -> bytes:
    peer.setblocking(False)
    data = b""
    with contextlib.suppress(BlockingIOError):
        while piece := peer.recv(1 << 20):
            data += piece
    return data


# ---------------------------------------------------------------------- accept


def test_accept_ipv4(calls: Any) -> None:
    name, own_name = accepted(calls, socket.AF_INET, ("127.0.0.1", 0))
    assert name == own_name


def test_accept_ipv6(calls: Any) -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    name, own_name = accepted(calls, socket.AF_INET6, ("::1", 0))
    assert name == own_name.replace("::1", "[::1]")


def test_accept_unix(calls: Any, tmp_path: Any) -> None:
    assert accepted(calls, socket.AF_UNIX, str(tmp_path / "sock")) == ("", "")


def test_accept_when_there_is_no_file_left(calls: Any) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with listening(socket.AF_INET, ("127.0.0.1", 0)) as sock, socket.socket() as client:
        client.connect(sock.getsockname())
        resource.setrlimit(resource.RLIMIT_NOFILE, (client.fileno() + 1, limits[1]))
        try:
            with pytest.raises(OSError, match="Too many open files"):
                calls.accept(sock.fileno())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_accept_where_nobody_listens(calls: Any, pair: Pair) -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        calls.accept(pair[0].fileno())


# ---------------------------------------------------------------------- receive


def test_receive(calls: Any, pair: Pair) -> None:
    own, peer = pair
    assert calls.receive(own.fileno()) is None
    peer.sendall(b"abc\0def")
    assert calls.receive(own.fileno()) == b"abc\0def"
    assert calls.receive(own.fileno()) is None
    peer.close()
    assert calls.receive(own.fileno()) == b""


def test_receive_takes_so_much_at_once(calls: Any, pair: Pair) -> None:
    own, peer = pair
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 * calls.AT_ONCE)
    peer.sendall(b"x" * calls.AT_ONCE + b"rest")
    assert calls.receive(own.fileno()) == b"x" * calls.AT_ONCE
    assert calls.receive(own.fileno()) == b"rest"


def test_receive_from_a_broken_connection(calls: Any, broken: socket.socket) -> None:
    with pytest.raises(ConnectionResetError):
        calls.receive(broken.fileno())


def test_receive_into(calls: Any, pair: Pair) -> None:
    own, peer = pair
    buffer = bytearray(b"........")
    assert calls.receive_into(own.fileno(), memoryview(buffer)) == -1
    peer.sendall(b"abcdefgh")
    assert calls.receive_into(own.fileno(), memoryview(buffer)[2:5]) == 3
    assert calls.receive_into(own.fileno(), memoryview(buffer)) == 5
    assert buffer == b"defgh..."[:5] + b"..."
    peer.close()
    assert calls.receive_into(own.fileno(), memoryview(buffer)) == 0


def test_receive_into_from_a_broken_connection(calls: Any, broken: socket.socket) -> None:
    with pytest.raises(ConnectionResetError):
        calls.receive_into(broken.fileno(), memoryview(bytearray(9)))


# ---------------------------------------------------------------------- send


def test_send(calls: Any, pair: Pair) -> None:
    own, peer = pair
    data = bytearray(b"abc\0defgh")
    assert calls.send(own.fileno(), data, 5) == 5
    assert drain(peer) == b"abc\0d"
    data += b"it is not held any more"  # else that would be refused
    sent = fill(calls, own)
    assert 0 < sent < 1 << 30
    assert calls.send(own.fileno(), data, 5) == 0
    assert len(drain(peer)) == sent


def test_send_to_nobody(calls: Any, pair: Pair) -> None:
    own, peer = pair
    peer.close()
    with pytest.raises(BrokenPipeError):
        calls.send(own.fileno(), bytearray(b"abc"), 3)


def test_send_to_a_broken_connection(calls: Any, broken: socket.socket) -> None:
    with pytest.raises(ConnectionError):
        calls.send(broken.fileno(), bytearray(b"abc"), 3)


def test_send_pieces(calls: Any, pair: Pair) -> None:
    own, peer = pair
    pieces = [None, None, b"abcdef", bytearray(b"\0ghi"), b"", b"j"]
    assert calls.send_pieces(own.fileno(), pieces, 2, 0) == 11
    assert drain(peer) == b"abcdef\0ghij"
    assert calls.send_pieces(own.fileno(), pieces, 2, 4) == 7
    assert drain(peer) == b"ef\0ghij"
    assert calls.send_pieces(own.fileno(), pieces, 3, 1) == 4
    assert drain(peer) == b"ghij"
    assert pieces == [None, None, b"abcdef", b"\0ghi", b"", b"j"]


def test_send_pieces_sends_so_many_at_once(calls: Any, pair: Pair) -> None:
    own, peer = pair
    pieces = [b"%03d" % n for n in range(2 * calls.MOST_PIECES + 5)]
    sent = calls.send_pieces(own.fileno(), pieces, 3, 1)
    assert sent == 3 * calls.MOST_PIECES - 1
    assert drain(peer) == b"".join(pieces)[10 : 10 + sent]


def test_send_pieces_as_far_as_there_is_room(calls: Any, pair: Pair) -> None:
    own, peer = pair
    pieces = [bytes([n]) * (1 << 20) for n in range(20)]
    sent = calls.send_pieces(own.fileno(), pieces, 0, 0)
    assert 0 < sent < 20 << 20
    at, start = divmod(sent, 1 << 20)
    while sent < 20 << 20 and (taken := calls.send_pieces(own.fileno(), pieces, at, start)):
        sent += taken
        at, start = divmod(sent, 1 << 20)
    assert calls.send_pieces(own.fileno(), pieces, at, start) == 0
    assert drain(peer) == b"".join(pieces)[:sent]


def test_send_pieces_to_nobody(calls: Any, pair: Pair) -> None:
    own, peer = pair
    peer.close()
    with pytest.raises(BrokenPipeError):
        calls.send_pieces(own.fileno(), [b"abc", b"def"], 0, 0)


# ---------------------------------------------------------------------- clocks and memory


def test_both_sides_read_the_same_clocks(kind: str) -> None:
    calls = Side("server.process.ticks", kind)
    assert ticks.now_ns() <= calls.now_ns() <= ticks.now_ns()
    assert ticks.unix_ns() <= calls.unix_ns() <= ticks.unix_ns()
    before = calls.cpu_ticks()
    assert calls.cpu_ticks() >= before


def test_pages_that_are_given_back_are_read_from_their_file_again(
    kind: str, tmp_path: Path
) -> None:
    """What this process has written into its own copy of them is gone: none such may be given."""
    calls = Side("server.process.page_calls", kind)
    (tmp_path / "file").write_bytes(b"f" * mmap.PAGESIZE)
    with (
        (tmp_path / "file").open("r+b") as file,
        mmap.mmap(file.fileno(), mmap.PAGESIZE, access=mmap.ACCESS_COPY) as pages,
    ):
        pages[0:1] = b"o"
        calls.give_back(ctypes.addressof(ctypes.c_char.from_buffer(pages)), mmap.PAGESIZE)
        assert pages[0:2] == (b"ff" if kind == "compiled" else b"of")
        gc.collect()  # what has lent the address
    calls.trim_heap()


@pytest.mark.skipif(UNCOMPILED_LEG or platform.libc_ver()[0] != "glibc", reason="glibc's own")
def test_freed_memory_is_kept_for_the_next_long_value() -> None:
    """In a process of its own: what it changes holds until the process ends."""
    program = """
import platform
import resource
from server.process import program_pages

def faults_of_a_long_value():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    b"v" * 3_000_000
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

program_pages.keep_heap()
faults_of_a_long_value()
print(faults_of_a_long_value())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 100  # of more than 700 pages


def test_the_reserve_is_taken_and_given_back(kind: str) -> None:
    calls = Side("server.process.reserve_calls", kind)
    assert not calls.is_held()
    assert not calls.take(1 << 62)
    assert not calls.is_held()
    assert calls.take(1 << 20)
    assert calls.take(1 << 62)  # it is there
    assert calls.is_held()
    calls.give_back()
    calls.give_back()
    assert not calls.is_held()
