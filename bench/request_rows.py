"""The rows by which code is weighed: requests to a whole server in this process, and its files.

``bench/inline_files.py`` counts the instructions of each row. Requests go through a socket pair,
the selector, the parser, the dispatcher and the handler, DEPTH at a time unless the row says
otherwise. There is no event loop, and what the kernel does is not counted.
"""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import server.commands  # noqa: F401  (begins to fill the table)
from bench.client import Argument, Command, encode
from bench.workloads import FIELDS, centre_of, entry_fields, entry_id, hash_words, places_in_towns
from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.network.clients import Clients
from server.network.connection import Connection
from server.network.epoll.selector import Selector
from server.network.epoll.transport import EpollTransport
from server.parts.persistence.log_reader import LogReader
from server.parts.state import ServerState
from server.process.server_clock import monotonic_ms
from server.table.command import TABLE
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.snapshot.filler import Filler
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter

DEPTH = 16
TURNS = 12  # of a row; the first is not counted
REPLAYED = 500  # commands of a kind
FEW = 3  # turns of a row whose requests are long
KEYS = 1000
ENTRIES = 1000
SMALL = 50  # hashes and others
LARGE = 1500  # fields, members, items
SUBSCRIBERS = 10
DATABASES = 16
ANSWERS = 1 << 24

Call = Callable[[], object]


class Loop:
    """As much of an event loop as a selector needs that is turned by hand."""

    def __init__(self) -> None:
        self._soon: list[Call] = []

    def add_reader(self, fd: int, call: Call) -> None:
        """The selector is turned without."""

    def call_soon(self, call: Call) -> None:
        self._soon.append(call)

    def make_calls(self) -> None:
        soon, self._soon = self._soon, []
        for call in soon:
            call()


class WholeServer:
    """A server whose clients are socket pairs; it works in turns that its caller makes."""

    def __init__(self) -> None:
        while TABLE.declare_some():
            pass
        config = Config()
        config.save, config.protected_mode = [], False
        config.slowlog_log_slower_than = -1  # whatever counts makes all slow
        self.state = ServerState(config)
        self.dispatcher = Dispatcher(self.state)
        self._clients = Clients(self.state, monotonic_ms)
        self._selector = Selector()
        self._loop = Loop()
        self._selector.start(self._loop)  # type: ignore[arg-type]  # which needs no more of a loop
        self._selector.tell_turns(self.dispatcher.turn)
        self._socket = self.connect()

    def connect(self) -> socket.socket:
        """The client's end of a new connection."""
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setblocking(False)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ANSWERS)
        transport = EpollTransport(
            theirs.detach(), "10.0.0.1:5000", "10.0.0.2:6379", self._selector
        )
        endpoint: Endpoint = Connection(self.dispatcher, self._clients)
        endpoint.connection_made(transport)  # type: ignore[attr-defined]
        transport.open(endpoint)
        self._loop.make_calls()
        return ours

    def put(self, request: bytes) -> None:
        self._socket.sendall(request)

    def turn(self) -> None:
        self._selector.turn()
        self._loop.make_calls()

    def serve(self, turns: int) -> None:
        """Make so many turns."""
        for _ in range(turns):
            self.turn()

    def check_answers(self, commands: Sequence[Command]) -> None:
        """Take the answers to *commands*. Raises ValueError if the first is an error."""
        answers = b""
        while (more := self._answer()) or not answers:
            answers = answers or more
            self.turn()
        if answers.startswith(b"-"):
            raise ValueError(commands[0], answers[:200])

    def _answer(self) -> bytes:
        """What has been answered and not been taken yet."""
        with suppress(BlockingIOError):
            return self._socket.recv(ANSWERS)
        return b""

    def load(self, commands: Iterator[Command]) -> None:
        """Run *commands*. Raises ValueError if one is refused."""
        for command in commands:
            self.put(encode(command))
            self.turn()
            self.check_answers([command])


