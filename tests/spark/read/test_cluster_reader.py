"""Reading a cluster: a part of the streams at each node, and one source to who reads."""

from __future__ import annotations

import json

import pytest
from pyspark.sql.streaming.datasource import ReadMaxRows
from pyspark.sql.types import StructType

from pyspark_penstock.connect.slots import key_slot
from pyspark_penstock.read import server_part
from pyspark_penstock.read.source_options import stream_options
from pyspark_penstock.read.stream_reader import PenstockStreamReader
from tests.spark.clustered import Cluster

SCHEMA = StructType().add("i", "long").add("_stream", "string")


def add(cluster: Cluster, stream: str, value: int) -> None:
    cluster.owner(key_slot(stream.encode())).ask("XADD", stream, "*", "i", value)


@pytest.mark.parametrize("many", [1, 1_000])
def test_streams_of_all_nodes_are_found_planned_and_read(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    """Also where a look asks for news first, which a cluster cannot say of several slots."""
    monkeypatch.setattr(server_part, "MANY", many)
    names = [f"m{n}" for n in range(20)]
    for n, name in enumerate(names):
        add(cluster, name, n)
    given = cluster.at | {"subscribePattern": "m*", "startingOffsets": "earliest"}
    reader = PenstockStreamReader(stream_options(given), SCHEMA)
    start = reader.initialOffset()
    end = json.loads(json.dumps(reader.latestOffset(start, ReadMaxRows(100))))
    rows = [
        (row["_stream"], row["i"])
        for partition in reader.partitions(start, end)
        for batch in reader.read(partition)
        for row in batch.to_pylist()
    ]
    assert sorted(rows) == sorted(zip(names, range(20), strict=True))
    assert reader.latestOffset(end, ReadMaxRows(100)) == end
    add(cluster, "m7", 100)
    cluster.move(key_slot(b"m7"))
    after = reader.latestOffset(end, ReadMaxRows(100))
    assert after["streams"]["m7"]["n"] == 2
    (task,) = reader.partitions(end, after)
    assert [b.column("i").to_pylist() for b in reader.read(task)] == [[100]]
    reader.stop()
