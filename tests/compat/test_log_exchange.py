"""Replaying Redis's log gives Redis's data, and Redis gets Penstock's data from Penstock's log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import server.commands  # noqa: F401  (fills the table)
from server.client.client import Client
from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.parts.propagation.propagation import Durability, Op
from server.parts.state import ServerState
from storage import digest
from tests.compat.connection import Connection
from tests.compat.logging_redis import LoggingRedis
from tests.compat.random_commands import FAMILIES, Command, Draw
from tests.compat.resp import Reply

SEQUENCES = 8
COMMANDS = 80


class Recorder(Durability):
    """Records the logged commands; takes the place of the append-only file."""

    def __init__(self) -> None:
        super().__init__()
        self.units: list[list[Op]] = []

    def add_all(self, ops: list[Op]) -> None:
        self.units.append(ops)

    def write(self) -> bool:
        return True


class Replica:
    """Databases without a server; they replay an AOF, or run commands and log them."""

    def __init__(self) -> None:
        self.log = Recorder()
        self.state = ServerState(Config())
        self._dispatcher = Dispatcher(self.state, self.log)
        self._dispatcher.turn.enter()
        self._client = Client(1, 0)

    def call(self, command: Command) -> bytes:
        """Run a client's command; return the bytes of its reply."""
        self._dispatcher.turn.enter()
        self._dispatcher.execute(self._client, command)
        return self._client.out.take()

    def play_to(self, call: Callable[..., Reply]) -> None:
        """Have another server, which *call* sends a command to, run what was logged."""
        assert call(b"FLUSHALL") == ("+", b"OK")
        for unit in self.log.units:
            for _, argv in unit:
                assert call(*argv)[0] != "-", argv
        assert call(b"DEBUG", b"DIGEST") == ("+", self.digest())

    def run(self, unit: list[Op]) -> None:
        """Replay commands that were logged together."""
        self.state.events.lookup.keeps_expired = True
        if len(unit) > 1:
            self._replay([b"MULTI"])
        for db, argv in unit:
            self._replay([b"SELECT", b"%d" % db])
            self._replay(argv)
        if len(unit) > 1:
            self._replay([b"EXEC"])

    def _replay(self, argv: list[bytes]) -> None:
        assert self._dispatcher.replaying.replay(self._client, argv) is None, argv
        assert not self.state.stats.errors, argv

    def digest(self) -> bytes:
        return digest.of_data(self.state.databases).hex().encode()


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoggingRedis]:
    server = LoggingRedis(tmp_path_factory.mktemp("redis-log"))
    yield server
    server.stop()


def waits(command: Command) -> bool:
    return b"BLOCK" in command or command[0].startswith(b"B")


@pytest.mark.parametrize("number", range(SEQUENCES))
@pytest.mark.parametrize("family", FAMILIES)
def test_replaying_redis_s_log_gives_redis_s_data(
    family: str, number: int, redis: LoggingRedis
) -> None:
    commands = Draw(f"exchange-{family}-{number}").sequence(family, COMMANDS)
    redis.server.control.call(b"FLUSHALL")
    redis.log.units()
    client = Connection(redis.server.port)
    for command in commands:
        if not waits(command):
            client.call(*command)
    client.close()
    replica = Replica()
    for unit in redis.log.units():
        replica.run(unit)
    assert ("+", replica.digest()) == redis.server.control.call(b"DEBUG", b"DIGEST")


@pytest.mark.parametrize("number", range(SEQUENCES))
@pytest.mark.parametrize("family", FAMILIES)
def test_redis_gets_the_same_data_from_penstock_s_log(
    family: str, number: int, redis: LoggingRedis
) -> None:
    ours = Replica()
    for command in Draw(f"ours-{family}-{number}").sequence(family, COMMANDS):
        if not waits(command):
            ours.call(command)
    control = redis.server.control
    control.call(b"FLUSHALL")
    for unit in ours.log.units:
        for db, argv in unit:
            control.call(b"SELECT", b"%d" % db)
            reply = control.call(*argv)
            assert reply[0] != "-", (argv, reply)
    control.call(b"SELECT", b"0")
    assert ("+", ours.digest()) == control.call(b"DEBUG", b"DIGEST")


def test_redis_s_log_gives_groups_with_their_pending_entries(redis: LoggingRedis) -> None:
    """Redis does not log consumers that never got an entry; see cases.txt."""
    control = redis.server.control
    control.call(b"FLUSHALL")
    redis.log.units()
    for line in GROUPS.splitlines():
        assert control.call(*line.encode().split())[0] != "-", line
    replica = Replica()
    for unit in redis.log.units():
        replica.run(unit)
    stream = replica.state.databases[0].peek(b"s")
    group = stream.find_group(b"g")
    owned = [
        (entry.ms, group.owner(entry).name, entry.delivery_time, entry.delivery_count)
        for _, entry in group.pel
    ]
    assert owned == pending_of(control)


GROUPS = """XADD s 1-1 a b
XADD s 2-1 a b
XADD s 3-1 a b
XADD s 4-1 a b
XGROUP CREATE s g 0
XREADGROUP GROUP g alice COUNT 3 STREAMS s >
XREADGROUP GROUP g bob STREAMS s >
XCLAIM s g carol 0 2-1 IDLE 5000 RETRYCOUNT 9
XACK s g 1-1
XDEL s 3-1
XAUTOCLAIM s g bob 0 0"""


def pending_of(control: Connection) -> list[tuple[int, bytes, int, int]]:
    """(ms, owner, delivery time, delivery count) of each pending entry."""
    info = value_of(control.call(b"XINFO", b"STREAM", b"s", b"FULL"))
    groups = info[info.index(b"groups") + 1]
    pending = groups[0][groups[0].index(b"pending") + 1]
    return [(int(id_.split(b"-")[0]), name, when, count) for id_, name, when, count in pending]


def value_of(reply: Reply) -> Any:
    kind, value = reply
    if isinstance(value, list):
        return [value_of(item) for item in value]
    return int(value or 0) if kind == ":" else value
