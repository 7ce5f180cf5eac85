"""The listener's figures and lines; reports without a JVM, and one query with Spark."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import redis
from prometheus_client.parser import text_string_to_metric_families

from pyspark_penstock.jobs import listener as listener_module
from pyspark_penstock.jobs.listener import PenstockListener
from tests.polling import until
from tests.spark.documented import WATCHING, block
from tests.spark.jobs.test_progress import offset, position, report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def listener() -> Iterator[PenstockListener]:
    lines: list[str] = []
    made = PenstockListener(port=0, write=lines.append)
    made.lines = lines  # type: ignore[attr-defined]
    yield made
    made.close()


def page_of(listener: PenstockListener) -> dict[tuple[str, ...], float]:
    """The samples of the page, by name and labels' values."""
    with urllib.request.urlopen(f"http://127.0.0.1:{listener.port}/metrics") as answer:
        text = answer.read().decode()
    return {
        (sample.name.removeprefix("penstock_query_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def tell(listener: PenstockListener, found: dict[str, Any], **more: Any) -> None:
    """A batch has ended."""
    progress = SimpleNamespace(json=json.dumps({"id": "q1", "name": "totals", **found, **more}))
    listener.onQueryProgress(SimpleNamespace(progress=progress))


def test_batches_are_summed_and_lag_is_the_newest(listener: PenstockListener) -> None:
    a, b = position("1-0", 5), position("1-0", 5)
    start, middle = offset(a=a, b=b), offset(a=position("2-0", 7), b=b)
    more = {"sink": {"numOutputRows": 2}, "observedMetrics": {"quality": {"bad": 1, "x": "text"}}}
    tell(listener, report(start, middle, offset(a=position("9-0", 17), b=b)), **more)
    latest = offset(a=position("9-0", 8), b=position("9-0", 45))
    tell(listener, report(middle, offset(a=position("3-0", 8), b=b), latest), **more)
    page = page_of(listener)
    assert page["batches_total", "totals"] == 2
    assert page["entries_read_total", "totals"] == 3
    assert page["rows_written_total", "totals"] == 4
    assert page["stream_lag", "totals", "a"] == 0
    assert page["stream_lag", "totals", "b"] == 40  # though it was not read
    assert page["lag", "totals"] == 40
    assert page["observed_total", "bad", "quality", "totals"] == 2
    assert page["seconds_total", "run", "totals"] == pytest.approx(1.228)
    assert [line[:16] for line in listener.lines] == ["batch 17  a  +2 ", "batch 17  a  +1 "]  # type: ignore[attr-defined]
    listener.onQueryTerminated(SimpleNamespace(id="q1"))
    assert page_of(listener) == {}


def test_only_the_largest_lags_have_a_series(
    listener: PenstockListener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten thousand streams must not become ten thousand series of somebody's Prometheus."""
    monkeypatch.setattr(listener_module, "MOST_STREAMS", 2)
    start = {name: position("1-0", 1) for name in "abc"}
    latest = {name: position("9-0", 1 + n) for n, name in enumerate("abc", 1)}
    tell(listener, report(offset(**start), offset(**start), offset(**latest)))
    page = page_of(listener)
    assert {key[-1] for key in page if key[0] == "stream_lag"} == {"b", "c"}
    assert page["lag", "totals"] == 6


def test_a_query_is_seen_as_spark_tells_of_it(
    spark: SparkSession,
    client: redis.Redis,
    at: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pyspark.sql import functions as f  # noqa: PLC0415

    for i in range(5):
        client.xadd("orders", {"count": "bad" if i == 3 else i, "item": "tea"})
    entries = (
        spark.readStream.format("penstock")
        .options(**at, subscribe="orders", startingOffsets="earliest")
        .schema("count int, item string")
        .load()
        .observe("quality", f.count_if(f.col("count").isNull()).alias("bad"))
    )
    lines: list[str] = []
    names: dict[str, Any] = {"spark": spark, "print": lines.append}
    exec(block(WATCHING, "from pyspark_penstock").replace("9464", "0"), names)
    listener = names["listener"]
    monkeypatch.setattr(listener.figures, "forget", lambda _: None)
    try:
        query = (
            entries.writeStream.format("penstock")
            .options(**at, stream="copy", checkpointLocation=str(tmp_path))
            .queryName("seen")
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        until(lambda: lines or None, "a line")
        assert "orders  +5 " in lines[0]
        page = page_of(listener)
        assert page["observed_total", "bad", "quality", "seen"] == 1
        assert page["entries_read_total", "seen"] == 5
    finally:
        spark.streams.removeListener(listener)
        listener.close()
