"""Helpers for tests of shared groups: the reader, called as Spark calls it, and other consumers."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import redis
from pyspark.sql.streaming.datasource import ReadMaxRows
from pyspark.sql.types import StructType

from pyspark_penstock.read.source_options import stream_options
from pyspark_penstock.shared.group_reader import SharedStreamReader

SCHEMA = StructType().add("i", "long")
GROUP = "g"
STALE_MS = 1_000_000  # longer than any entry is pending in these tests

Json = dict[str, Any]
MakeReader = Callable[..., SharedStreamReader]


def reader_from(at: dict[str, str], options: dict[str, str]) -> SharedStreamReader:
    """A reader, by default of the stream ``s`` from its beginning."""
    given = {} if "subscribePattern" in options else {"subscribe": "s"}
    given |= {} if "startingTimestamp" in options else {"startingOffsets": "earliest"}
    given |= at | {"minPartitions": "1", "group": GROUP, "groupMode": "shared"}
    read = stream_options(given | options)
    assert read.sharing
    return SharedStreamReader(read, read.sharing, SCHEMA)


def add(client: redis.Redis, stream: str, *values: int) -> None:
    """Add entries whose ids are their values: 1-0, 2-0, ..."""
    for i in values:
        client.xadd(stream, {"i": i}, id=f"{i}-0")


def advance(reader: SharedStreamReader, start: Json, rows: int = 1_000) -> Json:
    return reader.latestOffset(start, ReadMaxRows(rows))


def first_batch(reader: SharedStreamReader, rows: int = 1_000) -> tuple[Json, Json]:
    start = reader.initialOffset()
    return start, advance(reader, start, rows)


def values(reader: SharedStreamReader, start: Json, end: Json) -> list[int]:
    """The values that the tasks of a batch read."""
    return [
        i
        for partition in reader.partitions(start, end)
        for batch in pickle.loads(pickle.dumps(reader)).read(partition)
        for i in batch.column("i").to_pylist()
    ]


def rival_reads(client: redis.Redis, count: int, stream: str = "s", name: str = "rival") -> None:
    client.xreadgroup(GROUP, name, {stream: ">"}, count)


def leave_pending(
    client: redis.Redis, *values: int, idle_ms: int = STALE_MS, name: str = "dead"
) -> None:
    """Make these entries pending for the consumer *name*, with an idle time."""
    client.xclaim("s", GROUP, name, 0, [f"{i}-0" for i in values], idle=idle_ms, force=True)


def pending(client: redis.Redis, stream: str = "s") -> list[int]:
    entries: Any = client.xpending_range(stream, GROUP, "-", "+", 1_000)
    return [int(entry["message_id"].split(b"-")[0]) for entry in entries]


def consumers(client: redis.Redis, stream: str = "s") -> list[bytes]:
    return [consumer["name"] for consumer in client.xinfo_consumers(stream, GROUP)]
