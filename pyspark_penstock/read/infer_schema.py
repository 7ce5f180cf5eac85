"""Schema inference: a column for each field, typed by samples from both ends of the streams."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import redis
from pyspark.sql import types as t

from pyspark_penstock import schema as schemas
from pyspark_penstock.connect import stream_info
from pyspark_penstock.errors import OptionError, ServerError
from pyspark_penstock.names import key
from pyspark_penstock.read import cast_columns
from pyspark_penstock.read.source_options import ReadOptions

SAMPLE = 1_000
NARROWEST_FIRST: tuple[tuple[t.DataType, object], ...] = (
    (t.LongType(), pa.int64()),
    (t.DoubleType(), pa.float64()),
    (t.BooleanType(), pa.bool_()),
    (t.TimestampType(), pa.timestamp("us", tz="UTC")),
    (t.StringType(), pa.string()),
)

logger = logging.getLogger(__name__)


def infer_schema(options: ReadOptions) -> t.StructType:
    """The schema for the fields of the streams, in the order in which they first appear.

    Samples are the first and the last SAMPLE entries. Raises OptionError if they give no column.
    """
    found: dict[bytes, list[bytes]] = {}
    for server in options.fleet.names:
        with options.at(server).client() as client:
            for stream in options.subscription.names(client):
                for _, fields in both_ends(client, stream):
                    for field, value in pairs_of(fields):
                        found.setdefault(field, []).append(value)
    if not found:
        raise OptionError("inferSchema=true: the streams have no entry to infer a schema from")
    schema = schema_of(found)
    if not schema:
        raise OptionError("inferSchema=true: no field has a name that can be a column's")
    return schema


def both_ends(client: redis.Redis, stream: str) -> list[Any]:
    """The first and the last entries of a stream. Raises ServerError if the key is not a stream."""
    name = key(stream)
    try:
        first = stream_info.ask(client, "XRANGE", name, "-", "+", "COUNT", SAMPLE)
        last = stream_info.ask(client, "XREVRANGE", name, "+", "-", "COUNT", SAMPLE)
    except redis.ResponseError as refused:
        raise ServerError(f"stream {stream!r}: {refused}") from None
    return [*first, *last[::-1]]


def schema_of(samples: Mapping[bytes, list[bytes]]) -> t.StructType:
    """A column for each field. Fields whose name cannot be a column's are left out, with a warning.

    A column finds its field by name, and Spark's column names ignore case. So the name must be
    valid UTF-8, not reserved, and differ from all earlier ones by more than case.
    """
    schema, left_out = t.StructType(), []
    taken = {name.casefold() for name in (*schemas.RESERVED, schemas.ALL_FIELDS)}
    for field, sample in samples.items():
        name = field.decode("utf-8", "replace")
        if name.encode() != field or name.casefold() in taken:
            left_out.append(field)
        else:
            taken.add(name.casefold())
            schema.add(name, type_of(sample))
    if left_out:
        logger.warning(
            "no columns are made of the fields %s: such a name is reserved, another's but for "
            "case, or not UTF-8. They are in _fields, where a schema names it",
            left_out,
        )
    return schema


def pairs_of(fields: object) -> Iterable[tuple[bytes, bytes]]:
    """Names and values of an entry, in either form that redis-py gives."""
    if isinstance(fields, dict):
        return fields.items()
    assert isinstance(fields, list)
    return zip(fields[::2], fields[1::2], strict=True)


def type_of(sample: list[bytes]) -> t.DataType:
    """The narrowest type that fits all values; binary if they are not even text."""
    column = pa.array(sample, pa.binary())
    for spark, arrow in NARROWEST_FIRST:
        if cast_columns.whole(column, arrow) is not None:
            return spark
    return t.BinaryType()
