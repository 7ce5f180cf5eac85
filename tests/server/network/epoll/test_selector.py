"""How long a selector stays with its sockets, and what has it leave.

No time is measured. A turn that does not end when it should is ended by the test's limit.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from threading import Event, Thread

import pytest

from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.network.epoll.selector import Selector
from server.parts.state import ServerState
from server.process import build
from server.process.faults import ServerFault

FAR = 1_000_000.0  # s from now, when the loop is due


class Loop:
    """Has nothing to do but what it is told here."""

    def __init__(self) -> None:
        self.readers: dict[int, Callable[[], None]] = {}
        self.soon: list[Callable[[], None]] = []

    def call_soon(self, call: Callable[[], None]) -> None:
        self.soon.append(call)

    def add_reader(self, fd: int, call: Callable[[], None]) -> None:
        self.readers[fd] = call

    def remove_reader(self, fd: int) -> None:
        del self.readers[fd]


class Watched:
    """A selector that watches one end of a socket pair; *on_byte* is called for each byte."""

    def __init__(self) -> None:
        self.selector = Selector()
        self.loop = Loop()
        self.selector.start(self.loop)  # type: ignore[arg-type]
        self.near, self.far = socket.socketpair()
        self.came = b""
        self.on_byte: dict[bytes, Callable[[], object]] = {}
        self.selector.add_reader(self.near.fileno(), self._read)

    def _read(self) -> None:
        byte = self.near.recv(1)
        self.came += byte
        self.on_byte.get(byte, lambda: None)()

    def stay(self) -> None:
        self.selector.stay_until(time.monotonic() + FAR)

    def close(self) -> None:
        self.selector.stop()
        self.near.close()
        self.far.close()


@pytest.fixture
def watched() -> Iterator[Watched]:
    made = Watched()
    yield made
    made.close()


def test_a_turn_serves_what_is_there_and_ends(watched: Watched) -> None:
    watched.far.send(b"ab")
    watched.selector.turn()
    assert watched.came == b"a"
    watched.selector.turn()
    assert watched.came == b"ab"
    watched.selector.turn()
    assert watched.came == b"ab"


def test_a_turn_goes_on_until_the_loop_is_due(watched: Watched) -> None:
    watched.stay()
    watched.on_byte[b"a"] = lambda: watched.far.send(b"b")
    watched.on_byte[b"b"] = lambda: watched.selector.stay_until(0.0)
    watched.far.send(b"a")
    watched.selector.turn()
    assert watched.came == b"ab"


def test_a_turn_waits_for_what_comes_before_the_loop_is_due(watched: Watched) -> None:
    watched.selector.stay_until(time.monotonic() + 0.05)
    watched.far.send(b"a")
    watched.selector.turn()  # nothing more comes, and the wait ends by itself
    assert watched.came == b"a"


def test_a_turn_that_finds_nothing_does_not_wait(watched: Watched) -> None:
    watched.stay()
    watched.selector.turn()


def test_another_thread_has_it_leave(watched: Watched) -> None:
    watched.stay()
    thread = Thread(target=watched.selector.ring)
    watched.on_byte[b"a"] = thread.start
    watched.far.send(b"a")
    watched.selector.turn()
    thread.join()
    watched.selector.stay_until(0.0)
    watched.far.send(b"b")
    watched.selector.turn()  # the bell has been heard, and does not ring on
    assert watched.came == b"ab"


def test_an_answer_that_is_made_while_others_are_sent_has_it_leave(watched: Watched) -> None:
    turn = Dispatcher(ServerState(Config())).turn
    watched.selector.tell_turns(turn)
    sent: list[Endpoint] = []

    class Answering(Endpoint):
        def send(self) -> None:
            if not sent:
                turn.send_later(Answering())
                watched.far.send(b"b")
            sent.append(self)

    watched.stay()
    watched.on_byte[b"a"] = lambda: turn.send_later(Answering())
    watched.far.send(b"a")
    watched.selector.turn()
    assert (watched.came, len(sent)) == (b"a", 1)
    for call in watched.loop.soon:
        call()
    assert len(sent) == 2


def test_a_call_that_the_loop_has_asked_for_before_has_it_leave(watched: Watched) -> None:
    """As a long script does, which is resumed between the turns of the sockets."""
    turn = Dispatcher(ServerState(Config())).turn
    watched.selector.tell_turns(turn)
    watched.stay()
    watched.on_byte[b"a"] = lambda: watched.far.send(b"b")
    turn.run_later(lambda: None)
    watched.far.send(b"a")
    watched.selector.turn()
    assert watched.came == b"a"
    for call in watched.loop.soon:
        call()
    watched.far.send(b"c")
    watched.selector.turn()
    assert watched.came.startswith(b"ab")


def test_the_loop_has_some_turns_for_itself_behind_each_stay(watched: Watched) -> None:
    """Else what has ended the stay would wait for the end of the next one."""
    watched.stay()
    watched.on_byte[b"a"] = watched.selector.ring
    watched.far.send(b"a")
    watched.selector.turn()
    watched.far.send(b"bcd")
    for _ in range(2):
        watched.selector.turn()
    assert watched.came == b"abc"


@pytest.mark.skipif(not build.compiled(), reason="Python's own epoll waits on after a signal")
def test_a_signal_has_it_leave(watched: Watched) -> None:
    heard: list[int] = []
    left = Event()

    def signal_until_it_leaves() -> None:
        while not left.wait(0.001):
            os.kill(os.getpid(), signal.SIGUSR1)

    thread = Thread(target=signal_until_it_leaves)
    before = signal.signal(signal.SIGUSR1, lambda number, _: heard.append(number))
    try:
        watched.stay()
        watched.on_byte[b"a"] = thread.start
        watched.far.send(b"a")
        watched.selector.turn()
        left.set()
        thread.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert set(heard) == {signal.SIGUSR1}


def test_a_call_that_fails_is_the_servers_fault(watched: Watched) -> None:
    def fail() -> None:
        raise ValueError

    watched.on_byte[b"a"] = fail
    watched.far.send(b"a")
    with pytest.raises(ServerFault):
        watched.selector.turn()


def test_what_is_not_watched_can_be_removed(watched: Watched) -> None:
    watched.selector.remove_reader(watched.far.fileno())
    watched.selector.remove_reader(10_000)
    watched.selector.remove_reader(-1)  # of a socket that is closed
    watched.selector.remove_reader(watched.near.fileno())
    watched.far.send(b"a")
    watched.selector.turn()
    assert watched.came == b""


def test_a_stopped_selector_writes_to_nobody_elses_file() -> None:
    watched = Watched()
    watched.close()
    reading, writing = os.pipe()  # the numbers of what has been closed
    os.set_blocking(reading, False)
    watched.selector.ring()
    with pytest.raises(BlockingIOError):
        os.read(reading, 1)
    os.close(reading)
    os.close(writing)
