"""bench/spark_tuples.py, the yardstick of ``make bench-spark``: it reads what the source reads."""

from __future__ import annotations

import redis
from pyspark.sql.types import StructType

from bench.spark_tuples import TupleReader
from pyspark_penstock.read.source_options import batch_options

SCHEMA = StructType().add("device", "string").add("seq", "long").add("ok", "boolean")


def test_the_yardstick_reads_all_ranges_of_all_tasks(
    client: redis.Redis, at: dict[str, str]
) -> None:
    """Tasks had one range each when it was written: it failed, and so did the whole benchmark."""
    for i in range(25):
        client.xadd("a", {"device": f"d{i}", "seq": i, "ok": "true"})
    client.xadd("b", {"device": "x", "seq": 99, "ok": "false"})
    options = batch_options(at | {"subscribe": "a,b", "maxRecordsPerPartition": "10"})
    reader = TupleReader(options, SCHEMA)
    rows = [row for part in reader.partitions() for row in reader.read(part)]
    assert sorted(rows) == sorted([*((f"d{i}", i, True) for i in range(25)), ("x", 99, False)])
