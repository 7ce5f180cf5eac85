"""What is seen of a batch: the report, the planner's figures in it, and what tasks have told."""

from __future__ import annotations

from typing import Any

import pytest

from pyspark_penstock.collector import Collected
from pyspark_penstock.figures import (
    BAD_VALUES,
    ENTRIES_LOST,
    ENTRIES_READ,
    PLAN_MS,
    ROWS_WRITTEN,
    Sums,
)
from pyspark_penstock.jobs import seen as seen_module
from pyspark_penstock.jobs.seen import Seen
from tests.spark.jobs.test_progress import offset, position, report

S = ("", "s")


def told(name: str, value: float, stream: str = "s") -> Sums:
    sums = Sums()
    sums.add(("", stream), name, value)
    return sums


def batch(number: int, lost: int = 0, n: int = 0, **more: Any) -> dict[str, Any]:
    """The report of a batch of one entry; the planner has counted *lost* entries so far."""
    start, end = offset(s=position("1-0", n)), offset(s=position("2-0", n + 1))
    latest = end | {"figures": {"": {"s": {ENTRIES_LOST: lost}, "": {PLAN_MS: 1.5 * (number + 1)}}}}
    return report(start, end, latest) | {"id": "q", "batchId": number} | more


def test_the_planner_s_sums_since_it_began_become_sums_of_batches() -> None:
    seen = Seen()
    found = [seen.batch(batch(0, 2)), seen.batch(batch(1, 2)), seen.batch(batch(2, 5))]
    assert [each.sums.of(S, ENTRIES_LOST) for each in found] == [2, 0, 3]
    assert [each.sums.total(PLAN_MS) for each in found] == [1.5] * 3
    assert [each.sums.of(S, ENTRIES_READ) for each in found] == [1] * 3
    assert seen.batch(batch(0, 1)).sums.of(S, ENTRIES_LOST) == 1  # the query was started again
    seen.forget("q")
    assert seen.batch(batch(1, 1)).sums.of(S, ENTRIES_LOST) == 1


def test_what_tasks_have_told_belongs_to_its_batch_even_if_the_next_one_runs() -> None:
    collected = Collected()
    seen = Seen(collected)
    collected.merge({("q", 0): told(BAD_VALUES, 1), ("q", 1): told(BAD_VALUES, 10)})
    collected.merge({("q", 0): told(ROWS_WRITTEN, 4, "out")})
    first, second = seen.batch(batch(0)), seen.batch(batch(1))
    assert [each.sums.total(BAD_VALUES) for each in (first, second)] == [1, 10]
    assert [line[:22] for line in first.lines()] == [
        "batch 0  s  +1 (1/s)  ",
        "batch 0  sink  +4 rows",
    ]
    assert "bad 1" in first.lines()[0]
    assert len(second.lines()) == 1


def test_of_many_streams_those_furthest_behind_have_a_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(seen_module, "MOST_LINES", 2)
    names = "abcde"
    start = offset(**{s: position("1-0", 0) for s in names})
    end = offset(**{s: position("2-0", 3) for s in names})
    latest = offset(**{s: position("9-0", 3 + n) for n, s in enumerate(names)})
    found = Seen().batch(report(start, end, latest))
    first, second, others = found.lines()
    assert first.startswith("batch 17  e  +3 ")
    assert second.startswith("batch 17  d  +3 ")
    assert others == "batch 17  3 other streams  +9  lag 3"
    assert len(list(found.progress())) == 5  # programs get them all


def test_names_cannot_end_a_line() -> None:
    start, end = offset(**{"a\nb": position("1-0", 0)}), offset(**{"a\nb": position("2-0", 3)})
    (line,) = Seen().batch(report(start, end, end)).lines()
    assert line.startswith("batch 17  a\\nb  +3 ")
