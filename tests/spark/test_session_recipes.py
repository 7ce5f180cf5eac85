"""The recipes of the docs: tables, values and servers, as a user would copy them.

Each block runs as written, but for folders, addresses and the trigger.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastavro
import pytest
import redis
from deltalake import DeltaTable
from pyiceberg.catalog.sql import SqlCatalog

from pyspark_penstock.jobs import pipeline
from pyspark_penstock.jobs.job_file import read_job
from tests.compat.processes import ServerProcess, redis_tool
from tests.ports import free_port
from tests.spark.documented import RECIPES, block
from tests.spark.frames import Options, forget_commit, run
from tests.spark.marks import ONE_SERVER
from tests.spark.stored import xrange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# One server is enough: the tests of source and sink run with both.
pytestmark = ONE_SERVER


class Recipes:
    """Runs blocks of the page, one after the other, in one namespace."""

    def __init__(self, spark: SparkSession, at: Options, folder: Path) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__", "spark": spark}
        self.at = at
        self.folder = folder

    def text(self, found: str) -> str:
        """A block that reads from the test's server, and writes below the test's folder."""
        found = found.replace("/var/lib", str(self.folder))
        at = f'.option("port", "{self.at["port"]}")'
        found = found.replace('.format("penstock")', f'.format("penstock"){at}')
        return found.replace(".start()", ".trigger(availableNow=True).start()")

    def play(self, found: str) -> None:
        """Run a block, and the query that it starts to its end."""
        exec(self.text(found), self.names)
        if (query := self.names.pop("query", None)) is not None:
            query.awaitTermination()


@pytest.fixture
def recipes(spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path) -> Recipes:
    """The blocks, with a frame of two orders."""
    order(client, "pen", 2)
    order(client, "ink", 1)
    (tmp_path / "lake").mkdir()
    return Recipes(spark, at, tmp_path)


def order(client: redis.Redis, item: str, count: int) -> None:
    client.xadd("orders", {"item": item, "count": count})


def rows(table: Any) -> list[tuple[str, int]]:
    return sorted((row["item"], row["count"]) for row in table.to_pylist())


ONCE = [("cup", 30), ("ink", 1), ("pen", 2)]


def play_again_after_a_crash(recipes: Recipes, client: redis.Redis, table: str) -> None:
    """Run the recipe, and again after a crash: the first batch is replayed, and another comes."""
    recipes.play(block(RECIPES, "orders = (spark.readStream"))
    recipes.play(table)
    forget_commit(recipes.folder / "spark/orders-to-lake", 0)
    order(client, "cup", 30)
    recipes.play(table)


def test_a_replayed_batch_is_in_a_delta_table_once(
    recipes: Recipes, client: redis.Redis, tmp_path: Path
) -> None:
    play_again_after_a_crash(recipes, client, block(RECIPES, "from deltalake import"))
    table = DeltaTable(str(tmp_path / "lake/orders"))
    assert rows(table.to_pyarrow_table()) == ONCE
    assert table.transaction_version("orders-to-lake") == 1


def test_a_replayed_batch_is_in_an_iceberg_table_once(
    recipes: Recipes, client: redis.Redis, tmp_path: Path
) -> None:
    play_again_after_a_crash(recipes, client, block(RECIPES, "from pyiceberg"))
    catalog: SqlCatalog = recipes.names["catalog"]
    table = catalog.load_table("shop.orders")
    assert rows(table.scan().to_arrow()) == ONCE
    assert table.properties["orders-to-lake"] == "1"
    catalog.close()


def written(recipes: Recipes, client: redis.Redis, name: str, folder: Path) -> list[Any]:
    """The rows of a streaming frame of the page, written to a stream as JSON."""
    frame = recipes.names[name].selectExpr("to_json(struct(*)) AS row")
    run(frame, recipes.at, folder / "checkpoint")
    return [json.loads(fields[b"row"]) for _, fields in xrange(client, "out")]


def test_values_in_json(recipes: Recipes, client: redis.Redis, tmp_path: Path) -> None:
    client.xadd("events", {"body": '{"item": "pen", "count": 2, "tags": ["new"]}'}, id="1-0")
    client.xadd("events", {"body": "{"}, id="2-0")
    recipes.play(block(RECIPES, "from pyspark.sql.functions import from_json"))
    assert written(recipes, client, "parsed", tmp_path) == [
        {"_id": "1-0", "item": "pen", "count": 2, "tags": ["new"]},
        {"_id": "2-0"},
    ]


def test_values_in_avro(recipes: Recipes, client: redis.Redis, tmp_path: Path) -> None:
    recipes.play(block(RECIPES, "import io"))
    for item, count in (("pen", 2), ("ink", -1)):
        body = io.BytesIO()
        fastavro.schemaless_writer(body, recipes.names["schema"], {"item": item, "count": count})
        client.xadd("packed", {"body": body.getvalue()})
    assert written(recipes, client, "unpacked", tmp_path) == [
        {"item": "pen", "count": 2},
        {"item": "ink", "count": -1},
    ]


def test_rows_through_pandas(recipes: Recipes, client: redis.Redis, tmp_path: Path) -> None:
    recipes.play(block(RECIPES, "orders = (spark.readStream"))
    recipes.play(block(RECIPES, "import pandas"))
    assert written(recipes, client, "sizes", tmp_path) == [
        {"item": "pen", "count": 2, "size": "few"},
        {"item": "ink", "count": 1, "size": "one"},
    ]


# ---------------------------------------------------------------------- a mirror


@pytest.fixture
def other(tmp_path: Path) -> Iterator[ServerProcess]:
    """A second server."""
    process = ServerProcess([redis_tool("redis-server")], tmp_path)
    yield process
    process.stop()


def test_a_mirror_copies_ids_and_bytes_once(
    spark: SparkSession, client: redis.Redis, at: Options, other: ServerProcess, tmp_path: Path
) -> None:
    """Of several streams, in several tasks and batches, one of which is replayed."""
    for i in range(1, 41):
        fields: dict[Any, Any] = {b"n\xff": b"%d" % i, b"\r\n": b"\x00", b"a": b"", b"n": b"2"}
        client.xadd(f"orders:{i % 2}", fields, id=f"{i}-{i}")
    text = block(RECIPES, "checkpoint =")
    for place, port in (("10.0.0.1:6379", at["port"]), ("10.0.0.2:6379", other.port)):
        assert place in text
        text = text.replace(place, f"127.0.0.1:{port}")
    text = text.replace("/var/lib/penstock", str(tmp_path))
    text = text.replace("[sink]", "minPartitions = 4\nmaxOffsetsPerTrigger = 30\n\n[sink]")
    (tmp_path / "mirror.toml").write_text(text)
    job = replace(read_job(tmp_path / "mirror.toml"), once=True)
    pipeline.run(spark, job)
    forget_commit(tmp_path / "mirror", 1)
    client.xadd("orders:1", {"a": "late"}, id="50-0")
    pipeline.run(spark, job)
    with redis.Redis(port=other.port) as copy:
        for stream in ("orders:0", "orders:1"):
            assert raw(copy, stream) == raw(client, stream)


def raw(client: redis.Redis, stream: str) -> Any:
    """The entries of a stream: ids and fields, in order."""
    return client.execute_command("XRANGE", stream, "-", "+")


# ---------------------------------------------------------------------- a Connect server


@pytest.fixture(scope="module")
def connect(spark: SparkSession) -> Iterator[str]:
    """The URL of a Connect server in the JVM of the tests' session."""
    jvm: Any = spark._jvm
    context = spark._jsc.sc()
    port = free_port()
    context.conf().set("spark.connect.grpc.binding.address", "127.0.0.1")
    context.conf().set("spark.connect.grpc.binding.port", str(port))
    plugin = jvm.org.apache.spark.sql.connect.SparkConnectPlugin().driverPlugin()
    plugin.init(context, None)
    yield f"sc://127.0.0.1:{port}"
    plugin.shutdown()


