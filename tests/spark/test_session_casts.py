"""Values of fields equal Spark's own TRY_CAST of the same texts, for all types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import redis

from tests.spark.frames import Options, read
from tests.spark.marks import ONE_SERVER
from tests.spark.texts import BOOLEANS, NUMBERS, TIMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# One server is enough: it returns the bytes that it got.
pytestmark = ONE_SERVER

TEXTS = list(dict.fromkeys([*NUMBERS, *BOOLEANS, *TIMES]))
TYPES = [
    "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(6,2)", "decimal(10,0)",
    "decimal(38,0)", "decimal(38,10)", "decimal(38,38)", "boolean", "date", "timestamp",
    "timestamp_ntz", "string", "binary",
]  # fmt: skip
BY_SPARK = {kind: f"TRY_CAST(CAST(raw AS string) AS {kind})" for kind in TYPES} | {
    "string": "TRY_VALIDATE_UTF8(CAST(raw AS string))",
    "binary": "raw",
}


@pytest.mark.parametrize("shapes", [1, 2], ids=["one shape of entries", "two shapes"])
def test_values_equal_spark_s_try_cast(
    spark: SparkSession, client: redis.Redis, at: Options, shapes: int
) -> None:
    """Pages with entries of one shape are read by columns, others value by value."""
    for number, text in enumerate(TEXTS):
        fields: dict[Any, Any] = {f"v{i}": text for i in range(len(TYPES))} | {"raw": text}
        client.xadd("in", fields | ({"more": b""} if number % shapes else {}))
    schema = ", ".join(f"v{i} {kind}" for i, kind in enumerate(TYPES))
    rows = read(spark, at, f"{schema}, raw binary", subscribe="in")
    assert rows.count() == len(TEXTS)
    others = [f"IF(v{i} <=> {BY_SPARK[kind]}, NULL, '{kind}')" for i, kind in enumerate(TYPES)]
    found = rows.selectExpr("raw", f"array_compact(array({', '.join(others)})) AS types")
    assert found.where("types != array()").collect() == []
