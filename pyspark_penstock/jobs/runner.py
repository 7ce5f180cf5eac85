"""Runs streaming queries: reports each batch, and stops between two batches when asked to.

Spark tells a source that batch N is committed only when it plans N+1. So work that depends on a
commit, such as moving a group or a trim, is done by the caller, after each batch and at the end.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from pyspark_penstock.jobs.failures import refusal_of
from pyspark_penstock.jobs.progress import Report

POLL_S = 0.25
STOP_TIMEOUT_S = 30.0  # how long a running batch may take to finish


class StopSignal:
    """Remembers that the program was asked to stop."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    @property
    def asked(self) -> bool:
        """Whether it was asked."""
        return self._asked.is_set()

    def ask(self, *_: int | FrameType | None) -> None:
        """Ask it to stop after the running batch."""
        self._asked.set()

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Ask on SIGINT and SIGTERM.

        Enter this after Spark has started: it sets handlers of its own.
        """
        wanted = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.ask) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run_query(
    query: StreamingQuery, after_batch: Callable[[Report], None], stop: StopSignal
) -> None:
    """Wait until *query* ends, or stop it when asked; call *after_batch* with each batch's report.

    If the query has failed, raises the error that ``refusal_of`` makes of it, also after a stop.
    """
    reports = Reports(query)
    try:
        while not query.awaitTermination(POLL_S):  # type: ignore[arg-type]
            deliver(reports, after_batch)
            if stop.asked:
                finish_batch(query)
                if query.isActive:  # otherwise the next poll raises its error
                    break
        deliver(reports, after_batch)
    except StreamingQueryException as problem:
        deliver(reports, after_batch)
        raise refusal_of(problem) from problem
    finally:
        query.stop()


class Reports:
    """The progress reports of a query, each once."""

    def __init__(self, query: StreamingQuery) -> None:
        self._query = query
        self._last = ""

    def take(self) -> list[dict[str, Any]]:
        """The reports since the last call."""
        recent = [json.loads(report.json) for report in self._query.recentProgress]
        new = [report for report in recent if report["timestamp"] > self._last]
        if new:
            self._last = new[-1]["timestamp"]
        return new


def deliver(reports: Reports, after_batch: Callable[[Report], None]) -> None:
    """Pass on new reports."""
    for report in reports.take():
        after_batch(report)


def finish_batch(query: StreamingQuery) -> None:
    """Wait for the running batch, up to STOP_TIMEOUT_S.

    A batch that is cut off runs again at the next start.
    """
    deadline = time.monotonic() + STOP_TIMEOUT_S
    seen = query.lastProgress
    while query.isActive and query.status["isTriggerActive"] and time.monotonic() < deadline:
        if query.lastProgress != seen:
            return
        time.sleep(POLL_S / 5)
