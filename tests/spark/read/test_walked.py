"""Planned once: what walks along a stream have found is kept for the batches that follow."""

from __future__ import annotations

import redis
from pyspark.sql.streaming.datasource import ReadMaxRows
from pyspark.sql.types import StructType

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.read.positions import Cut, Position
from pyspark_penstock.read.source_options import stream_options
from pyspark_penstock.read.stream_reader import PenstockStreamReader
from pyspark_penstock.read.walked import Walked

SCHEMA = StructType().add("i", "long")


def test_a_backfill_from_inside_a_stream_walks_once(
    client: redis.Redis, at: dict[str, str]
) -> None:
    """The start needs a count of all that follows; the batches end where that walk has been."""
    pipeline = client.pipeline(transaction=False)
    for i in range(1, 101):
        pipeline.xadd("s", {"i": i}, id=f"{i}-0")
    pipeline.execute()
    given = at | {"subscribe": "s", "startingOffsets": "21-0", "fetchSize": "10"}
    reader = PenstockStreamReader(stream_options(given), SCHEMA)
    offset = reader.initialOffset()
    client.config_resetstat()
    ends = []
    for _ in range(4):
        offset = reader.latestOffset(offset, ReadMaxRows(20))
        ends.append(offset["streams"]["s"]["id"])
    assert ends == ["40-0", "60-0", "80-0", "100-0"]
    assert "cmdstat_xrange" not in client.info("commandstats")
    reader.stop()


def test_marks_hold_until_the_stream_loses_something() -> None:
    walked, begin = Walked(), Position(EntryId(1, 0), 10)
    walked.learn("s", begin, [Cut(EntryId(n, 0), n) for n in (5, 9, 14)], removed=0)
    assert walked.ahead("s", begin, 10, 0) == [Cut(EntryId(5, 0), 5), Cut(EntryId(9, 0), 9)]
    after = Position(EntryId(9, 0), 19)
    walked.passed("s", after)
    assert walked.ahead("s", after, 10, 0) == [Cut(EntryId(14, 0), 5)]
    assert walked.ahead("s", after, 10, 1) == []
    assert walked.ahead("s", after, 10, 0) == []