@dataclass(frozen=True)
class Requests:
    """A row of requests: *request(n)* is the command number n.

    *depth* of them come at once, are read in *reads* turns, and do so *most* times.
    """

    name: str
    request: Callable[[int], Command]
    depth: int = DEPTH
    reads: int = 1
    most: int = TURNS

    def turns(self, server: WholeServer) -> Iterator[tuple[Call, int]]:
        """For each turn what is counted, and how many requests that are."""
        number = 0
        for _ in range(self.most):
            commands = [self.request(number + more) for more in range(self.depth)]
            number += self.depth
            server.put(b"".join(map(encode, commands)))
            yield partial(server.serve, self.reads), self.depth
            server.check_answers(commands)


@dataclass(frozen=True)
class Files:
    """A row of *make(server)*, which returns a call for all keys of the server."""

    name: str
    make: Callable[[WholeServer], Call]

    def turns(self, server: WholeServer) -> Iterator[tuple[Call, int]]:
        call = self.make(server)
        for _ in range(2):
            yield call, sum(map(len, server.state.databases))


# ---------------------------------------------------------------------- what the server holds

CHANCE = random.Random(7)
DOCUMENT = json.dumps(
    {"device": "sensor-17", "values": [1, 2.5, -3e10, "läuft", None, True] * 5, "state": {"ok": 1}}
)
BITS = bytes(CHANCE.randrange(256) for _ in range(4000))


def key(number: int) -> str:
    return f"key:{number * 7919 % KEYS:012d}"


def data() -> Iterator[Command]:
    """Commands that make a key or some of each type, small and large."""
    for number in range(KEYS):
        yield ("SET", key(number), "xyz" if number % 2 else number)
    for number in range(ENTRIES):
        yield ("XADD", "readings", entry_id(number), *entry_fields(number))
    for group in ("g", "h"):
        yield ("XGROUP", "CREATE", "readings", group, 0)
    yield ("XREADGROUP", "GROUP", "h", "me", "COUNT", 300, "STREAMS", "readings", ">")
    for number in range(SMALL):
        yield ("HSET", f"hash-{number}", *hash_words(number % 16))
        yield ("RPUSH", f"list-{number}", *(f"item {n}" for n in range(30)))
        yield ("SADD", f"ints-{number}", *range(number, number + 200, 2))
        yield ("SADD", f"set-{number}", *(f"member-{n}" for n in range(30)))
        pairs = ((str(n * 1.25), f"member-{n}") for n in range(30))
        yield ("ZADD", f"zset-{number}", *(word for pair in pairs for word in pair))
    for first in range(0, LARGE, 500):
        numbers = range(first, first + 500)
        yield (
            "HSET",
            "hash",
            *(word for n in numbers for word in (f"field:{n:012d}", f"text {n}")),
        )
        yield ("RPUSH", "list", *(f"item-of-twenty-{n:05d}" for n in numbers))
        for name in ("set", "other set"):
            yield ("SADD", name, *(f"member:{n:012d}" for n in numbers))
        yield (
            "ZADD",
            "ranking",
            *(word for n in numbers for word in (str(n / 4), f"member:{n:06d}")),
        )
        yield ("RPUSH", "numbers", *(n * 7919 % LARGE for n in numbers))
    yield from list(places_in_towns(0))[:3]
    yield ("SET", "bits", BITS)
    yield ("PFADD", "log", *range(5000))
    yield ("SET", "long", "x" * 100_000)


def a_replay(server: WholeServer) -> Call:
    """Replay an AOF of writes."""
    log = b"".join(encode(("SET", f"replayed:{n % 50}", n)) for n in range(REPLAYED))
    log += b"".join(encode(("XADD", "replayed", entry_id(n), *FIELDS)) for n in range(REPLAYED))

    def run() -> None:
        reader, replay = LogReader(log), server.dispatcher.replaying.begin()
        replay([b"DEL", b"replayed"])
        while (argv := reader.next()) is not None:
            replay(argv)

    return run


