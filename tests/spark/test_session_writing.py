"""Options of writing through a Spark session, in batches and in streams."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis
from pyspark.errors import PySparkException

from tests.spark.frames import Options, fill, live, numbers, run, write
from tests.spark.marks import ONE_SERVER
from tests.spark.stored import xrange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEN = range(1, 11)


@ONE_SERVER
def test_rows_go_to_the_stream_in_their_column_unless_the_option_is_given(
    spark: SparkSession, client: redis.Redis, at: Options
) -> None:
    frame = spark.sql("SELECT id AS n, IF(id % 2 = 0, 'even', 'odd') AS _stream FROM range(5)")
    write(frame, at)
    assert (numbers(client, "even"), numbers(client, "odd")) == ([0, 2, 4], [1, 3])
    write(frame, at, stream="all")
    assert numbers(client, "all") == [*range(5)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"maxLen": "3", "approximate": "false"}, [8, 9, 10]),
        ({"maxLen": "3"}, [*TEN]),  # an approximate trim removes only whole nodes
        ({"minId": "7000-0", "approximate": "false"}, [7, 8, 9, 10]),
    ],
    ids=str,
)
def test_a_write_trims_the_stream(
    spark: SparkSession, client: redis.Redis, at: Options, options: Options, expected: list[int]
) -> None:
    frame = spark.sql("SELECT id AS n, concat(id * 1000, '-0') AS _id FROM range(1, 11, 1, 1)")
    write(frame, at, **options)
    assert numbers(client) == expected


@ONE_SERVER
@pytest.mark.parametrize(
    ("choice", "fields"),
    [("omit", {b"n": b"1"}), ("empty", {b"n": b"1", b"m": b""})],
)
def test_a_null_field_is_left_out_or_empty(
    spark: SparkSession, client: redis.Redis, at: Options, choice: str, fields: dict[bytes, bytes]
) -> None:
    write(spark.sql("SELECT 1 AS n, CAST(NULL AS string) AS m"), at, nullFields=choice)
    assert [found for _, found in xrange(client, "out")] == [fields]


@ONE_SERVER
def test_at_least_once_needs_no_markers(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, *TEN)
    run(live(spark, at), at, tmp_path, delivery="at-least-once")
    assert numbers(client) == [*TEN]
    assert client.keys("*spark*") == []


def test_a_partition_is_written_in_transactions_of_limited_size(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, *TEN)
    client.config_resetstat()
    run(live(spark, at), at, tmp_path, maxTransactionRows="3")
    assert client.info("commandstats")["cmdstat_exec"]["calls"] == 4
    assert numbers(client) == [*TEN]


@ONE_SERVER
def test_a_new_checkpoint_with_the_same_name_does_not_write_old_batches_again(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    fill(client, *TEN)
    for checkpoint in ("a", "b"):
        run(live(spark, at), at, tmp_path / checkpoint, txnAppId="copy")
    assert numbers(client) == [*TEN]
    run(live(spark, at), at, tmp_path / "c")
    assert numbers(client) == sorted([*TEN, *TEN])


@ONE_SERVER
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maxLen": "1", "minId": "1-0"}, "'maxLen' and 'minId' contradict each other"),
        ({"txnVersion": "1"}, "give that too"),
        ({"nullField": "empty"}, "did you mean 'nullFields'"),
        ({"subscribe": "in"}, r"no option for writing \(it is one for reading\)"),
        ({"passwordEnv": "HOME", "credentialsFile": "f"}, "contradict each other"),
    ],
    ids=str,
)
def test_wrong_options_of_a_sink_are_refused_by_name(
    spark: SparkSession, client: redis.Redis, at: Options, options: Options, message: str
) -> None:
    with pytest.raises(PySparkException, match=f"OptionError: .*{message}"):
        write(spark.sql("SELECT 1 AS n"), at, **options)
    assert client.dbsize() == 0
