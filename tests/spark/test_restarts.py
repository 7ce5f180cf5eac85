"""An outage of the server at any step of a query costs only time.

Before some steps the server is killed, or becomes a replica. It is back when the retry has paused
twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import cycle

import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.connect.retry import Retry
from pyspark_penstock.connect.stream_info import ask
from pyspark_penstock.errors import ServerError
from pyspark_penstock.read import plan
from pyspark_penstock.read.source_options import stream_options
from pyspark_penstock.write.sink_options import (
    AT_LEAST_ONCE,
    ATOMIC,
    DELIVERIES,
    EXACTLY_ONCE,
    ORDERED,
    sink_options,
)
from tests.spark.clock import Clock
from tests.spark.clustered import PATIENT
from tests.spark.engine import Checkpoint, Engine
from tests.spark.restarted import RestartableServer, restarted  # noqa: F401  (a fixture)
from tests.spark.stored import xrange

SCHEMA = StructType().add("i", "long")
ENTRIES = 24
# Steps between outages, in turn. Some are so few that the attempt cannot succeed; after more than a
# publication takes (30) it must. Penstock starts more slowly, so it gets fewer outages.
GAPS, LONG_GAPS = (4, 7, 11, 35), (7, 23, 35)

Options = dict[str, str]


@pytest.fixture(autouse=True)
def _small_batches_have_several_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "SMALL", 4)


class Outages:
    """Calls *go* after so many steps as *gaps* say in turn, and *come* at the second pause then.

    Steps count from the first one with the name *begin*.
    """

    def __init__(
        self,
        go: Callable[[], object],
        come: Callable[[], object],
        gaps: Sequence[int] = GAPS,
        begin: str = "",
    ) -> None:
        self.happened = 0
        self._begin = begin
        self._begun = False
        self._gaps = cycle(gaps)
        self._go = go
        self._come = come
        self._left = next(self._gaps)  # steps until the next outage
        self._pauses: int | None = None  # since *go*; None while the server is there

    def step(self, name: str = "") -> None:
        """Called before each step.

        Steps do not count while the server is away, so that a retry succeeds.
        """
        self._begun = self._begun or name == self._begin
        if self._pauses is not None or not self._begun:
            return
        self._left -= 1
        if not self._left:
            self._left = next(self._gaps)
            self.happened += 1
            self._pauses = 0
            self._go()

    def pause(self, _: float) -> None:
        """Called in place of sleeping."""
        if self._pauses is not None:
            self._pauses += 1
            if self._pauses == 2:
                self._pauses = None
                self._come()


def query(at: Options, delivery: str, outages: Outages, **source: str) -> None:
    """Run a query from stream to stream, with outages at its steps, requests and replies."""
    minimum = {"minPartitions": "1" if delivery == ORDERED else "2"}
    reading = {"subscribe": "in", "startingOffsets": "earliest", "fetchSize": "3"}
    batches = {"maxOffsetsPerTrigger": "16"}
    at = PATIENT | at
    source_options = stream_options(at | reading | batches | minimum | source)
    size = {} if delivery in {ATOMIC, AT_LEAST_ONCE} else {"maxTransactionRows": "3"}
    sink = sink_options(at | {"stream": "out", "delivery": delivery} | size)
    post, answers = Connection.post, Connection.answers

    def stepwise_post(self: Connection, request: bytes | memoryview) -> None:
        outages.step()
        post(self, request)

    def stepwise_answers(self: Connection) -> bytes:
        outages.step()
        return answers(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Connection, "post", stepwise_post)
        patch.setattr(Connection, "answers", stepwise_answers)
        patch.setattr(Retry, "sleep", outages.pause)
        Engine(Checkpoint(), source_options, SCHEMA, sink, outages.step).run()


def fill(client: redis.Redis) -> None:
    for i in range(ENTRIES):
        client.xadd("in", {"i": i})


def check(client: redis.Redis, delivery: str) -> None:
    """Check that no entry is missing, and that only at-least-once delivery has some twice."""
    found = Counter(int(fields[b"i"]) for _, fields in xrange(client, "out"))
    assert sorted(found) == list(range(ENTRIES))
    assert delivery == AT_LEAST_ONCE or set(found.values()) == {1}


@pytest.mark.parametrize(
    ("restarted", "delivery", "gaps"),
    [
        ("penstock", EXACTLY_ONCE, LONG_GAPS),
        *(("redis", name, GAPS) for name in DELIVERIES),
    ],
    indirect=["restarted"],
)
def test_a_query_survives_kills_of_its_server(
    restarted: RestartableServer,  # noqa: F811
    delivery: str,
    gaps: Sequence[int],
) -> None:
    """The driver's commands are steps too, so the driver must retry as the tasks do."""
    fill(restarted.client)
    outages = Outages(restarted.kill, restarted.start, gaps)
    query(restarted.at, delivery, outages, group="position")
    assert outages.happened >= 2
    check(restarted.client, delivery)
    (group,) = restarted.client.xinfo_groups("in")
    assert group["lag"] == 0


