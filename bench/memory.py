"""The resident memory of a stream entry, a list item, a key, a hash, a set, and what is in them.

Each figure is the growth of VmRSS while many of them are loaded into a server, divided by their
number. For pending entries, it is the growth while a consumer reads the whole stream.

The server has had some of them before: what it reads of its own program when it first does a thing,
some megabytes, is no object's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench import progress
from bench.client import Command
from bench.results import Comparison
from bench.servers import Server, Start, resident_bytes
from bench.workloads import entry_fields

BATCH = 1000
AT_ONCE = 50
SETTLE_SECONDS = 2.0  # a server gives memory back when it has started
RESIZE_SECONDS = 0.5  # in which it frees memory in the background and resizes tables


@dataclass(frozen=True)
class Kind:
    """A kind of object: *load(count)* gives the commands that make *count* of them.

    *most* is the aim for the ratio. *at_once* commands are in flight: few, if their answers would
    need large buffers.
    """

    title: str
    most: float
    load: Callable[[int], Iterator[Command]]
    at_once: int = AT_ONCE


def stream_entries(count: int) -> Iterator[Command]:
    for number in range(count):
        yield ("XADD", "readings", "*", *entry_fields(number))


def pending_entries(count: int) -> Iterator[Command]:
    yield ("XGROUP", "CREATE", "readings", "group", 0)
    for _ in range(0, count, BATCH):
        yield ("XREADGROUP", "GROUP", "group", "me", "COUNT", BATCH, "STREAMS", "readings", ">")


def list_items(count: int) -> Iterator[Command]:
    for start in range(0, count, BATCH):
        yield ("RPUSH", "queue", *(f"item-{number:015d}" for number in range(start, start + BATCH)))


def keys(count: int) -> Iterator[Command]:
    for number in range(count):
        yield ("SET", f"key:{number:09d}", "xyz")


def keys_of_different_values(count: int) -> Iterator[Command]:
    for number in range(count):
        yield ("SET", f"key:{number:09d}", f"{number:x}".rjust(5, "x"))


def small_hashes(count: int) -> Iterator[Command]:
    for number in range(count):
        yield ("HSET", f"user:{number:08d}", "name", "ann", "age", number % 90, "city", "Graz")


def small_sets(count: int) -> Iterator[Command]:
    for number in range(count):
        yield ("SADD", f"tags:{number:08d}", "red", "green", f"blue-{number % 90}")


def fields(count: int) -> Iterator[Command]:
    for start in range(0, count, BATCH):
        names = (f"field:{number:06d}" for number in range(start, start + BATCH))
        yield ("HSET", "table", *(word for name in names for word in (name, "value-xy")))


def members(count: int) -> Iterator[Command]:
    for start in range(0, count, BATCH):
        yield ("SADD", "all", *(f"member:{number:07d}" for number in range(start, start + BATCH)))


def ranked_members(count: int) -> Iterator[Command]:
    """Members of one sorted set, whose scores are in no order."""
    for start in range(0, count, BATCH):
        numbers = range(start, start + BATCH)
        pairs = ((number * 7919 % count, f"member:{number:09d}") for number in numbers)
        yield ("ZADD", "ranking", *(word for pair in pairs for word in pair))


def small_sorted_sets(count: int) -> Iterator[Command]:
    for number in range(count):
        yield ("ZADD", f"best:{number:08d}", number % 90, "ann", 7, "bob", "1.5", "cleo")


# The kinds of a group are loaded into the same servers, one after the other.
TOGETHER = [
    [
        Kind("a stream entry, 3 fields", 1.1, stream_entries),
        Kind("a pending entry", 1.1, pending_entries, at_once=1),
    ],
    [Kind("a list item of 20 bytes", 1.1, list_items)],
    [Kind("a key of 13 bytes, value of 3", 1.5, keys)],
    [Kind("a key of 13 bytes, unique value of 5", 1.5, keys_of_different_values)],
    [Kind("a hash of 3 fields, with its key", 1.0, small_hashes)],
    [Kind("a set of 3 members, with its key", 1.0, small_sets)],
    [Kind("a sorted set of 3 members, with its key", 1.0, small_sorted_sets)],
    [Kind("a field of 12 bytes in a large hash, value of 8", 1.1, fields)],
    [Kind("a member of 14 bytes in a large set", 1.1, members)],
    [Kind("a member of 16 bytes in a large sorted set", 0.8, ranked_members)],
]


def measure(start: Start, count: int) -> Iterator[Comparison]:
    """Compare the memory of one of each kind, with *count* of them loaded."""
    for kinds in TOGETHER:
        with start() as servers:
            time.sleep(SETTLE_SECONDS)
            for server in servers:
                _warm_up(server, kinds)
            for kind in kinds:
                ours, *peers = (_growth(server, kind, count) for server in servers)
                yield Comparison(kind.title, "bytes", ours, peers, kind.most)


def _warm_up(server: Server, kinds: list[Kind]) -> None:
    """Have *server* do once what is measured, and forget it."""
    with server.client() as client:
        for kind in kinds:
            client.load(kind.load(BATCH), kind.at_once)
        client.call("FLUSHALL")


def _growth(server: Server, kind: Kind, count: int) -> float:
    """Bytes of resident memory that one of *count* takes."""
    progress.say(f"memory: {kind.title}, {count:,} of them, {server.name}")
    time.sleep(RESIZE_SECONDS)
    before = resident_bytes(server.pid)
    with server.client() as client:
        client.load(kind.load(count), kind.at_once)
    time.sleep(RESIZE_SECONDS)
    return (resident_bytes(server.pid) - before) / count
