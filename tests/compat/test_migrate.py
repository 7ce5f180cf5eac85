"""MIGRATE from Penstock to redis-server and in the other direction."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.connection import Connection
from tests.compat.differences import OF_IDMP
from tests.compat.processes import ServerProcess
from tests.compat.resp import Reply

DATA = """SET n -123
SET text hello EX 1000
APPEND raw grown
RPUSH l a b 3 -7
XADD s 1-1 a b c d
XADD s 2-1 a c c 5
XADD s 3-3 z c
XADD s 4-1 z c
XDEL s 2-1
XGROUP CREATE s g 0
XGROUP CREATE s h 3-3 ENTRIESREAD 2
XGROUP CREATECONSUMER s g idle
XREADGROUP GROUP g alice COUNT 2 STREAMS s >
XREADGROUP GROUP g bob STREAMS s >
XCLAIM s g carol 0 3-3 TIME 1000 RETRYCOUNT 7
XADD empty MAXLEN 0 5-5 a b"""
KEYS = [b"n", b"text", b"raw", b"l", b"s", b"empty"]
COMPARED = [b"XINFO STREAM s", b"XINFO GROUPS s", b"XPENDING s g", b"XINFO STREAM empty"]


@pytest.fixture(params=["there", "back"])
def source_and_target(
    request: pytest.FixtureRequest, penstock: ServerProcess, redis: ServerProcess
) -> Iterator[tuple[ServerProcess, ServerProcess]]:
    """The server that keys are moved from, and the one that they are moved to."""
    penstock.control.call(b"CONFIG", b"SET", b"rdb-oldest-reader", b"7.0")
    for server in (penstock, redis):
        server.control.call(b"FLUSHALL")
    yield (penstock, redis) if request.param == "there" else (redis, penstock)
    penstock.control.call(b"CONFIG", b"SET", b"rdb-oldest-reader", b"7.0")  # as it was


def fill(server: ServerProcess) -> None:
    server.control.call(b"RPUSH", b"l", b"x" * 20_000)
    for line in DATA.splitlines():
        reply = server.control.call(*line.encode().split())
        assert reply[0] != "-", (line, reply)


def contents(control: Connection) -> list[Reply]:
    """The digests of all keys, and the facts that digests leave out."""
    replies = [known_to_all(control.call(*line.split())) for line in COMPARED]
    return [control.call(b"DEBUG", b"DIGEST-VALUE", *KEYS), *replies, owners(control)]


def known_to_all(reply: Reply) -> Reply:
    """A reply without the fields of XINFO STREAM that Redis 7.0 does not have."""
    kind, words = reply[0], reply[1]
    assert isinstance(words, list)
    pairs = zip(words[::2], words[1::2], strict=False)
    if not any(name == ("$", b"idmp-duration") for name in words[::2]):
        return reply
    newer = {("$", name.encode()) for name in OF_IDMP}
    return kind, [word for pair in pairs if pair[0] not in newer for word in pair]


def owners(control: Connection) -> Reply:
    """The owner and delivery count of each pending entry, without times."""
    kind, rows = control.call(b"XPENDING", b"s", b"g", b"-", b"+", b"10")
    assert isinstance(rows, list)
    return kind, [(row[0], [row[1][0], row[1][1], row[1][3]]) for row in rows if row[1]]


def migrate(source: ServerProcess, target: ServerProcess, *words: bytes) -> Reply:
    return source.control.call(b"MIGRATE", b"127.0.0.1", b"%d" % target.port, *words)


def test_all_keys_arrive_with_their_contents(
    source_and_target: tuple[ServerProcess, ServerProcess],
) -> None:
    source, target = source_and_target
    fill(source)
    before = contents(source.control)
    assert migrate(source, target, b"", b"0", b"5000", b"KEYS", *KEYS) == ("+", b"OK")
    assert contents(target.control) == before
    assert source.control.call(b"DBSIZE") == (":", b"0")
    assert 0 < int(target.control.call(b"PTTL", b"text")[1] or 0) <= 1_000_000  # type: ignore[arg-type]


def test_a_key_that_the_target_has_stays_at_the_source(
    source_and_target: tuple[ServerProcess, ServerProcess],
) -> None:
    source, target = source_and_target
    source.control.call(b"MSET", b"a", b"1", b"b", b"2", b"c", b"3")
    target.control.call(b"SET", b"b", b"taken")
    assert migrate(source, target, b"", b"0", b"5000", b"KEYS", b"a", b"b", b"c") == (
        "-",
        b"ERR Target instance replied with error: BUSYKEY Target key name already exists.",
    )
    assert source.control.call(b"KEYS", b"*") == ("*", [("$", b"b")])
    assert migrate(source, target, b"b", b"0", b"5000", b"REPLACE") == ("+", b"OK")
    assert target.control.call(b"GET", b"b") == ("$", b"2")


def test_a_database_out_of_range_is_an_error(
    source_and_target: tuple[ServerProcess, ServerProcess],
) -> None:
    source, target = source_and_target
    source.control.call(b"SET", b"a", b"1")
    assert migrate(source, target, b"a", b"99", b"5000") == (
        "-",
        b"ERR Target instance replied with error: ERR DB index is out of range",
    )
    assert source.control.call(b"GET", b"a") == ("$", b"1")
