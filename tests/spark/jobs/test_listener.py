"""The listener's figures and lines; reports without a JVM, and one query with Spark."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import redis
from prometheus_client.parser import text_string_to_metric_families

from pyspark_penstock import figures
from pyspark_penstock.collector import Collected
from pyspark_penstock.figures import BAD_VALUES, READ_MS, ROWS_WRITTEN, Sums
from pyspark_penstock.jobs import metrics_page
from pyspark_penstock.jobs.listener import PenstockListener
from pyspark_penstock.jobs.seen import Seen
from pyspark_penstock.source import PenstockDataSource
from tests.polling import until
from tests.spark.documented import ROOT, WATCHING, block
from tests.spark.jobs.test_progress import offset, position, report

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Watched(PenstockListener):
    """A listener whose lines are kept, and which is told of tasks' figures by *collected*."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.collected = Collected()
        super().__init__(port=0, write=self.lines.append)
        self._seen = Seen(self.collected)


@pytest.fixture
def listener() -> Iterator[Watched]:
    made = Watched()
    yield made
    made.close()


def page_of(listener: PenstockListener) -> dict[tuple[str, ...], float]:
    """The samples of the page, by name and labels' values."""
    with urllib.request.urlopen(f"http://127.0.0.1:{listener.port}/metrics") as answer:
        text = answer.read().decode()
    return {
        (sample.name.removeprefix("penstock_query_"), *labels_of(sample)): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def labels_of(sample: Any) -> list[str]:
    """The values of a sample's labels, in the order of the documented ones."""
    order = ("query", "server", "stream", "phase", "work", "observation", "name")
    return [sample.labels[name] for name in order if name in sample.labels]


def tell(listener: PenstockListener, found: dict[str, Any], **more: Any) -> None:
    """A batch has ended."""
    progress = SimpleNamespace(json=json.dumps({"id": "q1", "name": "totals", **found, **more}))
    listener.onQueryProgress(SimpleNamespace(progress=progress))


def test_batches_are_summed_and_lag_is_the_newest(listener: Watched) -> None:
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
    assert page["stream_lag", "totals", "", "a"] == 0
    assert page["stream_lag", "totals", "", "b"] == 40  # though it was not read
    assert page["lag", "totals"] == 40
    assert page["observed_total", "totals", "quality", "bad"] == 2
    assert page["seconds_total", "totals", "run"] == pytest.approx(1.228)
    assert [line[:16] for line in listener.lines] == ["batch 17  a  +2 ", "batch 17  a  +1 "]
    listener.onQueryTerminated(SimpleNamespace(id="q1"))
    assert page_of(listener) == {}


def test_only_the_largest_lags_have_a_series_and_the_others_one_together(
    listener: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten thousand streams must not become ten thousand series of somebody's Prometheus."""
    monkeypatch.setattr(metrics_page, "MOST_STREAMS", 2)
    monkeypatch.setattr(figures, "MOST_STREAMS", 2)
    start = {name: position("1-0", 1) for name in "abc"}
    latest = {name: position("9-0", 1 + n) for n, name in enumerate("abc", 1)}
    tell(listener, report(offset(**start), offset(**start), offset(**latest)))
    page = page_of(listener)
    lags = {key[-1]: value for key, value in page.items() if key[0] == "stream_lag"}
    assert lags == {"c": 3, "b": 2, "": 1}
    assert page["lag", "totals"] == 6
    end = {name: position("2-0", 1 + n) for n, name in enumerate("abc", 1)}
    tell(listener, report(offset(**start), offset(**end), offset(**latest)))
    page = page_of(listener)
    read = {key[-1]: value for key, value in page.items() if key[0] == "stream_entries_read_total"}
    assert read == {"a": 1, "b": 2, "": 3}  # counters stay with the streams that came first


def test_series_have_server_and_stream(listener: Watched) -> None:
    def fleet(n: int, **more: Any) -> dict[str, Any]:
        servers = {name: {"streams": {"s": position("9-3", n)}} for name in ("a:1", "b:2")}
        return {"source": {"servers": ["a:1", "b:2"]}, "servers": servers} | more

    planned = {"a:1": {"s": {"entries_lost": 4}, "": {"plan_ms": 12}}, "b:2": {"": {"plan_ms": 8}}}
    listener.collected.merge({("q1", 17): task_sums()})
    tell(listener, report(fleet(3), fleet(5), fleet(6, figures=planned)))
    page = page_of(listener)
    assert page["stream_lag", "totals", "b:2", "s"] == 1
    assert page["stream_entries_read_total", "totals", "a:1", "s"] == 2
    assert page["stream_entries_lost_total", "totals", "a:1", "s"] == 4
    assert page["stream_bad_values_total", "totals", "b:2", "s"] == 3
    assert page["stream_rows_written_total", "totals", "", "out"] == 7
    assert page["rows_written_total", "totals"] == 7
    assert page["work_seconds_total", "totals", "a:1", "plan"] == 0.012
    assert page["work_seconds_total", "totals", "b:2", "read"] == 0.25


def task_sums() -> Sums:
    """What tasks and a sink have told."""
    sums = Sums()
    sums.add(("b:2", "s"), BAD_VALUES, 3)
    sums.add(("b:2", ""), READ_MS, 250)
    sums.add(("", "out"), ROWS_WRITTEN, 7)
    return sums


def test_names_that_are_the_same_as_utf_8_have_one_series(listener: Watched) -> None:
    """Prometheus refuses a page on which a series stands twice."""
    names = [name.decode("utf-8", "surrogateescape") for name in (b"caf\xe9", b"caf\xe8")]
    start = offset(**{name: position("1-0", 1) for name in names})
    end = offset(**{name: position("2-0", 3) for name in names})
    tell(listener, report(start, end, end))
    assert page_of(listener)["stream_entries_read_total", "totals", "", "caf\ufffd"] == 4


def test_each_documented_series_is_on_the_page_and_no_other(listener: Watched) -> None:
    sums = Sums()
    for name in (*metrics_page.BY_STREAM, *metrics_page.WORK):
        sums.add(("", "s"), name, 1)
    listener.collected.merge({("q1", 17): sums})
    more = {"sink": {"numOutputRows": 2}, "observedMetrics": {"quality": {"bad": 1}}}
    start, end = offset(s=position("1-0", 1)), offset(s=position("2-0", 3))
    tell(listener, report(start, end, end), **more)
    documented = re.findall(
        r"^\| `(penstock_\w+)` \|", (ROOT / WATCHING).read_text("utf-8"), re.MULTILINE
    )
    found = {key[0] for key in page_of(listener)}
    assert found == {name.removeprefix("penstock_query_") for name in documented}


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
        until(lambda: lines[1:] or None, "two lines")
        assert "orders  +5 " in lines[0]
        assert "  bad 1  " in lines[0]
        assert lines[1].startswith("batch 0  sink  +5 rows  ")
        page = page_of(listener)
        assert page["observed_total", "seen", "quality", "bad"] == 1
        assert page["entries_read_total", "seen"] == 5
        assert page["rows_written_total", "seen"] == 5
        assert page["stream_bad_values_total", "seen", "", "orders"] == 1
        assert page["stream_bytes_read_total", "seen", "", "orders"] > 5 * len("itemtea")
        assert page["stream_rows_written_total", "seen", "", "copy"] == 5
        assert page["stream_bytes_written_total", "seen", "", "copy"] > 5 * len("itemtea")
        works = {key[-1] for key in page if key[0] == "work_seconds_total"}
        assert works == {"plan", "read", "write"}
    finally:
        spark.streams.removeListener(listener)
        spark.dataSource.register(PenstockDataSource)
        listener.close()
