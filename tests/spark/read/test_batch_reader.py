"""Batch reads: how entries are divided into tasks, and entries trimmed during the read."""

from __future__ import annotations

from itertools import pairwise

import pytest
import redis
from pyspark.sql.types import StructType

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.read import batch_reader, plan
from pyspark_penstock.read.batch_reader import PenstockReader
from pyspark_penstock.read.plan import Range
from pyspark_penstock.read.scan import Scan
from pyspark_penstock.read.source_options import batch_options

SCHEMA = StructType().add("i", "long")


def fill(client: redis.Redis, count: int) -> None:
    for i in range(1, count + 1):
        client.xadd("s", {"i": i}, id=f"{i}-0")


def reader_of(at: dict[str, str], **options: str) -> PenstockReader:
    return PenstockReader(batch_options(at | {"subscribe": "s"} | options), SCHEMA)


def tasks(at: dict[str, str], **options: str) -> list[Range]:
    partitions = reader_of(at, **options).partitions()
    return [task for partition in partitions for task in partition.value.ranges]


@pytest.mark.parametrize(
    ("most", "ends"), [("10", [10, 20]), ("7", [7, 14, 20]), ("20", [20]), ("30", [20])]
)
def test_records_of_a_task_are_limited(
    client: redis.Redis, at: dict[str, str], most: str, ends: list[int]
) -> None:
    fill(client, 20)
    found = tasks(at, maxRecordsPerPartition=most)
    assert [task.upto for task in found] == [EntryId(end, 0) for end in ends]
    assert [task.expected for task in found] == [b - a for a, b in pairwise([0, *ends])]


def test_planning_reads_pages_of_fetch_size(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entries can be large, and then a large page is too much for driver and server."""
    sizes: list[int] = []
    original = Scan

    def scan(*words: object, wait: bool) -> object:
        sizes.append(int(str(words[-1])))
        return original(*words, wait=wait)  # type: ignore[arg-type]

    monkeypatch.setattr(batch_reader, "Scan", scan)
    fill(client, 20)
    tasks(at, maxRecordsPerPartition="10", fetchSize="3")
    assert sizes == [3]


def test_a_missing_stream_is_read_as_empty_with_a_warning(
    client: redis.Redis, at: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    fill(client, 1)
    assert [task.stream for task in tasks(at, subscribe="s,nope")] == ["s"]
    assert caplog.messages == ["there is no stream 'nope': it is read as an empty one"]


@pytest.mark.parametrize(
    ("options", "warnings"),
    [
        ({}, ["12 entries were trimmed or deleted since this read was planned"] * 2),
        ({"maxRecordsPerPartition": "10"}, ["10 of 10 entries after", "2 of 10 entries after"]),
        ({"failOnDataLoss": "false"}, []),
    ],
    ids=["split by time", "counted", "not checked"],
)
def test_a_batch_read_trimmed_meanwhile_returns_the_rest_with_warnings(
    client: redis.Redis,
    at: dict[str, str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, str],
    warnings: list[str],
) -> None:
    monkeypatch.setattr(plan, "SMALL", 10)
    fill(client, 25)
    client.xtrim("s", maxlen=20, approximate=False)
    reader = reader_of(at, minPartitions="2", **options)
    parts_read = [part for part in reader.partitions() for _ in reader.read(part)]
    assert (len(parts_read), caplog.messages) == (2, [])
    client.flushall()
    fill(client, 20)
    reader = reader_of(at, minPartitions="2", **options)
    planned = reader.partitions()
    assert [p.value for p in reader.partitions()] == [p.value for p in planned]
    client.xtrim("s", maxlen=8, approximate=False)
    rows = [n for part in planned for b in reader.read(part) for n in b.column("i").to_pylist()]
    assert rows == list(range(13, 21))
    assert len(caplog.messages) == len(warnings)
    assert all(warning in text for warning, text in zip(warnings, caplog.messages, strict=True))
