"""A shared group whose query is killed at any step, while others read, add and delete entries.

Each entry is written once, or acknowledged by the rival consumer, or deleted. An entry that is
deleted after it was read can be two of these.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.connect import connection
from pyspark_penstock.read import plan
from pyspark_penstock.read.source_options import StreamOptions, stream_options
from pyspark_penstock.shared import claims, pending_scan
from pyspark_penstock.write.sink_options import SinkOptions, sink_options
from tests.spark.engine import Checkpoint, Crash, Engine, Killed, Step, no_step
from tests.spark.marks import ONE_SERVER
from tests.spark.steps import ALL, chosen
from tests.spark.stored import xrange, xreadgroup

SCHEMA = StructType().add("i", "long").add("_stream", "string")
STREAMS = ("a", "b")
GROUP = "workers"
TWO_BATCHES = 14  # entries
RUNS = 200  # no test needs more

Options = tuple[StreamOptions, SinkOptions]


@pytest.fixture(autouse=True)
def _small_pages_and_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "SMALL", 4)
    monkeypatch.setattr(claims, "PAGE_SIZE", 3)
    monkeypatch.setattr(pending_scan, "SPARSE", 2)


@pytest.fixture
def options(at: dict[str, str]) -> Options:
    """Small batches, tasks and pages. Entries become stale at once."""
    given = {"subscribe": "a,b", "startingOffsets": "earliest", "maxOffsetsPerTrigger": "12"}
    shared = {"group": GROUP, "groupMode": "shared", "claimMinIdleMs": "1"}
    source = at | given | shared | {"fetchSize": "3", "minPartitions": "2"}
    return stream_options(source), sink_options(at | {"stream": "out"})


def fill(client: redis.Redis, values: range) -> None:
    for i in values:
        client.xadd(STREAMS[i % 3 // 2], {"i": i})


def written(client: redis.Redis) -> Counter[int]:
    return Counter(int(fields[b"i"]) for _, fields in xrange(client, "out"))


def run(checkpoint: Checkpoint, options: Options, step: Step) -> None:
    """Run the query until it is done or killed.

    Each reply is a step, at which the server has run the command and the query does not know it.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("call", "answer", "exchange"):
            patch.setattr(
                connection.Connection,
                name,
                stepping(getattr(connection.Connection, name), name, step),
            )
        Engine(checkpoint, options[0], SCHEMA, options[1], step).run()


def stepping(method: Callable[..., Any], name: str, step: Step) -> Callable[..., Any]:
    """*method* with a step after it."""

    def stepped(self: connection.Connection, *arguments: Any) -> Any:
        answer = method(self, *arguments)
        step(f"call {arguments[0]}" if name == "call" else name)
        return answer

    return stepped


def run_until_nothing_is_pending(
    client: redis.Redis, checkpoint: Checkpoint, options: Options
) -> None:
    """Run again until entries that rivals and killed runs left pending are stale and claimed."""
    for _ in range(RUNS):
        run(checkpoint, options, no_step)
        if not any(group["pending"] for s in STREAMS for group in client.xinfo_groups(s)):
            return
    pytest.fail("something stays pending")


@ONE_SERVER
def test_a_query_killed_once_at_any_step_writes_each_entry_once(
    client: redis.Redis, options: Options
) -> None:
    fill(client, range(TWO_BATCHES))
    whole = Crash()
    run(Checkpoint(), options, whole)
    assert {"write-ahead log", "commit", "read", "answer", "call XACK"} <= set(whole.steps)
    assert written(client) == Counter(range(TWO_BATCHES))
    for kill_at in chosen(whole.steps):
        client.delete("out", *client.keys("*:spark:*"))
        for stream in STREAMS:
            client.xgroup_destroy(stream, GROUP)
        checkpoint = Checkpoint()
        try:
            run(checkpoint, options, Crash(kill_at))
        except Killed:
            run_until_nothing_is_pending(client, checkpoint, options)
        assert written(client) == Counter(range(TWO_BATCHES)), (kill_at, whole.steps[kill_at - 1])


class RandomEvents:
    """Random events while the query runs: added and deleted entries, a rival's reads, and kills."""

    def __init__(self, client: redis.Redis, seed: int) -> None:
        self.client = client
        self.choice = random.Random(seed)
        self.added = 0
        self.deleted = set[int]()
        self.acknowledged = Counter[int]()  # by the rival
        self.steps_to_kill = 0
        self.schedule_kill()

    def schedule_kill(self) -> None:
        """Choose after how many steps the query is killed."""
        self.steps_to_kill = self.choice.randint(1, 100)

    def __call__(self, name: str) -> None:
        self.steps_to_kill -= 1
        if self.steps_to_kill == 0:
            raise Killed(name)
        event = self.choice.choice([self.add, self.delete, self.rival, *[None] * 9])
        if event and self.added < 300:
            event(self.choice.choice(STREAMS))

    def add(self, stream: str) -> None:
        for _ in range(self.choice.randint(1, 8)):
            self.client.xadd(stream, {"i": self.added})
            self.added += 1

    def delete(self, stream: str) -> None:
        entries = xrange(self.client, stream)
        if entries:
            entry, fields = self.choice.choice(entries)
            self.client.xdel(stream, entry)
            self.deleted.add(int(fields[b"i"]))

    def rival(self, stream: str) -> None:
        """Let the rival read a few entries, and acknowledge them or leave them pending."""
        if not self.client.exists(stream) or not self.client.xinfo_groups(stream):
            return
        count = self.choice.randint(1, 4)
        for _, entries in xreadgroup(self.client, GROUP, "rival", stream, count):
            if self.choice.random() < 0.7:
                self.client.xack(stream, GROUP, *(entry for entry, _ in entries))
                self.acknowledged.update(int(fields[b"i"]) for _, fields in entries)


@pytest.mark.parametrize(
    ("server", "seed"),
    [(name, seed) for name in ("penstock", "redis") for seed in range(6)]
    if ALL
    else [("penstock", 0), ("redis", 1), ("redis", 2)],
    indirect=["server"],
)
def test_a_query_killed_repeatedly_among_other_clients_loses_no_entry(
    client: redis.Redis, options: Options, seed: int
) -> None:
    events, checkpoint = RandomEvents(client, seed), Checkpoint()
    for stream in STREAMS:
        events.add(stream)
    for _ in range(RUNS):
        try:
            run(checkpoint, options, events)
        except Killed:
            events.schedule_kill()
        else:
            break
    run_until_nothing_is_pending(client, checkpoint, options)
    done = written(client) + events.acknowledged
    assert not [i for i, count in done.items() if count > 1]
    assert set(range(events.added)) - set(done) <= events.deleted
    assert events.acknowledged
