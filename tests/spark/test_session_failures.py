"""Failures through a Spark session: the errors, and that they damage nothing."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis
from pyspark.errors import PySparkException, StreamingQueryException

from pyspark_penstock.errors import (
    CheckpointError,
    DataLossError,
    PenstockError,
    ServerError,
    SinkError,
    ValueMismatchError,
    kind_of,
)
from tests.spark.frames import Options, fill, live, numbers, read, run, write, writer
from tests.spark.marks import ONE_SERVER
from tests.spark.restarted import RestartableServer, restarted  # noqa: F401  (a fixture)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tests.compat.processes import ServerProcess

TEN = range(1, 11)


def failure(frame: DataFrame, at: Options, checkpoint: Path, **options: str) -> str:
    """The error of a query that fails."""
    with pytest.raises(StreamingQueryException) as caught:
        run(frame, at, checkpoint, **options)
    return str(caught.value)


# ------------------------------------------------------------------ streams that changed


@pytest.fixture(scope="module")
def read_to_ten(
    spark: SparkSession, server: ServerProcess, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The checkpoint of a query that has read the entries 1 to 10."""
    at = {"host": "127.0.0.1", "port": str(server.port)}
    folder = tmp_path_factory.mktemp("checkpoint")
    with redis.Redis(port=server.port) as client:
        client.flushall()
        fill(client, *TEN)
        run(live(spark, at), at, folder)
    return folder


@pytest.fixture
def checkpoint(read_to_ten: Path, client: redis.Redis, tmp_path: Path) -> Path:
    """A copy of that checkpoint. The server is empty."""
    return Path(shutil.copytree(read_to_ten, tmp_path / "checkpoint"))


def lost_data(client: redis.Redis) -> None:
    fill(client, *range(1, 9))


def recreated(client: redis.Redis) -> None:
    fill(client, 11, 12, 13)


def another_type(client: redis.Redis) -> None:
    client.rpush("in", "x")


def trimmed(client: redis.Redis) -> None:
    fill(client, *range(1, 21))
    client.xtrim("in", minid="16000-0", approximate=False)


@ONE_SERVER
@pytest.mark.parametrize(
    ("happened", "kind", "said"),
    [
        (lost_data, CheckpointError, ["up to 10000-0", "nothing after 8000-0", "it lost data"]),
        (recreated, CheckpointError, ["10 entries had been added then, now it is 3: it is new"]),
        (redis.Redis.ping, CheckpointError, ["'in'", "it does not exist any more"]),
        (another_type, ServerError, ["'in'", "WRONGTYPE"]),
        (trimmed, DataLossError, ["5 entries after 10000-0", "the oldest now is 16000-0"]),
    ],
)
def test_a_changed_stream_is_an_error(
    spark: SparkSession, client: redis.Redis, at: Options, checkpoint: Path,
    happened: Callable[[redis.Redis], object], kind: type[PenstockError], said: list[str],
) -> None:  # fmt: skip
    happened(client)
    problem = failure(live(spark, at), at, checkpoint)
    assert kind_of(problem) is kind
    assert [words for words in said if words not in problem] == []
    assert client.exists("out") == 0


@ONE_SERVER
def test_without_fail_on_data_loss_a_query_reads_the_remaining_entries(
    spark: SparkSession, client: redis.Redis, at: Options, checkpoint: Path
) -> None:
    trimmed(client)
    run(live(spark, at, failOnDataLoss="false"), at, checkpoint)
    assert numbers(client) == [16, 17, 18, 19, 20]


@ONE_SERVER
def test_a_planned_batch_that_was_trimmed_is_an_error_with_the_count(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, *TEN)
    client.rpush("out", "x")  # the sink fails, and so does the batch, which is already planned
    assert kind_of(failure(live(spark, at), at, tmp_path)) is SinkError
    client.delete("out")
    client.xdel("in", "2000-0", "4000-0")
    problem = failure(live(spark, at), at, tmp_path)
    assert kind_of(problem) is DataLossError
    assert "2 entries after 0-0" in problem
    assert client.exists("out") == 0


