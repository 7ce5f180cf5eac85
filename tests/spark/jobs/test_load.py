"""Loading files: each row becomes an entry, and each column a field."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis

from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.failures import JobError
from pyspark_penstock.jobs.load import LoadJob, format_of, load
from tests.spark.stored import xrange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Options = dict[str, str]
IN_ORDER = {"delivery": "ordered"}

# One server is enough: the tests of the sink run with both.
ON_PENSTOCK = pytest.mark.parametrize("server", ["penstock"], indirect=True)


@ON_PENSTOCK
def test_csv_values_are_kept_as_text(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text('item,qty\n"a, b",007\npot,\n')
    assert load(spark, LoadJob((str(tmp_path / "a.csv"),), "out", at)) == 2
    assert [fields for _, fields in xrange(client, "out")] == [
        {b"item": b"a, b", b"qty": b"007"},
        {b"item": b"pot"},
    ]


@ON_PENSTOCK
def test_nested_json_stays_json(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text('{"n": 1, "tags": ["x"], "at": {"b": 2}}\n')
    load(spark, LoadJob((str(tmp_path / "a.jsonl"),), "out", at))
    ((_, fields),) = xrange(client, "out")
    assert fields == {b"n": b"1", b"tags": b'["x"]', b"at": b'{"b":2}'}


@ON_PENSTOCK
@pytest.mark.parametrize("schema", ["", "n int"])
def test_a_broken_line_ends_the_load_unless_the_mode_allows_it(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path, schema: str
) -> None:
    (tmp_path / "a.jsonl").write_text('{"n": 1}\n{"n": \n')
    job = LoadJob((str(tmp_path / "a.jsonl"),), "out", at, schema=schema)
    with pytest.raises(JobError, match=r"a\.jsonl has a broken line.*mode=PERMISSIVE"):
        load(spark, job)
    assert not client.exists("out")
    assert load(spark, replace(job, reading={"mode": "DROPMALFORMED"})) == 1


@ON_PENSTOCK
def test_parquet_is_loaded_with_renamed_columns_in_the_order_of_ids(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    rows = spark.range(3).selectExpr("concat(id + 5, '-1') AS entry", "id AS `a.b`", "1 AS c")
    rows.orderBy(rows.entry.desc()).repartition(2).write.parquet(str(tmp_path / "a.parquet"))
    job = LoadJob(
        (str(tmp_path / "a.parquet"),), "out", at, columns={"a.b": "n"}, id_column="entry"
    )
    assert load(spark, job) == 3
    assert xrange(client, "out") == [(b"%d-1" % (n + 5), {b"n": b"%d" % n}) for n in range(3)]


@ON_PENSTOCK
def test_an_ordered_load_runs_as_one_task_and_numbers_its_rows(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    spark.range(0, 4, 1, 2).write.csv(str(tmp_path / "a.csv"))
    reading = {"header": "false"}
    job = LoadJob((str(tmp_path / "a.csv"),), "out", at, reading=reading, writing=IN_ORDER)
    assert load(spark, job) == 4
    assert [entry for entry, _ in xrange(client, "out")] == [b"1-0", b"1-1", b"1-2", b"1-3"]


@ON_PENSTOCK
def test_a_load_with_the_same_transaction_is_done_once(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n2\n")
    job = LoadJob(
        (str(tmp_path / "a.csv"),), "out", at, writing={"txnAppId": "daily", "txnVersion": "7"}
    )
    assert [load(spark, job), load(spark, job)] == [2, 0]


@ON_PENSTOCK
def test_a_missing_column_is_named_with_the_existing_ones(
    spark: SparkSession, client: redis.Redis, at: Options, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    job = LoadJob((str(tmp_path / "a.csv"),), "out", at, columns={"c": "x"})
    with pytest.raises(OptionError, match="no column 'c'; they have a, b"):
        load(spark, job)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("a.csv", "b.csv.gz"), "csv"), (("dir/a.parquet",), "parquet"), (("x.ndjson",), "json"),
        (("folder.parquet/",), "parquet"), (("syslog.log.zst",), "text"),
    ],
)  # fmt: skip
def test_the_format_follows_from_the_file_names(names: tuple[str, ...], kind: str) -> None:
    assert format_of(names) == kind


@pytest.mark.parametrize("names", [("a",), ("a.csv", "a.json"), ("a.gz",), ("a.exe",)])
def test_file_names_of_no_format_or_several_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(OptionError, match="--format"):
        format_of(names)
