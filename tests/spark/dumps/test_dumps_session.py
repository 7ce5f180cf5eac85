"""Dumps through Spark: the program of docs/dumps.md."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import redis

from tests.spark.documented import DUMPS, block

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_documented_program_reads_dumps(
    spark: SparkSession, client: redis.Redis, tmp_path: Path
) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    for shard in ("a", "b"):
        client.xadd("orders", {"item": f"tea {shard}", "count": 3}, id="5-1")
        client.set("name", shard)
        client.save()
        settings: Any = client.config_get("dir")
        shutil.copy(Path(settings["dir"]) / "dump.rdb", folder / f"{shard}.rdb")
        client.flushall()
    program = block(DUMPS, "history = spark.read").replace('"dumps', f'"{folder}')
    names: dict[str, Any] = {"spark": spark}
    exec(program, names)
    assert sorted(map(tuple, names["typed"].collect())) == [
        (str(folder / f"{shard}.rdb"), "5-1", f"tea {shard}", 3) for shard in ("a", "b")
    ]
    assert names["history"].where("stream = 'orders'").count() == 2
    assert {(r.key, r.value) for r in names["keys"].where("type = 'string'").collect()} == {
        ("name", '"a"'), ("name", '"b"'),
    }  # fmt: skip