@ONE_SERVER
def test_a_key_of_another_type_is_an_error_of_a_batch_too(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    another_type(client)
    with pytest.raises(PySparkException, match=r"ServerError: stream 'in': WRONGTYPE"):
        read(spark, at, subscribe="in").collect()


# ------------------------------------------------------------------ values


@ONE_SERVER
def test_a_bad_value_stops_only_a_failfast_query(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, 1)
    client.xadd("in", {"n": "many"}, id="2000-0")
    problem = failure(live(spark, at, mode="FAILFAST"), at, tmp_path)
    assert kind_of(problem) is ValueMismatchError
    assert "entry 2000-0: n=b'many' is not int64" in problem
    assert client.exists("out") == 0
    for mode, count in (("PERMISSIVE", 2), ("DROPMALFORMED", 1)):
        run(live(spark, at, mode=mode), at, tmp_path / mode, stream=mode, nullFields="empty")
        assert client.xlen(mode) == count


# ------------------------------------------------------------------ refused writes


def out_of_memory(client: redis.Redis, _: Path) -> Iterator[None]:
    client.config_set("maxmemory", "1")
    yield
    client.config_set("maxmemory", "0")


def disk_full(client: redis.Redis, folder: Path) -> Iterator[None]:
    """Make snapshots fail, by a folder in the place of their file."""
    client.config_set("save", "3600 1000000")
    (folder / "dump.rdb").mkdir()
    save(client)
    yield
    (folder / "dump.rdb").rmdir()
    save(client)
    client.config_set("save", "")


def save(client: redis.Redis) -> None:
    """Save a snapshot in the background, and wait for it."""
    client.bgsave()
    while client.info("persistence")["rdb_bgsave_in_progress"]:
        pass


@pytest.mark.parametrize(
    ("server", "refuse", "said"),
    [
        ("penstock", disk_full, "MISCONF"),
        ("redis", out_of_memory, "OOM command not allowed"),
    ],
    indirect=["server"],
)
def test_a_refused_batch_is_written_once_when_the_server_accepts_it(
    spark: SparkSession, server: ServerProcess, client: redis.Redis, at: Options, tmp_path: Path,
    refuse: Callable[[redis.Redis, Path], Iterator[None]], said: str,
) -> None:  # fmt: skip
    fill(client, *TEN)
    refusing = refuse(client, server.log.parent)
    next(refusing)
    try:
        problem = failure(live(spark, at), at, tmp_path)
        with pytest.raises(PySparkException, match="SinkError: the server refused rows: " + said):
            write(read(spark, at, subscribe="in"), at)
        assert client.keys() == [b"in"]  # EXEC did not run: there are neither rows nor markers
    finally:
        next(refusing, None)
    assert kind_of(problem) is SinkError
    assert said in problem
    run(live(spark, at), at, tmp_path)
    assert numbers(client) == [*TEN]


# ------------------------------------------------------------------ restarts


def restart_after_pages(server: RestartableServer, page: int) -> int:
    """Restart the server after *page* pages. Returns how many rows ``out`` had then."""
    while pages_read(server) <= page:
        time.sleep(0.01)
    written = int(server.client.xlen("out"))
    server.kill()
    server.start()
    return written


def pages_read(server: RestartableServer) -> int:
    return int(server.client.info("commandstats").get("cmdstat_xrange", {}).get("calls", 0))


@pytest.mark.parametrize("restarted", ["redis"], indirect=True)  # Penstock starts more slowly
def test_a_query_continues_when_its_server_is_back(
    spark: SparkSession,
    restarted: RestartableServer,  # noqa: F811
    tmp_path: Path,
) -> None:
    """The server restarts in the first batch, when a task has read two pages."""
    entries = range(1, 121)
    fill(restarted.client, *entries)
    slow = {"fetchSize": "10", "maxEntriesPerSecond": "100"}
    frame = live(spark, restarted.at, maxOffsetsPerTrigger="60", **slow)
    with ThreadPoolExecutor(1) as pool:
        restart = pool.submit(restart_after_pages, restarted, 2)
        query = run(frame, restarted.at, tmp_path / "checkpoint")
        assert restart.result() == 0
    assert [p["numInputRows"] for p in query.recentProgress] == [60, 60]
    assert numbers(restarted.client) == [*entries]


@pytest.mark.parametrize("restarted", ["penstock"], indirect=True)
def test_an_idle_query_waits_for_its_server(
    spark: SparkSession,
    restarted: RestartableServer,  # noqa: F811
    tmp_path: Path,
) -> None:
    """Only the driver sends commands then. The query can be stopped meanwhile."""
    fill(restarted.client, 1)
    query = writer(live(spark, restarted.at), restarted.at, tmp_path / "checkpoint").start()
    query.processAllAvailable()
    restarted.kill()
    restarted.refuse(5)
    restarted.start()
    fill(restarted.client, 2)
    query.processAllAvailable()
    assert numbers(restarted.client) == [1, 2]
    restarted.kill()
    restarted.refuse(1)
    query.stop()
    assert query.exception() is None


@pytest.mark.parametrize("restarted", ["penstock"], indirect=True)
def test_a_query_whose_server_stays_away_fails_with_the_reason(
    spark: SparkSession,
    restarted: RestartableServer,  # noqa: F811
    tmp_path: Path,
) -> None:
    fill(restarted.client, 1)
    frame = live(spark, restarted.at, retryTimeout="0")
    query = writer(frame, restarted.at, tmp_path / "checkpoint").start()
    query.processAllAvailable()
    restarted.kill()
    with pytest.raises(StreamingQueryException) as caught:
        query.awaitTermination()
    assert kind_of(str(caught.value)) is ServerError