def save(server: WholeServer) -> bytes:
    return b"".join(SnapshotWriter(server.state.databases, {}))


def a_load(server: WholeServer) -> Call:
    saved = save(server)

    def run() -> None:
        events = KeyEvents()
        filler = Filler([Keyspace(index, events) for index in range(DATABASES)], 0, True)
        reader = SnapshotReader(saved)
        while filler.fill(reader):
            pass

    return run


# ---------------------------------------------------------------------- the table


def member(number: int) -> str:
    return f"member:{number * 7919 % LARGE:012d}"


def script(source: str, *arguments: Argument) -> Callable[[int], Command]:
    return lambda _: ("EVAL", source, 0, *arguments)


def xreadgroup_and_xack(number: int) -> Command:
    at = number // 2 * 10 % ENTRIES
    if number % 2:
        return ("XACK", "readings", "g", *(entry_id(n) for n in range(at, at + 10)))
    return ("XREADGROUP", "GROUP", "g", "me", "COUNT", 10, "STREAMS", "readings", ">")


def geosearch(number: int) -> Command:
    place = map(str, centre_of(number % 1))
    return ("GEOSEARCH", "places", "FROMLONLAT", *place, "BYRADIUS", 5, "km", "ASC", "COUNT", 100)


CJSON = "return cjson.encode(cjson.decode(ARGV[1]))"
CMSGPACK = "return #cmsgpack.pack(cmsgpack.unpack(cmsgpack.pack(cjson.decode(ARGV[1]))))"
HUNDRED = "for i = 1, 100 do redis.call('GET', KEYS[1]) end"

