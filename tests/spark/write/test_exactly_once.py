"""Exactly once: a query killed at any step, any number of times, writes each entry once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql.types import StructType

from pyspark_penstock.connect import connection
from pyspark_penstock.errors import OptionError, SinkError
from pyspark_penstock.read import plan
from pyspark_penstock.read.source_options import StreamOptions, stream_options
from pyspark_penstock.write.sink_options import (
    AT_LEAST_ONCE,
    ATOMIC,
    EXACTLY_ONCE,
    ORDERED,
    SinkOptions,
    sink_options,
)
from tests.spark.engine import Checkpoint, Crash, Engine, Killed, Step, no_step
from tests.spark.marks import ONE_SERVER
from tests.spark.steps import chosen, command_of, examples
from tests.spark.stored import xrange

SCHEMA = StructType().add("i", "long").add("_stream", "string")
STREAMS = ("a", "b")
TWO_BATCHES = 24  # entries


@pytest.fixture(autouse=True)
def _small_batches_have_several_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "SMALL", 4)


def source(at: dict[str, str], **more: str) -> StreamOptions:
    given = {"subscribe": "a,b", "startingOffsets": "earliest", "maxOffsetsPerTrigger": "20"}
    return stream_options(at | given | {"fetchSize": "3", "minPartitions": "2"} | more)


def sink(at: dict[str, str], **more: str) -> SinkOptions:
    return sink_options(at | {"stream": "out", "maxTransactionRows": "3"} | more)


def fill(client: redis.Redis, count: int) -> None:
    for i in range(count):
        client.xadd(STREAMS[i % 3 // 2], {"i": i})


def written(client: redis.Redis) -> Counter[int]:
    return Counter(int(fields[b"i"]) for _, fields in xrange(client, "out"))


def run(checkpoint: Checkpoint, options: tuple[StreamOptions, SinkOptions], step: Step) -> None:
    """Run the query until done or killed. Each request of the sink and each reply is a step."""
    original_post, original_answers = connection.Connection.post, connection.Connection.answers

    def post(self: connection.Connection, request: bytes | memoryview) -> None:
        step(command_of(request))
        original_post(self, request)

    def answers(self: connection.Connection) -> bytes:
        answer = original_answers(self)
        step("answer")
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection.Connection, "post", post)
        patch.setattr(connection.Connection, "answers", answers)
        Engine(checkpoint, options[0], SCHEMA, options[1], step).run()


@ONE_SERVER
@pytest.mark.parametrize("delivery", [EXACTLY_ONCE, ORDERED, ATOMIC])
def test_a_query_killed_once_at_any_step_writes_each_entry_once(
    client: redis.Redis, at: dict[str, str], delivery: str
) -> None:
    fill(client, TWO_BATCHES)
    one_task = {"subscribe": "a", "minPartitions": "1"} if delivery == ORDERED else {}
    most_rows = str(TWO_BATCHES) if delivery == ATOMIC else "3"
    options = (
        source(at, **one_task),
        sink(at, delivery=delivery, maxTransactionRows=most_rows),
    )
    whole = Crash()
    run(Checkpoint(), options, whole)
    assert {"EXEC", "answer", "write-ahead log", "commit", "commit source"} <= set(whole.steps)
    expected = Counter(i for i in range(TWO_BATCHES) if not one_task or STREAMS[i % 3 // 2] == "a")
    assert written(client) == expected
    entries = xrange(client, "out")
    for kill_at in chosen(whole.steps):
        client.delete("out", *client.keys("*:spark:*"))
        checkpoint = Checkpoint()
        with pytest.raises(Killed):
            run(checkpoint, options, Crash(kill_at))
        run(checkpoint, options, no_step)
        assert written(client) == expected, whole.steps[kill_at - 1]
        assert delivery != ORDERED or xrange(client, "out") == entries


def run_with_a_log_that_lags(client: redis.Redis, at: dict[str, str], delivery: str) -> set[int]:
    """Three batches run, of which the log knows one when the query is killed; then it goes on.

    So numbers that were written are given to other entries. Returns the entries there are in all.
    """
    fill(client, 12)
    checkpoint, to = Checkpoint(), sink_options(at | {"stream": "out", "delivery": delivery})
    run(checkpoint, (source(at, maxOffsetsPerTrigger="4", minPartitions="1"), to), no_step)
    assert checkpoint.committed == 3
    known = Checkpoint(checkpoint.ends[:1], 1, {0: checkpoint.plans[0]})
    for i in range(12, 20):
        client.xadd("a", {"i": i})
    run(known, (source(at, minPartitions="1"), to), no_step)
    assert known.committed == 2
    return set(range(20))


@ONE_SERVER
def test_asynchronous_progress_writes_again_at_least_once(
    client: redis.Redis, at: dict[str, str]
) -> None:
    everything = run_with_a_log_that_lags(client, at, AT_LEAST_ONCE)
    found = written(client)
    assert found.keys() == everything
    assert found.total() == 4 + 8 + 16  # the second and the third batch are there twice


@ONE_SERVER
@pytest.mark.parametrize("delivery", [EXACTLY_ONCE, ATOMIC])
def test_asynchronous_progress_would_lose_entries_with_markers(
    client: redis.Redis, at: dict[str, str], delivery: str
) -> None:
    """Why it is refused: the marker says that this number was written."""
    everything = run_with_a_log_that_lags(client, at, delivery)
    assert everything - written(client).keys() == set(range(12, 20))
    wanted = at | {"delivery": delivery, "asyncProgressTrackingEnabled": "true"}
    with pytest.raises(OptionError, match="would leave these out"):
        sink_options(wanted)


def test_a_query_killed_repeatedly_writes_each_entry_once(
    client: redis.Redis, at: dict[str, str]
) -> None:
    """Each run gets one step further than the previous one."""
    fill(client, 30)
    checkpoint, options, steps = Checkpoint(), (source(at), sink(at)), 12
    for _ in range(1_000):
        try:
            run(checkpoint, options, Crash(steps))
        except Killed:
            steps += 1
        else:
            break
    assert written(client) == Counter(range(30))


def test_at_least_once_writes_a_replayed_batch_again(
    client: redis.Redis, at: dict[str, str]
) -> None:
    fill(client, 10)
    checkpoint = Checkpoint()
    options = source(at), sink_options(at | {"stream": "out", "delivery": "at-least-once"})
    with pytest.raises(Killed):
        run(checkpoint, options, kill_at_name("commit"))
    run(checkpoint, options, no_step)
    assert written(client) == Counter(dict.fromkeys(range(10), 2))


def test_a_partly_written_partition_that_changed_before_its_replay_is_refused(
    client: redis.Redis, at: dict[str, str]
) -> None:
    """Both duplicating and dropping rows would be wrong. The error says how to continue.

    The first partition has all of ``a``, the second all of ``b``: that one is written in any case.
    """
    fill(client, 10)
    checkpoint = Checkpoint()
    by_stream = {"minPartitions": "1", "maxRecordsPerPartition": "7"}
    options = source(at, failOnDataLoss="false", **by_stream), sink(at)

    def after_first_transaction(name: str) -> None:
        if written(client):
            raise Killed(name)

    with pytest.raises(Killed):
        run(checkpoint, options, after_first_transaction)
    assert len(written(client)) == 3
    client.xdel("a", xrange(client, "a", count=1)[0][0])
    with pytest.raises(SinkError, match=r"was written up to row 3 .* '\{out\}:spark:query:0'"):
        run(checkpoint, options, no_step)
    client.set("{out}:spark:query:0", "0 0 0 done")
    run(checkpoint, options, no_step)
    assert written(client) == Counter([0, 1, 3, 2, 5, 8])


def kill_at_name(wanted: str) -> Step:
    def step(name: str) -> None:
        if name == wanted:
            raise Killed(name)

    return step


def test_latest_is_the_first_start_even_if_the_first_batch_is_replayed(
    client: redis.Redis, at: dict[str, str]
) -> None:
    """Spark then asks for the initial offset again, which has changed."""
    fill(client, 10)
    checkpoint = Checkpoint()
    options = source(at, startingOffsets="latest"), sink(at)

    def add_after_start(name: str) -> None:
        if name == "plan":
            client.xadd("a", {"i": 77})
        if name == "read":
            raise Killed(name)

    with pytest.raises(Killed):
        run(checkpoint, options, add_after_start)
    client.xadd("b", {"i": 78})
    run(checkpoint, options, no_step)
    assert written(client) == Counter([77, 78])


def test_a_replayed_batch_has_the_same_tasks_with_other_options(
    client: redis.Redis, at: dict[str, str]
) -> None:
    """The engine compares the tasks of a batch with those of its first plan."""
    fill(client, 40)
    checkpoint = Checkpoint()
    with pytest.raises(Killed):
        run(checkpoint, (source(at, minPartitions="4"), sink(at)), kill_at_name("commit"))
    run(checkpoint, (source(at, minPartitions="1", maxOffsetsPerTrigger="7"), sink(at)), no_step)
    assert written(client) == Counter(range(40))


Change = Callable[[redis.Redis, Any], None]


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, int, int]]:
    """Histories in which entries are added, deleted and trimmed, and runs are killed."""
    kinds = st.sampled_from(["add", "add", "add", "delete", "trim", "run", "run"])
    event = st.tuples(kinds, st.integers(0, 1), st.integers(1, 30))
    return draw(st.lists(event, max_size=15))


@settings(
    max_examples=examples(30, 12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(histories())
def test_any_history_loses_no_entry_and_duplicates_none(
    client: redis.Redis, at: dict[str, str], history: list[tuple[str, int, int]]
) -> None:
    client.flushall()
    checkpoint = Checkpoint()
    options = source(at, failOnDataLoss="false"), sink(at, maxTransactionRows="1000")
    added, removed = 0, set[int]()
    for kind, which, amount in history:
        stream = STREAMS[which]
        if kind == "add":
            for i in range(added, added + amount):
                client.xadd(stream, {"i": i})
            added += amount
        elif kind == "run":
            try:
                run(checkpoint, options, Crash(amount))
            except Killed:
                pass
        else:
            removed |= remove(client, kind, stream, amount)
    run(checkpoint, options, no_step)
    counts = written(client)
    assert not [i for i, count in counts.items() if count > 1]
    assert set(range(added)) - set(counts) <= removed


def remove(client: redis.Redis, kind: str, stream: str, amount: int) -> set[int]:
    """Delete one entry, or trim the stream. Returns the values that were removed."""
    before = {int(fields[b"i"]) for _, fields in xrange(client, stream)}
    if kind == "trim":
        client.xtrim(stream, maxlen=max(0, len(before) - amount), approximate=False)
    elif before:
        entries = xrange(client, stream)
        client.xdel(stream, entries[amount % len(entries)][0])
    return before - {int(fields[b"i"]) for _, fields in xrange(client, stream)}
