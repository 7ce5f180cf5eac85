"""Every command of a query can fail once, in several ways, without changing the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.connect import connection
from pyspark_penstock.read.source_options import stream_options
from pyspark_penstock.write.sink_options import (
    AT_LEAST_ONCE,
    DELIVERIES,
    EXACTLY_ONCE,
    sink_options,
)
from tests.spark.clock import Clock
from tests.spark.engine import Checkpoint, Engine
from tests.spark.marks import ONE_SERVER
from tests.spark.stored import xrange
from tests.spark.troubled import CUT_BEFORE, CUT_BEHIND, Troubled

if TYPE_CHECKING:
    from tests.compat.processes import ServerProcess

SCHEMA = StructType().add("i", "long")
ENTRIES = 6
TROUBLES = (
    CUT_BEFORE,
    CUT_BEHIND,
    b"LOADING Redis is loading the dataset in memory",
    b"READONLY You can't write against a read only replica.",
    b"NOREPLICAS Not enough good replicas to write.",
)
RANGES = {"group": "position"}
SHARED = {"group": "workers", "groupMode": "shared"}


@pytest.fixture
def troubled(
    server: ServerProcess, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Troubled]:
    """A proxy in front of the server. Retries do not really sleep."""
    monkeypatch.setattr(connection, "QUIET_S", 0.02)
    proxy = Troubled(server.port)
    yield proxy
    proxy.close()


def run(client: redis.Redis, proxy: Troubled, delivery: str, mode: dict[str, str]) -> int:
    """Copy a stream with a query, and check the copy. Returns how many commands that took."""
    client.flushall()
    for i in range(ENTRIES):
        client.xadd("in", {"i": i})
    proxy.commands = 0
    reading = {"subscribe": "in", "startingOffsets": "earliest", "fetchSize": "4"}
    source = stream_options(proxy.at | reading | mode | {"minPartitions": "1"})
    sink = sink_options(proxy.at | {"stream": "out", "delivery": delivery})
    Engine(Checkpoint(), source, SCHEMA, sink).run()
    found = Counter(int(fields[b"i"]) for _, fields in xrange(client, "out"))
    assert sorted(found) == list(range(ENTRIES))
    assert delivery == AT_LEAST_ONCE or set(found.values()) == {1}
    (group,) = client.xinfo_groups("in")
    assert (group["lag"], group["pending"]) == (0, 0)
    return proxy.commands


@ONE_SERVER
@pytest.mark.parametrize(
    ("delivery", "mode"), [*((name, RANGES) for name in DELIVERIES), (EXACTLY_ONCE, SHARED)]
)
def test_a_failure_of_any_command_does_not_change_the_result(
    client: redis.Redis, troubled: Troubled, delivery: str, mode: dict[str, str]
) -> None:
    """For each delivery a different third of the commands fails, in different ways."""
    first = 1 + DELIVERIES.index(delivery) % 3
    for at in range(first, run(client, troubled, delivery, mode) + 1, 3):
        trouble = TROUBLES[at % len(TROUBLES)]

        def fail(number: int, _: bytes, at: int = at, trouble: bytes = trouble) -> bytes | None:
            return trouble if number == at else None

        troubled.trouble = fail
        assert run(client, troubled, delivery, mode) >= at