ROWS: Sequence[Requests | Files] = (
    Requests("PING alone", lambda _: ("PING",), depth=1),
    Requests("PING", lambda _: ("PING",)),
    Requests("SET", lambda n: ("SET", key(n), "xyz")),
    Requests("GET", lambda n: ("GET", key(n))),
    Requests("GET alone", lambda n: ("GET", key(n)), depth=1),
    Requests("INCR", lambda n: ("INCR", f"counter:{n % 50}")),
    Requests("MGET of 10", lambda n: ("MGET", *map(key, range(n, n + 10)))),
    Requests("SET of 100 kB", lambda n: ("SET", key(n), b"x" * 100_000), depth=1, reads=2),
    Requests("INCRBYFLOAT", lambda n: ("INCRBYFLOAT", "float", "0.37"), most=FEW),
    Requests("SETBIT", lambda n: ("SETBIT", "bits", n * 97 % 32_000, n % 2)),
    Requests("BITCOUNT of 4 kB", lambda _: ("BITCOUNT", "bits")),
    Requests("BITPOS", lambda n: ("BITPOS", "bits", n % 2, n % 4000)),
    Requests("BITFIELD", lambda n: ("BITFIELD", "bits", "INCRBY", "u12", n * 5, 1)),
    Requests("PFADD", lambda n: ("PFADD", "log", n)),
    Requests("PFCOUNT of two", lambda n: ("PFCOUNT", "log", f"log:{n}"), depth=2),
    Requests("LPUSH", lambda _: ("LPUSH", "queue", "item-of-twenty-bytes")),
    Requests("RPOP", lambda _: ("RPOP", "list")),
    Requests("LRANGE of 100", lambda n: ("LRANGE", "list", n, n + 99)),
    Requests("HSET, large", lambda n: ("HSET", "hash", f"field:{n * 7 % 5000:012d}", "xyz")),
    Requests("HGET, large", lambda n: ("HGET", "hash", f"field:{n * 7 % LARGE:012d}")),
    Requests("HSET, small", lambda n: ("HSET", f"hash-{n % SMALL}", "field-01", n)),
    Requests("HGETALL of 50", lambda n: ("HGETALL", f"hash-{n % SMALL}")),
    Requests("HSCAN, large", lambda n: ("HSCAN", "hash", n, "COUNT", 100), most=FEW),
    Requests("SADD, large", lambda n: ("SADD", "set", f"new:{n:012d}")),
    Requests("SISMEMBER, large", lambda n: ("SISMEMBER", "set", member(n))),
    Requests("SADD, numbers", lambda n: ("SADD", f"ints-{n % SMALL}", n * 3)),
    Requests("SINTER of numbers", lambda n: ("SINTER", f"ints-{n % 20}", f"ints-{n % 20 + 10}")),
    Requests("SINTER, large", lambda _: ("SINTER", "set", "other set"), depth=1, most=FEW),
    Requests(
        "ZADD, large", lambda n: ("ZADD", "ranking", str(n * 7 % 5000 / 8), f"new:{n * 7:06d}")
    ),
    Requests("ZADD, small", lambda n: ("ZADD", f"zset-{n % SMALL}", str(n / 8), "member-7")),
    Requests("ZSCORE, large", lambda n: ("ZSCORE", "ranking", f"member:{n * 7 % LARGE:06d}")),
    Requests("ZRANGE of 100", lambda n: ("ZRANGE", "ranking", n, n + 99, "WITHSCORES")),
    Requests("ZRANGE, small", lambda n: ("ZRANGE", f"zset-{n % SMALL}", 0, -1, "WITHSCORES")),
    Requests("ZRANGEBYSCORE of 10", lambda n: ("ZRANGEBYSCORE", "ranking", n, f"({n + 2.5}")),
    Requests("GEOSEARCH", geosearch, depth=1, most=FEW),
    Requests("GEOADD", lambda n: ("GEOADD", "some places", str(13 + n / 1000), 47, f"place:{n}")),
    Requests("XADD", lambda _: ("XADD", "new readings", "*", *FIELDS)),
    Requests(
        "XRANGE of 100", lambda n: ("XRANGE", "readings", entry_id(n), "+", "COUNT", 100), most=FEW
    ),
    Requests("XREADGROUP + XACK", xreadgroup_and_xack),
    Requests("XPENDING of 10", lambda n: ("XPENDING", "readings", "h", "-", "+", 10)),
    Requests("XCLAIM", lambda n: ("XCLAIM", "readings", "h", "you", 0, entry_id(n))),
    Requests("EVAL of a GET", lambda n: ("EVAL", "return redis.call('GET', KEYS[1])", 1, key(n))),
    Requests("EVAL of 100 GETs", lambda n: ("EVAL", HUNDRED, 1, key(n)), most=FEW),
    Requests("cjson", script(CJSON, DOCUMENT), most=FEW),
    Requests("cmsgpack", script(CMSGPACK, DOCUMENT), most=FEW),
    Requests("PUBLISH to 10", lambda _: ("PUBLISH", "news", "item-of-twenty-bytes")),
    Requests("SORT of 1500", lambda _: ("SORT", "numbers", "LIMIT", 0, 10), depth=1, most=FEW),
    Requests("SCAN", lambda n: ("SCAN", 0, "COUNT", 100, "MATCH", "k*1"), most=FEW),
    Requests("DUMP of a hash", lambda n: ("DUMP", f"hash-{n % SMALL}"), most=FEW),
    Requests("COPY of a hash", lambda n: ("COPY", "hash", "copy", "REPLACE"), depth=1, most=FEW),
    Requests("DEL of a hash", lambda n: ("DEL", f"hash-{n % SMALL}")),
    Files("replay an AOF", a_replay),
    Files("save an RDB", lambda server: partial(save, server)),
    Files("load an RDB", a_load),
)


def filled_server() -> WholeServer:
    """A server that holds data(), and has some subscribers."""
    server = WholeServer()
    server.load(data())
    for _ in range(SUBSCRIBERS):
        server.connect().sendall(encode(("SUBSCRIBE", "news")))
    server.turn()
    return server