@pytest.mark.parametrize("restarted", ["penstock"], indirect=True)
def test_a_query_with_a_shared_group_survives_kills_of_its_server(
    restarted: RestartableServer,  # noqa: F811
) -> None:
    fill(restarted.client)
    outages = Outages(restarted.kill, restarted.start, LONG_GAPS)
    query(restarted.at, EXACTLY_ONCE, outages, group="workers", groupMode="shared")
    assert outages.happened >= 2
    check(restarted.client, EXACTLY_ONCE)
    (group,) = restarted.client.xinfo_groups("in")
    assert (group["lag"], group["pending"]) == (0, 0)


@pytest.mark.parametrize("restarted", ["redis"], indirect=True)
@pytest.mark.parametrize(
    "mode", [{}, {"group": "position"}, {"group": "workers", "groupMode": "shared"}]
)
def test_a_lagging_replica_is_not_used_while_the_primary_is_away(
    restarted: RestartableServer,  # noqa: F811
    replica: int,
    mode: Options,
) -> None:
    """The replica has no entries, markers or consumers, on which a query's decisions depend.

    A query that has seen nothing yet would see nothing there, and be done.
    """
    fill(restarted.client)
    outages = Outages(restarted.kill, restarted.start, begin="write-ahead log")
    addresses = f"127.0.0.1:{restarted.port},127.0.0.1:{replica}"
    query({"bootstrap.servers": addresses}, EXACTLY_ONCE, outages, **mode)
    assert outages.happened >= 2
    check(restarted.client, EXACTLY_ONCE)
    assert all(group["pending"] == 0 for group in restarted.client.xinfo_groups("in"))


@pytest.mark.parametrize("server", ["redis"], indirect=True)  # Penstock cannot be a replica
@pytest.mark.parametrize(
    ("delivery", "stale"), [*((name, "yes") for name in DELIVERIES), (EXACTLY_ONCE, "no")]
)
def test_a_query_survives_its_primary_being_a_replica_for_a_while(
    client: redis.Redis, at: Options, delivery: str, stale: str
) -> None:
    """A replica refuses writes with READONLY, and without stale data reads with MASTERDOWN."""
    fill(client)
    client.config_set("replica-serve-stale-data", stale)
    outages = Outages(
        lambda: ask(client, "REPLICAOF", "127.0.0.1", "1"),
        lambda: ask(client, "REPLICAOF", "NO", "ONE"),
    )
    try:
        query(at, delivery, outages, group="position")
    finally:
        ask(client, "REPLICAOF", "NO", "ONE")
        client.config_set("replica-serve-stale-data", "yes")
    assert outages.happened >= 2
    check(client, delivery)


@pytest.mark.parametrize("restarted", ["penstock"], indirect=True)
def test_a_server_that_stays_away_gives_a_one_sentence_error(
    restarted: RestartableServer,  # noqa: F811
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(restarted.client)
    outages = Outages(restarted.kill, lambda: None)
    monkeypatch.setattr(outages, "pause", clock.sleep)
    with pytest.raises(ServerError) as caught:
        query(restarted.at | {"retryTimeout": "20s"}, EXACTLY_ONCE, outages)
    where = rf"127\.0\.0\.1:{restarted.port}"
    assert caught.match(
        rf"^[\w ,']+ at {where} failed 1\d times in 20 s, the last time with: [^.;]*$"
    )
