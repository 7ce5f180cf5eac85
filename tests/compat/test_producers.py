"""Streams with idempotent producers: Redis 8.6 and Penstock take each other's, and log alike."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat.oracles import REDIS_8_6, Oracles
from tests.compat.processes import ServerProcess, bulk
from tests.compat.resp import Reply

LAST = b"4102444800000"  # of the year 2100, so that both choose the same ids
COMMANDS = (
    b"XADD s %b-0 f v" % LAST,
    b"XADD s IDMP p a * f v",
    b"XADD s IDMP p b * f v",
    b"XADD s IDMP p a * f v",
    b"XADD s IDMPAUTO q * f v g w",
    b"XADD s IDMPAUTO q * g w f v",
    b"XGROUP CREATE s g 0",
    b"XCFGSET t IDMP-DURATION 5",
    b"XADD t 1-1 f v",
    b"XCFGSET t IDMP-DURATION 5 IDMP-MAXSIZE 7",
    b"XADD t %b-0 f v" % LAST,
    b"XIDMPRECORD t p a %b-0" % LAST,
)


def play(server: ServerProcess) -> None:
    server.control.call(b"FLUSHALL")
    for line in COMMANDS:
        server.control.call(*line.split())


@pytest.fixture
def redis(oracles: Oracles) -> Iterator[ServerProcess]:
    server = oracles.start(REDIS_8_6)
    yield server
    server.control.call(b"FLUSHALL")


def told(server: ServerProcess, key: bytes) -> Reply:
    return server.control.call(b"XINFO", b"STREAM", key)


@pytest.mark.parametrize("key", [b"s", b"t"])
def test_their_payloads_are_equal_and_each_takes_the_other_s(
    key: bytes, redis: ServerProcess, penstock: ServerProcess
) -> None:
    for server in (redis, penstock):
        play(server)
    ours, theirs = (bulk(server.control.call(b"DUMP", key)) for server in (penstock, redis))
    assert ours == theirs
    for server in (redis, penstock):
        before = told(server, key)
        assert server.control.call(b"RESTORE", key, b"0", ours, b"REPLACE") == ("+", b"OK")
        assert told(server, key) == before
        repeated = server.control.call(*b"XADD s IDMPAUTO q * f v g w".split())
        assert repeated == ("$", LAST + b"-3")
