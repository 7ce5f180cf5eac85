"""What planning and reading count: by server and stream. A second, with both servers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import redis
from pyspark.sql.streaming.datasource import ReadMaxRows
from pyspark.sql.types import StructType

from pyspark_penstock.entry_id import FIRST, EntryId
from pyspark_penstock.figures import (
    BAD_VALUES,
    BYTES_READ,
    ENTRIES_LOST,
    ENTRIES_REDELIVERED,
    OTHERS,
    PLAN_MS,
    READ_MS,
    ROWS_DROPPED,
    Sums,
)
from pyspark_penstock.read.columns import BAD_ROWS_LEAVE, DROPMALFORMED, BatchBuilder, Origin
from pyspark_penstock.read.entry_reader import read_bundle
from pyspark_penstock.read.page import MixedPage
from pyspark_penstock.read.plan import Bundle, Range
from pyspark_penstock.read.source_options import stream_options
from pyspark_penstock.read.stream_reader import PenstockStreamReader
from pyspark_penstock.schema import columns_of
from tests.spark.shared.group import GROUP, leave_pending, reader_from, rival_reads

SCHEMA = StructType().add("i", "long", nullable=False)


def of(sums: Sums, name: str) -> dict[Any, float]:
    """One sum by place."""
    return {place: value for place, known, value in sums if known == name}


def page(*values: bytes | None) -> MixedPage:
    """Entries 1-0, 2-0 ... with a value each, or none."""
    entries = [[b"%d-0" % n, [b"i", v] if v else [b"x", b"y"]] for n, v in enumerate(values, 1)]
    return MixedPage(entries, 1)


def test_bad_values_and_dropped_rows_are_counted_by_stream() -> None:
    sums = Sums()
    builder = BatchBuilder("", columns_of(SCHEMA), BAD_ROWS_LEAVE, server="h:1", sums=sums)
    origins = [Origin("a", 2), Origin("none", 0), Origin("b", 1), Origin("c", 3)]
    rows = builder.batch(page(b"1", b"x", b"2", b"x", None, b"3"), origins)
    assert rows.num_rows == 3
    assert of(sums, BAD_VALUES) == {("h:1", "a"): 1, ("h:1", "c"): 2}
    assert of(sums, ROWS_DROPPED) == {("h:1", "a"): 1, ("h:1", "c"): 2}


@pytest.mark.parametrize(("mode", "dropped"), [("PERMISSIVE", {}), (DROPMALFORMED, {("", "s"): 2})])
def test_a_row_that_is_kept_is_not_dropped(mode: str, dropped: dict[Any, int]) -> None:
    sums = Sums()
    schema = StructType().add("i", "long")
    builder = BatchBuilder("s", columns_of(schema), mode, sums=sums)
    builder.batch(page(b"1", b"x", b"y"))
    assert of(sums, BAD_VALUES) == {("", "s"): 2}
    assert of(sums, ROWS_DROPPED) == dropped


def test_a_task_counts_bytes_time_and_lost_entries_by_stream(
    client: redis.Redis, at: dict[str, str]
) -> None:
    for i in range(20):
        client.xadd("large", {"i": i}, id=f"{i + 1}-0")
    for stream in ("a", "b"):
        client.xadd(stream, {"i": 1}, id="1-0")
    client.xdel("b", "1-0")
    ranges = (
        Range("large", FIRST, EntryId(20, 0), 20),
        Range("a", FIRST, EntryId(1, 0), 1),
        Range("b", FIRST, EntryId(1, 0), 1),
    )
    given = {"subscribe": "large,a,b", "fetchSize": "7", "failOnDataLoss": "false"}
    sums = Sums()
    task = read_bundle(Bundle("", ranges), columns_of(SCHEMA), stream_options(at | given), sums)
    assert sum(batch.num_rows for batch in task) == 21
    bytes_read = of(sums, BYTES_READ)
    assert bytes_read["", "large"] > 20 * len(b"*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\ni\r\n$1\r\n0\r\n")
    assert bytes_read["", "a"] == len("i1")  # small ranges come many at once: their texts count
    assert of(sums, ENTRIES_LOST) == {("", "b"): 1}
    assert sums.of(("", OTHERS), READ_MS) > 0


def test_time_that_spark_takes_over_a_batch_is_not_reading(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    client.xadd("s", {"i": 1}, id="1-0")
    sums = Sums()
    options = stream_options(at | {"subscribe": "s"})
    task = Bundle("", (Range("s", FIRST, EntryId(1, 0), 1),))
    for _ in read_bundle(task, columns_of(SCHEMA), options, sums):
        now[0] += 1_000
    assert of(sums, READ_MS) == {}


def planned(reader: Any) -> Sums:
    """What the planner has told Spark."""
    return Sums.from_json(reader.reportLatestOffset()["figures"])


def test_the_planner_counts_its_time_and_each_loss_once(
    client: redis.Redis, at: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """Regression: as many entries lost again, at a later position, went without a warning."""

    def add_and_trim(first: int) -> None:
        for i in range(first, first + 10):
            client.xadd("s", {"i": i}, id=f"{i}-0")
        client.xtrim("s", maxlen=6, approximate=False)

    given = {"subscribe": "s", "startingOffsets": "earliest", "failOnDataLoss": "false"}
    client.xadd("s", {"i": 0}, id="1-0")
    reader = PenstockStreamReader(stream_options(at | given), SCHEMA)
    offset = reader.latestOffset(reader.initialOffset(), ReadMaxRows(100))
    for first in (10, 20):
        add_and_trim(first)
        looked = offset
        for _ in range(2):  # Spark asks again, as after an idle trigger
            offset = reader.latestOffset(looked, ReadMaxRows(100))
    assert of(planned(reader), ENTRIES_LOST) == {("", "s"): 8}
    assert caplog.messages == ["stream 's': 4 entries were lost unread"] * 2
    assert planned(reader).of(("", OTHERS), PLAN_MS) > 0
    reader.stop()


def test_entries_taken_over_from_others_are_redelivered(
    client: redis.Redis, at: dict[str, str]
) -> None:
    for i in range(1, 6):
        client.xadd("s", {"i": i}, id=f"{i}-0")
    client.xgroup_create("s", GROUP, "0")
    rival_reads(client, 2)
    leave_pending(client, 1, 2)
    reader = reader_from(at, {})
    end = reader.latestOffset(reader.initialOffset(), ReadMaxRows(100))
    assert end["claims"]["s"]["entries"] == 5
    assert of(planned(reader), ENTRIES_REDELIVERED) == {("", "s"): 2}
    assert planned(reader).of(("", OTHERS), PLAN_MS) > 0
    assert reader.reportLatestOffset()["lag"] == {"s": 0}  # type: ignore[index]
    reader.stop()


def test_marks_are_counted_as_numpy_does() -> None:
    """A page of many streams, each with its own number of bad rows."""
    sums = Sums()
    builder = BatchBuilder("", columns_of(StructType().add("i", "long")), "PERMISSIVE", sums=sums)
    rng = np.random.default_rng(1)
    sizes = rng.integers(0, 4, 50).tolist()
    bad = rng.random(sum(sizes)) < 0.5
    origins = [Origin(f"s{n}", size) for n, size in enumerate(sizes)]
    builder.batch(page(*(b"x" if each else b"1" for each in bad)), origins)
    expected: dict[Any, int] = {}
    rows = iter(bad.tolist())
    for origin in origins:
        count = sum(next(rows) for _ in range(origin.rows))
        if count:
            expected["", origin.stream] = count
    assert of(sums, BAD_VALUES) == expected
