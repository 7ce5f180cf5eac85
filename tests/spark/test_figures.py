"""Figures, and how they come from tasks to the driver's program. Without Spark: milliseconds."""

from __future__ import annotations

import json
import pickle
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark import TaskContext, cloudpickle
from pyspark.accumulators import Accumulator

from pyspark_penstock import collector, figures
from pyspark_penstock.collector import Collected, SumsParam, tell, tell_of_task
from pyspark_penstock.figures import BAD_VALUES, BYTES_READ, ENTRIES_LOST, OTHERS, Sums
from pyspark_penstock.jobs.seen import collect
from pyspark_penstock.source import PenstockDataSource

AID = 1_000_000  # of no accumulator that a session makes


def sums(**by_stream: int) -> Sums:
    """So many bad values of each stream."""
    made = Sums()
    for stream, value in by_stream.items():
        made.add(("a:1", stream), BAD_VALUES, value)
    return made


def test_streams_beyond_the_limit_are_counted_together_and_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(figures, "MOST_STREAMS", 2)
    found = sums(x=1, y=2, z=4, w=8)
    found.add(("b:2", "x"), BAD_VALUES, 16)
    found.add(("a:1", "x"), BAD_VALUES, 32)
    assert {place: value for place, _, value in found} == {
        ("a:1", "x"): 33, ("a:1", "y"): 2, ("a:1", OTHERS): 12, ("b:2", OTHERS): 16,
    }  # fmt: skip
    assert found.total(BAD_VALUES) == 63


def test_figures_of_the_planner_pass_through_json() -> None:
    found = sums(x=1, y=2)
    found.add(("", "s"), ENTRIES_LOST, 3)
    again = Sums.from_json(json.loads(json.dumps(found.to_json())))
    assert list(again) == list(found)


@pytest.mark.parametrize(
    "value", [None, 3, "text", {"a": 1}, {"a": {"s": 1}}, {"a": {"s": {"bad_values": "many"}}}]
)
def test_what_are_no_figures_counts_nothing(value: Any) -> None:
    assert not Sums.from_json(value)


def test_what_has_come_since_is_all_after_a_new_beginning() -> None:
    later = sums(x=5, y=2)
    assert later.since(sums(x=3, y=2)).totals() == {BAD_VALUES: 2}
    assert sums(x=1).since(sums(x=3)).totals() == {BAD_VALUES: 1}


def test_batches_are_taken_once_with_those_before_them() -> None:
    found = Collected()
    for batch in (1, 2, 3):
        found.merge({("q", batch): sums(x=10**batch)})
    found.merge({("other", 1): sums(x=7)})
    assert found.take("q", 2).total(BAD_VALUES) == 110
    assert not found.take("q", 2)
    found.forget("q")
    assert not found.take("q", 3)
    assert found.take("other", 1).total(BAD_VALUES) == 7


def test_batches_that_nobody_takes_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collector, "MOST_BATCHES", 2)
    found = Collected()
    for batch in range(5):
        found.merge({("q", batch): sums(x=1)})
    assert found.take("q", 9).total(BAD_VALUES) == 2


class Context:
    """A session that makes accumulators as PySpark does, and keeps the data source."""

    def __init__(self) -> None:
        self.sparkContext = SimpleNamespace(accumulator=self._accumulator)
        self.dataSource = SimpleNamespace(register=self._register)

    def _accumulator(self, value: Any, param: Any) -> Accumulator[Any]:
        self.accumulator = Accumulator(AID, value, param)
        return self.accumulator

    def _register(self, source: type[PenstockDataSource]) -> None:
        self.sent = cloudpickle.dumps(source)


def task(query: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on it is as in a task of batch 3 of *query*."""
    known = {collector.BATCH_ID: "3", collector.QUERY_ID: query} if query else {}
    context = SimpleNamespace(getLocalProperty=known.get)
    monkeypatch.setattr(TaskContext, "get", lambda: context)


def test_what_a_task_tells_arrives_by_the_class_of_the_data_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in PySpark: the class is sent by value, and what the task has added is sent back."""
    session: Any = Context()
    collected = collect(session)
    assert PenstockDataSource.collector is None
    monkeypatch.setattr("pyspark.accumulators._accumulatorRegistry", {})  # as in a worker
    source = pickle.loads(session.sent)({})
    assert source.name() == "penstock"
    accumulator = pickle.loads(cloudpickle.dumps(source)).collector
    task("q", monkeypatch)
    tell_of_task(accumulator, sums(x=1))
    tell_of_task(accumulator, sums(x=2, y=4))
    sent_back = pickle.loads(pickle.dumps(accumulator._value))
    session.accumulator += sent_back
    session.accumulator += {}  # of a process that has counted nothing
    assert collected.take("q", 3).total(BAD_VALUES) == 7


def test_a_task_of_no_streaming_query_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    accumulator = Accumulator(AID, SumsParam().zero(None), SumsParam())
    task(None, monkeypatch)
    tell_of_task(accumulator, sums(x=1))
    assert accumulator.value == {}
    tell(accumulator, ("q", 3), Sums())
    assert accumulator.value == {}
    tell_of_task(None, sums(x=1))  # nobody collects


def test_bytes_of_tasks_are_numbers_that_json_takes() -> None:
    found = Sums()
    found.add(("", "s"), BYTES_READ, 12.3456)
    assert found.to_json() == {"": {"s": {BYTES_READ: 12.3}}}
