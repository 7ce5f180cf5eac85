"""Schemas: the default schema of a reader, and what each column of a user's schema means.

(no schema)            stream string, id string, timestamp timestamp, fields map<string,binary>
.schema("a int, ...")  a column for each field, by name; these columns are not fields:

    _stream string   _server string   _id string   _ts timestamp   _ms bigint   _seq bigint
    _fields map<string,binary|string> or array<struct<name:string,value:binary|string>>, or
            array<struct<name:binary,value:binary>>, which also keeps names that are not UTF-8
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pyarrow as pa
from pyspark.sql import types as t

from pyspark_penstock.errors import OptionError

UTC = "UTC"
ARROW_TYPES: dict[type[t.DataType], Any] = {
    t.StringType: pa.string(),
    t.BinaryType: pa.binary(),
    t.BooleanType: pa.bool_(),
    t.ByteType: pa.int8(),
    t.ShortType: pa.int16(),
    t.IntegerType: pa.int32(),
    t.LongType: pa.int64(),
    t.FloatType: pa.float32(),
    t.DoubleType: pa.float64(),
    t.DateType: pa.date32(),
    t.TimestampType: pa.timestamp("us", tz=UTC),
    t.TimestampNTZType: pa.timestamp("us"),
}


class Meaning(Enum):
    """Which part of an entry a column holds."""

    FIELD = "a field"
    STREAM = "the stream's name"
    SERVER = "the name of the stream's server in a fleet"
    ID = "the id"
    TIME = "the id's time"
    MS = "the id's milliseconds"
    SEQ = "the id's sequence"
    MAP = "all fields, by name"
    ARRAY = "all fields, in order"
    CORRUPT = "the fields as JSON, where a value was bad"


@dataclass(frozen=True)
class Column:
    """A column to build.

    *name* is its name in the schema, *arrow* the Arrow type that Spark expects.
    """

    name: str
    meaning: Meaning
    arrow: Any
    nullable: bool = True


RESERVED: dict[str, tuple[Meaning, t.DataType]] = {
    "_stream": (Meaning.STREAM, t.StringType()),
    "_server": (Meaning.SERVER, t.StringType()),
    "_id": (Meaning.ID, t.StringType()),
    "_ts": (Meaning.TIME, t.TimestampType()),
    "_ms": (Meaning.MS, t.LongType()),
    "_seq": (Meaning.SEQ, t.LongType()),
}
RAW: dict[str, tuple[Meaning, t.DataType]] = {
    "stream": (Meaning.STREAM, t.StringType()),
    "id": (Meaning.ID, t.StringType()),
    "timestamp": (Meaning.TIME, t.TimestampType()),
}
METADATA = ("_stream", "_id", "_ts")
ALL_FIELDS = "_fields"
HOW_TO_READ = "read it as string and use from_json, or all fields as _fields"
HOW_TO_WRITE = "write to_json({0}), or cast it to string"


def fields_type(value_format: str, fields_format: str) -> t.DataType:
    """The type of a column of all fields."""
    value: t.DataType = t.StringType() if value_format == "string" else t.BinaryType()
    if fields_format == "map":
        return t.MapType(t.StringType(), value)
    return t.ArrayType(t.StructType().add("name", t.StringType()).add("value", value))


def exact_fields_type() -> t.DataType:
    """The type of a column of all fields with names as bytes, which changes nothing in them."""
    return t.ArrayType(t.StructType().add("name", t.BinaryType()).add("value", t.BinaryType()))


def raw_schema(fields: t.DataType) -> t.StructType:
    """The default schema."""
    schema = t.StructType()
    for name, (_, kind) in RAW.items():
        schema.add(name, kind, nullable=kind == t.TimestampType())
    return schema.add("fields", fields, nullable=False)


def with_metadata(schema: t.StructType) -> t.StructType:
    """The schema with ``_stream``, ``_id`` and ``_ts`` in front."""
    front = [t.StructField(name, RESERVED[name][1]) for name in METADATA]
    return t.StructType(front + schema.fields)


def is_raw(schema: t.StructType) -> bool:
    """Whether this is the default schema."""
    return schema.names == [*RAW, "fields"] and is_fields_type(schema["fields"].dataType)


def columns_of(schema: t.StructType, corrupt: str = "", advice: str = HOW_TO_READ) -> list[Column]:
    """The columns of *schema*; *corrupt* names the one for records with bad values, if there is
    one.

    Raises OptionError, with *advice*, if a column has a type that a value in a stream cannot have.
    """
    special = RAW if is_raw(schema) else RESERVED
    all_fields = "fields" if is_raw(schema) else ALL_FIELDS
    return [column_of(field, special, all_fields, corrupt, advice) for field in schema]


def column_of(
    field: t.StructField,
    special: dict[str, tuple[Meaning, t.DataType]],
    all_fields: str,
    corrupt: str,
    advice: str,
) -> Column:
    """The column for one field of a schema."""
    name, kind = field.name, field.dataType
    if name == all_fields:
        meaning = Meaning.MAP if isinstance(kind, t.MapType) else Meaning.ARRAY
        return Column(name, meaning, arrow_fields_type(name, kind), field.nullable)
    meaning, wanted = special.get(name, (Meaning.FIELD, kind))
    if name == corrupt:
        meaning, wanted = Meaning.CORRUPT, t.StringType()
    if kind != wanted:
        raise OptionError(f"column {name!r} must be {wanted.simpleString()} ({meaning.value})")
    return Column(name, meaning, arrow_type(name, kind, advice), field.nullable)


def arrow_type(name: str, kind: t.DataType, advice: str = HOW_TO_READ) -> Any:
    """The Arrow type that Spark expects for *kind*. Raises OptionError, with *advice*."""
    if isinstance(kind, t.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    try:
        return ARROW_TYPES[type(kind)]
    except KeyError:
        raise OptionError(
            f"column {name!r}: a field holds text, not {kind.simpleString()}; {advice.format(name)}"
        ) from None


def is_fields_type(kind: t.DataType) -> bool:
    """Whether *kind* is a type for a column of all fields."""
    return same_shape(kind, exact_fields_type()) or any(
        same_shape(kind, fields_type(value, fields))
        for value in ("binary", "string")
        for fields in ("map", "array")
    )


def same_shape(kind: t.DataType, other: t.DataType) -> bool:
    """Whether two types are the same, except for what may be null."""
    return kind.simpleString() == other.simpleString()


def arrow_fields_type(name: str, kind: t.DataType) -> Any:
    """The Arrow type of a column of all fields. Raises OptionError if *kind* is not such a type."""
    if not is_fields_type(kind):
        raise OptionError(
            f"column {name!r} must be map<string,binary>, map<string,string>, or "
            "array<struct<name:string,value:binary>>, or with string values or binary names"
        )
    if isinstance(kind, t.MapType):
        value = pa.field("value", arrow_type(name, kind.valueType), kind.valueContainsNull)
        return pa.map_(pa.field("key", pa.string(), False), value)
    assert isinstance(kind, t.ArrayType)
    assert isinstance(kind.elementType, t.StructType)
    parts = [
        pa.field(part.name, arrow_type(name, part.dataType), part.nullable)
        for part in kind.elementType
    ]
    return pa.list_(pa.field("element", pa.struct(parts), kind.containsNull))


def arrow_schema(columns: Iterable[Column]) -> Any:
    """The Arrow schema that Spark requires of the batches, with what may be null."""
    return pa.schema([pa.field(c.name, c.arrow, c.nullable) for c in columns])
