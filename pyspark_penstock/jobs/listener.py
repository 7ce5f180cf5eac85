"""A listener of streaming queries that writes a line a batch, and serves figures to Prometheus.

    spark.streams.addListener(PenstockListener(port=9464, spark=spark))

    Spark, after each batch --progress JSON--> Seen -> Figures --http, 127.0.0.1 only--> Prometheus
    tasks, the sink's commit --accumulator-----^  '--> lines, to *write*

What is exact: entries read and lag come from the offsets, which count entries; a batch that is
replayed after a crash is counted again. What tasks and the sink count (bytes, bad values, rows
written and so on) is known if *spark* is given: then queries that are started afterwards tell it.
What ``df.observe("quality", count_if(...).alias("bad"))`` counts is summed under its names.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

from pyspark_penstock.jobs.metrics_page import MetricsPage
from pyspark_penstock.jobs.query_figures import Figures
from pyspark_penstock.jobs.seen import Seen, collect


class PenstockListener(StreamingQueryListener):
    """See above. Without *port* nothing is served; 0 is any port. *write* is given each line."""

    def __init__(
        self,
        port: int | None = None,
        write: Callable[[str], None] | None = None,
        spark: SparkSession | None = None,
    ) -> None:
        self.figures = Figures()
        self._page = None if port is None else MetricsPage(self.figures, port)
        self.port = None if self._page is None else self._page.port
        self._write = write
        self._seen = Seen(None if spark is None else collect(spark))

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        """Nothing is known of it yet."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        """A batch has ended."""
        batch = self._seen.batch(json.loads(event.progress.json))
        self.figures.add(batch)
        if self._write is not None:
            for line in batch.lines():
                self._write(line)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """There was nothing to read."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        """A query has ended."""
        self.figures.forget(str(event.id))
        self._seen.forget(str(event.id))

    def close(self) -> None:
        """Serve no more."""
        if self._page is not None:
            self._page.close()
