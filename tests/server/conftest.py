"""A server without sockets: a test sends commands, reads replies and sets the clock."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import hiredis
import pytest

from server import commands as _commands  # noqa: F401  (fills the table)
from server.client.client import Client
from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.following.role_changes import RoleChanges
from server.lifecycle.time_travel import TimeTravel
from server.parts.propagation.propagation import Durability
from server.parts.state import ServerState
from server.process import faults
from server.process.server_clock import NS_A_MS, ServerClock
from server.process.timers import NoTimers
from server.table.command import TABLE, Command, Flags
from tests.server.running import LOOPS

NOTHING = "nothing has been answered"
START_MS = 1_700_000_000_000


class SocketlessEndpoint(Endpoint):
    """The server's end of a connection that has no socket."""

    def __init__(self, client: SocketlessClient) -> None:
        super().__init__()
        self.disconnect = client.leave  # type: ignore[method-assign]  # tests put others here
        self.resume = client.resume  # type: ignore[method-assign]


class SocketlessClient:
    """A client of the server under test.

    hiredis parses its replies. An error reply becomes "-" and the text of the error.
    """

    def __init__(self, server: SocketlessServer, client: Client) -> None:
        self._server = server
        self.client = client
        self.gone = False
        self._reader = hiredis.Reader()
        self.endpoint = client.endpoint = SocketlessEndpoint(self)

    def send(self, *words: object) -> Any:
        """Run one command. Returns its reply, or NOTHING if it is blocked, postponed or muted."""
        self._server.run(self.client, [_word(word) for word in words])
        return self.reply()

    def send_line(self, line: str) -> Any:
        """Run one command, given as words between blanks."""
        return self.send(*line.split())

    def reply(self) -> Any:
        """The next reply that this client got, or NOTHING."""
        taken = self.client.out.take()
        self.client.sent += len(taken)
        self._reader.feed(taken)
        if not self._reader.has_data():
            return NOTHING
        return _shown(self._reader.gets())

    def raw(self, *words: object) -> bytes:
        """Run one command. Returns the bytes of its reply."""
        self._server.run(self.client, [_word(word) for word in words])
        return self.client.out.take()

    @property
    def waits(self) -> bool:
        return self.client.waiter is not None

    def leave(self) -> None:
        """Disconnect."""
        self.gone = True
        self._server.dismiss(self.client)

    def resume(self) -> None:
        """Run what CLIENT PAUSE has held back."""
        argv, self.client.postponed = self.client.postponed, None
        if argv is not None:
            self._server.dispatcher.execute(self.client, argv)


class RecordingLog(Durability):
    """Takes the place of the append-only file.

    If *kept* is False, its disk is full. If *syncs* is False, the disk has nothing yet.
    """

    def __init__(self) -> None:
        self.units: list[list[tuple[int, list[bytes]]]] = []
        super().__init__()
        self.error = "No space left on device"
        self.kept = True
        self.syncs = True

    def add_all(self, ops: list[tuple[int, list[bytes]]]) -> None:
        self.units.append(ops)
        self.offset += 1

    def write(self) -> bool:
        if self.kept and self.syncs:
            self.synced_offset = self.offset
        return self.kept


class TravelTimers(NoTimers):
    """What DEBUG CLOCK makes due is done; a script is not suspended, as there is no loop."""

    def __init__(self, travel: TimeTravel, dispatcher: Dispatcher) -> None:
        self._travel = travel
        self._dispatcher = dispatcher

    def clock_moved(self) -> None:
        self._travel.begin()

    def read_on_soon(self) -> None:
        self._dispatcher.turn.run_later(self._dispatcher.waits.read_on)