def run_client(words: list[str], folder: Path, **environment: str) -> str:
    """What a program prints that has no JVM."""
    plain = {name: value for name, value in os.environ.items() if "SPARK" not in name}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder, env=plain | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_client_of_spark_connect(recipes: Recipes, connect: str, tmp_path: Path) -> None:
    text = recipes.text(block(RECIPES, "from pyspark.sql import SparkSession"))
    assert "sc://127.0.0.1:15002" in text
    (tmp_path / "client.py").write_text(text.replace("sc://127.0.0.1:15002", connect))
    shown = run_client(["client.py"], tmp_path).splitlines()
    assert [line for line in shown if "pen" in line or "ink" in line] == [
        "| ink|         1|",
        "| pen|         2|",
    ]


def test_declarative_pipelines_go_on_where_they_ended(
    recipes: Recipes, client: redis.Redis, connect: str, tmp_path: Path
) -> None:
    """The client of ``spark-pipelines``, with the Connect server above instead of a new session."""
    assert block(RECIPES, "spark-pipelines run") == "spark-pipelines run\n"
    sales = recipes.text(block(RECIPES, "from pyspark import pipelines")).replace(
        '{"stream": "sales"}', json.dumps({"stream": "sales", "port": recipes.at["port"]})
    )
    (tmp_path / "sales.py").write_text(sales)
    (tmp_path / "spark-pipeline.yml").write_text(recipes.text(block(RECIPES, "name: sales")))
    words = ["-m", "pyspark.pipelines.cli", "run"]
    for more in ("cup", "jug"):
        run_client(words, tmp_path, SPARK_REMOTE=connect)
        order(client, more, 3)
    found = [fields[b"item"] for _, fields in xrange(client, "sales")]
    assert found == [b"pen", b"ink", b"cup"]
