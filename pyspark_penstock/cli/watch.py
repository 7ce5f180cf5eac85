"""What is said of each batch of a job: lines, and figures for Prometheus."""

from __future__ import annotations

import argparse
from types import TracebackType
from typing import Self

from pyspark.sql import SparkSession

from pyspark_penstock.cli.output import Output
from pyspark_penstock.jobs.failures import UsageError
from pyspark_penstock.jobs.metrics_page import MetricsPage
from pyspark_penstock.jobs.progress import Report, StreamProgress
from pyspark_penstock.jobs.query_figures import Figures
from pyspark_penstock.jobs.seen import Seen, collect


class Watch:
    """Says what is seen of each batch. Raises UsageError if the port is taken."""

    def __init__(self, given: argparse.Namespace, output: Output) -> None:
        self._output = output
        self._figures = Figures()
        self._seen = Seen()
        self._page = None
        if given.metrics_port is not None:
            try:
                self._page = MetricsPage(self._figures, given.metrics_port)
            except OSError as problem:
                raise UsageError(f"--metrics-port {given.metrics_port}: {problem}") from None
            port = self._page.port
            output.note(f"figures are at http://127.0.0.1:{port}/metrics")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        if self._page is not None:
            self._page.close()

    def begin(self, spark: SparkSession) -> None:
        """Count what tasks of the session's queries do, before any is started."""
        self._seen = Seen(collect(spark))

    def after_batch(self, report: Report) -> None:
        """A batch has ended."""
        batch = self._seen.batch(report)
        self._figures.add(batch)
        if not self._output.in_json:
            self._output.say(batch.lines())
            return
        for one in batch.progress():
            event = "batch" if isinstance(one, StreamProgress) else "sink"
            self._output.say([], {"event": event, **one.to_json()})
