"""Inference: the schema of fields, from samples at both ends of the streams."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from pyspark.sql import types as t

from pyspark_penstock import stream_info, values
from pyspark_penstock.errors import OptionError
from pyspark_penstock.source_options import ReadOptions

SAMPLE = 1_000
NARROWEST_FIRST: tuple[tuple[t.DataType, object], ...] = (
    (t.LongType(), pa.int64()),
    (t.DoubleType(), pa.float64()),
    (t.BooleanType(), pa.bool_()),
    (t.TimestampType(), pa.timestamp("us", tz="UTC")),
    (t.StringType(), pa.string()),
)


def infer_schema(options: ReadOptions) -> t.StructType:
    """A field a column, in the order in which they first appear.

    Samples the first and the last SAMPLE entries. Raises OptionError where there is no entry.
    """
    found: dict[bytes, list[bytes]] = {}
    with options.client() as client:
        for stream in options.subscription.names(client):
            name = stream_info.key(stream)
            first = stream_info.ask(client, "XRANGE", name, "-", "+", "COUNT", SAMPLE)
            last = stream_info.ask(client, "XREVRANGE", name, "+", "-", "COUNT", SAMPLE)
            for _, fields in [*first, *last[::-1]]:
                for field, value in pairs_of(fields):
                    found.setdefault(field, []).append(value)
    if not found:
        raise OptionError("inferSchema=true: the streams have no entry to infer a schema from")
    schema = t.StructType()
    for field, sample in found.items():
        schema.add(field.decode("utf-8", "replace"), type_of(sample))
    return schema


def pairs_of(fields: object) -> Iterable[tuple[bytes, bytes]]:
    """Names and values of an entry, whichever way redis-py gave them."""
    if isinstance(fields, dict):
        return fields.items()
    assert isinstance(fields, list)
    return zip(fields[::2], fields[1::2], strict=True)


def type_of(sample: list[bytes]) -> t.DataType:
    """The narrowest type that all values have; binary if they are not even text."""
    column = pa.array(sample, pa.binary())
    for spark, arrow in NARROWEST_FIRST:
        try:
            values.whole(column, arrow)
        except pa.ArrowInvalid:
            continue
        return spark
    return t.BinaryType()
