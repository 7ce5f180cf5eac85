"""What servers report of themselves: INFO, CLIENT LIST and MEMORY STATS have the fields of Redis.

Each real server and Penstock live through the same things. A field that has moved there, and is 0
here, is either nothing that exists here, or a defect.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.compat.connection import Connection, encode
from tests.compat.oracles import REDIS_7, REDIS_8, REDIS_8_6, command_of
from tests.compat.processes import START_S, ServerProcess, bulk, penstock_command
from tests.compat.resp import Reply

ORACLES = [REDIS_7, REDIS_8, REDIS_8_6]

# Names that a newer Redis has, and why they are not here.
NOT_HERE = {
    "module": "no modules are loaded; theirs is the vector set",
    "cmdstat_": "commands that wait are counted when they are answered",
    "db0_distrib_": "no histogram of sizes is kept, since each write would pay for it",
}
# Fields that move in Redis, and are 0 here.
ALWAYS_0 = {
    # By which server was slower; and a few keys expire in less than a millisecond, or in one.
    "uptime_in_seconds", "age", "idle", "expire_cycle_cpu_milliseconds",
    "allocator_rss_bytes", "allocator-rss.bytes",  # the allocator does not tell of its own pages
    "reply_buffer_shrinks", "reply_buffer_expands",  # clients share buffers, which stay as they are
    "used_memory_vm_functions", "used_memory_functions", "functions.caches",  # made when needed
    "io_threaded_total_prefetch_batches",  # only large databases are worth it
    "io_threaded_total_prefetch_entries",
    "overhead.hashtable.expires",  # a table without keys takes nothing
    "rbs", "obl",  # replies leave at once, or are kept in pieces: oll, omem
    "qbuf-free",  # requests are kept in no more memory than they take
}  # fmt: skip


class Lived:
    """A server after the scenario, with what it tells; its connections are still open."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.server = ServerProcess(command, folder)
        self._opened: list[Connection] = []
        try:
            self._live()
            self.info = self._info()
            self.clients = self._clients()
            self.memory = dict(self._pairs(self._call("MEMORY", "STATS")))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for connection in self._opened:
            connection.close()
        self.server.stop()

    def _call(self, *words: str | bytes) -> Reply:
        encoded = (word.encode() if isinstance(word, str) else word for word in words)
        return self.server.control.call(*encoded)

    def _info(self) -> dict[str, str]:
        lines = bulk(self._call("INFO", "everything")).decode().splitlines()
        pairs = (line.partition(":")[::2] for line in lines if line and not line.startswith("#"))
        return dict(pairs)

    def _clients(self) -> dict[str, dict[str, str]]:
        lines = bulk(self._call("CLIENT", "LIST")).decode().splitlines()
        found = (dict(word.partition("=")[::2] for word in line.split(" ")) for line in lines)
        return {client["name"]: client for client in found}

    def _pairs(self, reply: Reply) -> Iterator[tuple[str, str]]:
        """The leaves of a map of RESP2."""
        items = reply[1]
        assert isinstance(items, list)
        for name, value in zip(items[::2], items[1::2], strict=True):
            if isinstance(value[1], list):
                yield from self._pairs(value)
            elif isinstance(value[1], bytes):
                yield bulk(name).decode(), value[1].decode()

    def _open(self, name: str, receive_bytes: int = 0) -> Connection:
        connection = Connection(self.server.port)
        if receive_bytes:
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        connection.call(b"CLIENT", b"SETNAME", name.encode())
        self._opened.append(connection)
        return connection

    def _until(self, fact: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_S
        while not fact():
            assert time.monotonic() < deadline, "never came true"

    def _live(self) -> None:
        """Do everything once that the figures are about."""
        for number in range(100):
            self._call("SET", f"key:{number}", b"v" * 20, "PX", "1")
            self._call("ZADD", "zset", str(number), f"member {number}")
        self._until(lambda: int(self._info()["expired_keys"]) == 100)
        self._call("SET", "lasting", "v", "EX", "1000")
        self._call("SET", "large", b"x" * 10_000)
        self._call("UNLINK", "zset")
        self._call("EVAL", "return redis.call('GET', 'large')", "0")
        self._exceed_limits()
        self._open("blocked").send(encode([b"BLPOP", b"nokey", b"0"]))
        queueing = self._open("queueing")
        queueing.call(b"MULTI")
        queueing.call(b"SET", b"key", b"x" * 500)
        self._open("amid").send(b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$1000\r\n" + b"x" * 500)
        self._open("reader", receive_bytes=4096).send(encode([b"GET", b"large"]) * 2000)
        self._until(self._all_have_come)
        self._until(lambda: self._info().get("instantaneous_ops_per_sec") != "0")

    def _exceed_limits(self) -> None:
        """Be disconnected for a request that is too long, and for replies that nobody reads."""
        self._call("CONFIG", "SET", "client-query-buffer-limit", "1mb")
        writer = Connection(self.server.port)
        writer.send(b"*2\r\n$3\r\nGET\r\n$5000000\r\n" + b"x" * 3_000_000)
        self._until(writer.is_closed)
        self._call("CONFIG", "SET", "client-output-buffer-limit", "normal 50000 0 0")
        reader = Connection(self.server.port)
        reader.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.send(encode([b"GET", b"large"]) * 2000)
        limit = "client_output_buffer_limit_disconnections"
        if limit in self._info():
            self._until(lambda: self._info()[limit] == "1")
        reader.close()
        writer.close()
        self._call("CONFIG", "SET", "client-output-buffer-limit", "normal 0 0 0")

    def _all_have_come(self) -> bool:
        clients = self._clients()
        return (
            clients["blocked"]["flags"] == "b"
            and clients["queueing"]["multi"] == "1"
            and clients["amid"]["qbuf"] != "0"
            and clients["reader"]["events"] == "rw"
        )


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    lived = Lived(penstock_command(), tmp_path_factory.mktemp("ours"))
    yield lived
    lived.close()


@pytest.fixture(scope="module", params=ORACLES)
def theirs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lived]:
    lived = Lived(command_of(request.param), tmp_path_factory.mktemp("theirs"))
    yield lived
    lived.close()


def is_nothing(value: str) -> bool:
    """Whether it is 0, as a number, a share or a size."""
    try:
        return float(value.rstrip("%B")) == 0
    except ValueError:
        return value == ""


def only_0_here(theirs: dict[str, str], ours: dict[str, str]) -> set[str]:
    """The fields that have moved there, and not here."""
    both = theirs.keys() & ours.keys()
    return {name for name in both if is_nothing(ours[name]) and not is_nothing(theirs[name])}


def test_info_has_every_field_of_redis(ours: Lived, theirs: Lived) -> None:
    missing = theirs.info.keys() - ours.info.keys()
    assert {name for name in missing if not name.startswith(tuple(NOT_HERE))} == set()


def test_memory_stats_has_every_field_of_redis(ours: Lived, theirs: Lived) -> None:
    missing = theirs.memory.keys() - ours.memory.keys()
    assert missing <= {"overhead.hashtable.slot-to-keys"}  # of 7.0 alone


def test_a_line_of_client_list_has_every_field_of_redis(ours: Lived, theirs: Lived) -> None:
    assert not theirs.clients["reader"].keys() - ours.clients["reader"].keys()


def test_no_figure_of_info_is_0_that_moves_in_redis(ours: Lived, theirs: Lived) -> None:
    assert only_0_here(theirs.info, ours.info) <= ALWAYS_0


def test_no_figure_of_memory_stats_is_0_that_moves_in_redis(ours: Lived, theirs: Lived) -> None:
    assert only_0_here(theirs.memory, ours.memory) <= ALWAYS_0


@pytest.mark.parametrize("name", ["blocked", "queueing", "amid"])
def test_no_figure_of_a_client_is_0_that_moves_in_redis(
    name: str, ours: Lived, theirs: Lived
) -> None:
    assert only_0_here(theirs.clients[name], ours.clients[name]) <= ALWAYS_0


def test_a_client_that_does_not_read_shows_what_waits_for_it(ours: Lived) -> None:
    reader = ours.clients["reader"]
    assert int(reader["oll"]) > 0
    assert 0 < int(reader["omem"]) < int(reader["tot-mem"])


@pytest.mark.parametrize("field", ["argv-mem", "qbuf", "multi-mem"])
def test_requests_that_are_not_done_are_shown_in_the_same_sizes(
    field: str, ours: Lived, theirs: Lived
) -> None:
    for name in ("amid", "queueing"):
        if field == "multi-mem" and theirs.server.version < (8, 6):
            continue  # older ones add what its bookkeeping takes
        assert ours.clients[name][field] == theirs.clients[name][field], name