class SocketlessServer:
    """A whole server, without sockets and cron."""

    def __init__(self, config: Config) -> None:
        self.now_ms = START_MS
        self._uptime_ms = 0
        self.log = RecordingLog()
        clock = ServerClock(lambda: self.now_ms * NS_A_MS, lambda: self._uptime_ms * NS_A_MS)
        self.state = ServerState(config, clock)
        self.state.events.loose_keys.many = 0  # values are packed at once, as when many are loose
        self.dispatcher = Dispatcher(self.state, self.log)
        self._travel = TimeTravel(self.dispatcher, lambda: 0.0)
        self.dispatcher.use_timers(TravelTimers(self._travel, self.dispatcher))
        self.dispatcher.long_scripts.timers = None  # nobody would take up a script that was left
        self.roles = RoleChanges(self.dispatcher, lambda: None)
        self.dispatcher.turn.loop = self
        self._calls: list[Callable[[], None]] = []  # that a loop would make between the turns
        self.turn()
        self._door = iter(range(1, 1_000_000))
        self._owner = self.client()
        self.send = self._owner.send
        self.send_line = self._owner.send_line

    def client(self) -> SocketlessClient:
        """Connect a client."""
        client = Client(next(self._door), self.now_ms)
        client.address, client.local_address = f"10.0.0.1:{5000 + client.id}", "10.0.0.2:6379"
        self.state.access.connected(client)
        self.state.clients[client.id] = client
        return SocketlessClient(self, client)

    @property
    def owner(self) -> SocketlessClient:
        """The client that *send* and *send_line* use."""
        return self._owner

    def turn(self, call: Callable[[], object] = lambda: None) -> None:
        """Make *call* as a turn of its own, and then what a loop would make after it."""
        self.dispatcher.turn.run(call)
        self._make_calls()

    def run(self, client: Client, argv: list[bytes]) -> None:
        client.last_used_ms = self.now_ms
        self.turn(lambda: self.dispatcher.execute(client, argv))
        self.pack_values()

    def call_soon(self, call: Callable[[], None]) -> None:
        """What a loop does: here *call* is made when the command is done."""
        self._calls.append(call)

    def _make_calls(self) -> None:
        while self._calls:
            self._calls.pop(0)()

    def pack_values(self) -> None:
        """Let the next command find all small values packed: they would be when many are."""
        for db in self.state.databases:
            db.pack(db.loose)

    def advance(self, ms: int) -> None:
        """Let time pass. End the waits and the pause whose time is up, as cron does.

        Scheduled entries are added that are due by then.
        """
        self.pass_time(ms)
        self.turn(self._travel.catch_up)

    def pass_time(self, ms: int) -> None:
        """Let time pass, and nobody see to what is due by then."""
        self.now_ms += ms
        self._uptime_ms += ms

    def run_out_of_memory(self) -> None:
        self.state.config.maxmemory = 1
        self.state.follow_config()

    def dismiss(self, client: Client) -> None:
        """Do what server.network.clients does when a socket closes."""
        if self.state.clients.pop(client.id, None) is not None:
            self.state.client_left(client)

    def logged(self) -> list[bytes]:
        """The commands logged since the last call, each as one line."""
        return [line for transaction in self.transactions() for line in transaction]

    def transactions(self) -> list[list[bytes]]:
        """The commands logged since the last call, with a list of lines for each transaction."""
        units = [[b" ".join(argv) for _, argv in ops] for ops in self.log.units]
        self.log.units.clear()
        return units


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loops of an async test: each of LOOPS if it is one of on_each_loop."""
    marker = item.get_closest_marker("asyncio")
    if marker is not None and "loop_factories" in marker.kwargs:
        return LOOPS
    return {"asyncio": LOOPS["asyncio"]}


def _word(word: object) -> bytes:
    return word if isinstance(word, bytes) else str(word).encode()


def _shown(reply: Any) -> Any:
    if isinstance(reply, hiredis.ReplyError):
        return f"-{reply}"
    return [_shown(item) for item in reply] if isinstance(reply, list) else reply


@pytest.fixture(autouse=True)
def _same_log() -> Iterator[None]:
    """The server's logger is what it was when the test is over: a start sets it up."""
    log = logging.getLogger("penstock")
    level, handlers, propagate = log.level, log.handlers[:], log.propagate
    yield
    log.setLevel(level)
    log.handlers[:] = handlers
    log.propagate = propagate


@pytest.fixture
def make_server() -> Iterator[Callable[..., SocketlessServer]]:
    """Makes a server with its own configuration, such as requirepass="secret".

    The data are dropped after the test, even if something still refers to the server: streams with
    producers are counted for the process.
    """
    made: list[SocketlessServer] = []

    def make(**parameters: object) -> SocketlessServer:
        config = Config()
        config.save = []
        for name, value in parameters.items():
            setattr(config, name, value)
        made.append(SocketlessServer(config))
        return made[-1]

    yield make
    for server in made:
        for db in server.state.databases:
            db.clear()


@pytest.fixture
def server(make_server: Callable[..., SocketlessServer]) -> SocketlessServer:
    """A server with the defaults, but without save points."""
    return make_server()


@pytest.fixture
def declare(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Command]:
    """Adds a command to the table for one test."""

    def declare_one(
        name: str, handler: Any, arity: int = -1, flags: Flags = Flags.WRITE
    ) -> Command:
        row = Command(name, arity=arity, flags=flags, group="generic", since="1")
        row.attach(handler)
        monkeypatch.setitem(TABLE._rows, row.name.encode(), row)
        monkeypatch.setitem(TABLE.by_spelling, row.name.encode(), row)
        return row

    return declare_one


@pytest.fixture(params=["epoll", "asyncio"])
def sockets(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which backend serves the sockets of the servers that a test starts."""
    monkeypatch.setenv("PENSTOCK_SOCKETS", request.param)
    return str(request.param)


@pytest.fixture(autouse=True)
def forget_reported_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault is logged in each test, even if an earlier test has caused it too."""
    monkeypatch.setattr(faults, "_reported_s", {})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the working directory of the test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
