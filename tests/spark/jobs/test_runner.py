"""run_query, with a fake query: how it ends and stops a query."""

from __future__ import annotations

from typing import Any, cast

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from pyspark_penstock.errors import DataLossError
from pyspark_penstock.jobs.runner import StopSignal, run_query

LOSS = "DataLossError: 5 entries after 3-0 were trimmed"


class Query:
    """A fake query.

    It is active for *looks* polls, and then fails with *failure* if that is given.
    """

    recentProgress = ()  # noqa: N815  (Spark's names)
    lastProgress = None  # noqa: N815
    status: dict[str, Any] = {"isTriggerActive": True}  # noqa: RUF012

    def __init__(self, looks: int, failure: str = "") -> None:
        self.looks = looks
        self.failure = failure
        self.stopped = False

    @property
    def isActive(self) -> bool:  # noqa: N802
        self.looks -= 1
        return self.looks > 0

    def awaitTermination(self, _: float) -> bool:  # noqa: N802
        if self.looks <= 0 and self.failure:
            raise StreamingQueryException(self.failure)
        return self.looks <= 0

    def stop(self) -> None:
        self.stopped = True


@pytest.fixture
def stop() -> StopSignal:
    asked = StopSignal()
    asked.ask()
    return asked


def run(query: Query, stop: StopSignal) -> None:
    run_query(cast("StreamingQuery", query), lambda _: None, stop)


def test_a_batch_that_fails_after_the_signal_is_a_failure(stop: StopSignal) -> None:
    query = Query(3, LOSS)
    with pytest.raises(DataLossError, match="5 entries after 3-0"):
        run(query, stop)
    assert query.stopped


def test_a_query_that_ends_after_the_signal_is_not_a_failure(stop: StopSignal) -> None:
    query = Query(3)
    run(query, stop)
    assert query.stopped


def test_a_batch_that_takes_too_long_is_stopped(
    stop: StopSignal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyspark_penstock.jobs.runner.STOP_TIMEOUT_S", 0.1)
    query = Query(1_000_000, LOSS)
    run(query, stop)
    assert query.stopped
