"""RowEncoder: rows become XADD commands."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import hiredis
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import types as t

from pyspark_penstock.errors import OptionError, SinkError
from pyspark_penstock.names import key
from pyspark_penstock.schema import arrow_schema, columns_of, fields_type, raw_schema
from pyspark_penstock.write.row_encoder import RowEncoder
from pyspark_penstock.write.sink_options import sink_options
from tests.spark.read.test_columns import schema_of

TEXT, LONG = t.StringType(), t.LongType()


def encode(
    schema: t.StructType, *rows: tuple[Any, ...], **options: str
) -> dict[str, list[list[bytes]]]:
    """The commands for each stream, each as a list of words."""
    arrow = arrow_schema(columns_of(schema))
    columns = [pa.array(c, f.type) for c, f in zip(zip(*rows, strict=True), arrow, strict=True)]
    batch = pa.RecordBatch.from_arrays(columns, schema=arrow)
    encoder = RowEncoder(schema, sink_options(options))
    return {stream: words(commands.data) for _, stream, commands in encoder.encode(batch)}


def words(data: memoryview) -> list[list[bytes]]:
    """The words of the commands, as a server parses them."""
    reader, found = hiredis.Reader(), []
    reader.feed(bytes(data))
    while reader.has_data():
        found.append(reader.gets())
    return found


NULLABLE_TEXT = st.none() | st.text(st.characters(codec="utf-8"), max_size=4)
ROWS = st.tuples(
    NULLABLE_TEXT,
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.sampled_from([b"", b"\r\n", b"\xff\x00", b"x" * 300]),
    st.sampled_from(["orders", "{t}:a", "a b", "\udc80"]),
    st.none() | st.sampled_from(["1-1", "1763000062499-3"]),
)


@settings(deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=8), st.sampled_from(["omit", "empty"]))
def test_random_rows_become_the_commands_that_a_loop_makes(
    rows: list[tuple[Any, ...]], null_fields: str
) -> None:
    schema = schema_of(a=TEXT, n=LONG, b=t.BinaryType(), _stream=TEXT, _id=TEXT)
    rows = [(*row[:3], row[3].replace("\udc80", "x"), row[4]) for row in rows]
    expected: dict[str, list[list[bytes]]] = {}
    for text, number, blob, stream, entry_id in rows:
        values = {"a": text, "n": number, "b": blob}
        fields = [
            part
            for name, value in values.items()
            if value is not None or null_fields == "empty"
            for part in (name.encode(), as_bytes(value))
        ]
        if not fields:
            with pytest.raises(SinkError, match="has no field"):
                encode(schema, *rows, nullFields=null_fields)
            return
        command = [b"XADD", key(stream), (entry_id or "*").encode(), *fields]
        expected.setdefault(stream, []).append(command)
    assert encode(schema, *rows, nullFields=null_fields) == expected


def as_bytes(value: object) -> bytes:
    if value is None:
        return b""
    return value if isinstance(value, bytes) else str(value).encode()


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=3),
        min_size=1,
        max_size=6,
    )
)
def test_a_fields_column_is_written_in_order_without_nulls(
    rows: list[list[tuple[str, bytes | None]]],
) -> None:
    schema = schema_of(_fields=fields_type("binary", "array"), last=TEXT)
    values = [([{"name": n, "value": v} for n, v in fields], "x") for fields in rows]
    expected = [
        [b"XADD", b"s", b"*", b"last", b"x"]
        + [part for n, v in fields if v is not None for part in (n.encode(), v)]
        for fields in rows
    ]
    assert encode(schema, *values, stream="s") == {"s": expected}


def test_rows_of_a_read_without_schema_can_be_written() -> None:
    schema = schema_of(
        stream=TEXT, id=TEXT, timestamp=t.TimestampType(), fields=fields_type("string", "map")
    )
    row = ("orders", "5-1", datetime(2026, 1, 1, tzinfo=UTC), [("a", "1"), ("b", "")])
    assert encode(schema, row) == {"orders": [[b"XADD", b"orders", b"5-1", b"a", b"1", b"b", b""]]}


def test_a_given_schema_can_have_a_field_named_id() -> None:
    assert encode(schema_of(id=LONG), (7,), stream="s") == {
        "s": [[b"XADD", b"s", b"*", b"id", b"7"]]
    }


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (t.BooleanType(), True, b"true"),
        (t.ByteType(), -5, b"-5"),
        (t.DoubleType(), 0.1, b"0.1"),
        (t.DoubleType(), 1e300, b"1e+300"),
        (t.DecimalType(6, 2), Decimal("12.30"), b"12.30"),
        (t.DateType(), date(2026, 11, 21), b"2026-11-21"),
        (
            t.TimestampType(),
            datetime(2026, 11, 21, 10, 0, 0, 5, tzinfo=UTC),
            b"2026-11-21 10:00:00.000005Z",
        ),
        (
            t.TimestampNTZType(),
            datetime.fromisoformat("2026-11-21 10:00:00"),
            b"2026-11-21 10:00:00.000000",
        ),
    ],
    ids=lambda value: value.simpleString() if isinstance(value, t.DataType) else "",
)
def test_values_are_written_as_text_by_type(kind: t.DataType, value: object, text: bytes) -> None:
    assert encode(schema_of(v=kind), (value,), stream="s")["s"][0][4] == text


@pytest.mark.parametrize(
    ("options", "words_of_trim"),
    [
        ({"maxLen": "1000"}, [b"MAXLEN", b"~", b"1000"]),
        ({"maxLen": "5", "approximate": "false"}, [b"MAXLEN", b"=", b"5"]),
        ({"minId": "17-1"}, [b"MINID", b"~", b"17-1"]),
    ],
)
def test_trim_options_become_arguments_of_xadd(
    options: dict[str, str], words_of_trim: list[bytes]
) -> None:
    found = encode(schema_of(v=TEXT), ("x",), stream="s", **options)
    assert found["s"] == [[b"XADD", b"s", *words_of_trim, b"*", b"v", b"x"]]


def test_the_option_stream_overrides_the_column() -> None:
    assert list(encode(schema_of(v=TEXT, _stream=TEXT), ("x", "a"), stream="b")) == ["b"]


def test_a_row_without_a_stream_is_refused() -> None:
    with pytest.raises(SinkError, match="has no stream in its column '_stream'"):
        encode(schema_of(v=TEXT, _stream=TEXT), ("x", "a"), ("y", None))


@pytest.mark.parametrize("delivery", ["at-least-once", "ordered"])
@pytest.mark.parametrize(
    ("schema", "column"),
    [(schema_of(v=TEXT, _id=TEXT), "_id"), (raw_schema(fields_type("binary", "map")), "id")],
    ids=["typed", "raw"],
)
def test_a_delivery_that_cannot_replay_given_ids_refuses_their_column(
    delivery: str, schema: t.StructType, column: str
) -> None:
    """A stream accepts an id once, so a row that is sent again would fail."""
    with pytest.raises(OptionError, match=f"delivery={delivery} .*drop the column {column}$"):
        RowEncoder(schema, sink_options({"stream": "s", "delivery": delivery}))
    for other in ("exactly-once", "atomic"):
        RowEncoder(schema, sink_options({"stream": "s", "delivery": other}))


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (schema_of(v=TEXT), "which stream"),
        (schema_of(_stream=TEXT, _ts=t.TimestampType()), "no column is left"),
        (schema_of(_stream=LONG, v=TEXT), "'_stream' must be string"),
        (
            schema_of(_stream=TEXT, v=t.ArrayType(LONG)),
            r"column 'v': a field holds text, not array<bigint>; write to_json\(v\), or cast it",
        ),
    ],
)
def test_schemas_that_do_not_fit_entries_are_refused(schema: t.StructType, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        RowEncoder(schema, sink_options({}))
