"""Record batches: a column has the values that a dict of each entry's fields gives."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import types as t

from pyspark_penstock.errors import ValueMismatchError
from pyspark_penstock.read.columns import DROPMALFORMED, FAILFAST, PERMISSIVE, BatchBuilder
from pyspark_penstock.read.page import mixed, parse
from pyspark_penstock.schema import arrow_schema, columns_of, fields_type, raw_schema
from tests.spark.answers import Entry, answer, entries


def schema_of(**columns: t.DataType) -> t.StructType:
    return t.StructType([t.StructField(name, kind) for name, kind in columns.items()])


def build(
    given_entries: list[Entry], schema: t.StructType, mode: str = PERMISSIVE, corrupt: str = ""
) -> list[dict[str, Any]]:
    builder = BatchBuilder("orders", columns_of(schema, corrupt), mode)
    batch = builder.batch(parse(answer(given_entries)))
    assert batch.schema.equals(arrow_schema(columns_of(schema, corrupt)))
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def one_field(*values: bytes) -> list[Entry]:
    return [(b"1-%d" % i, [(b"v", value)]) for i, value in enumerate(values)]


def text(value: bytes | None) -> str | None:
    """The value of a string column: null if it is not UTF-8."""
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def time(ms: int) -> datetime | None:
    """The value of a timestamp column: null if it is too late for a timestamp."""
    try:
        return datetime.fromtimestamp(ms / 1_000, UTC) if ms < 253_402_300_800_000 else None
    except (OverflowError, ValueError):
        return None


@settings(deadline=None)
@given(entries())
def test_columns_have_the_values_of_a_dict_of_the_fields(given_entries: list[Entry]) -> None:
    schema = schema_of(
        _stream=t.StringType(), _id=t.StringType(), _ms=t.LongType(), _seq=t.LongType(),
        a=t.StringType(), b=t.BinaryType(), temp=t.LongType(), nowhere=t.DoubleType(),
    )  # fmt: skip
    for row, (entry_id, fields) in zip(build(given_entries, schema), given_entries, strict=True):
        ms, seq = map(int, entry_id.split(b"-"))
        values = dict(fields)
        assert row["_stream"] == "orders"
        assert row["_id"] == entry_id.decode()
        assert row["_ms"] == (ms if ms < 2**63 else None)
        assert row["_seq"] == (seq if seq < 2**63 else None)
        assert row["a"] == text(values.get(b"a"))
        assert row["b"] == values.get(b"b")
        assert row["temp"] == long(values.get(b"temp"))
        assert row["nowhere"] is None


def long(value: bytes | None) -> int | None:
    """The value of a bigint column: null if it is not a 64-bit number."""
    if value is None or not value.removeprefix(b"-").isdigit():
        return None
    return int(value) if -(2**63) <= int(value) < 2**63 else None


@settings(deadline=None)
@given(entries())
def test_all_fields_can_be_a_map_or_an_array_in_order(given_entries: list[Entry]) -> None:
    in_map = build(given_entries, schema_of(_fields=fields_type("binary", "map")))
    in_order = build(given_entries, schema_of(_fields=fields_type("binary", "array")))
    as_text = build(given_entries, schema_of(_fields=fields_type("string", "map")))
    for number, (_, fields) in enumerate(given_entries):
        order = [(p["name"].encode(), p["value"]) for p in in_order[number]["_fields"]]
        assert order == fields
        assert {k.encode(): v for k, v in in_map[number]["_fields"]} == dict(fields)
        assert len(in_map[number]["_fields"]) == len(dict(fields))
        assert dict(as_text[number]["_fields"]) == {
            k.decode(): v.decode("utf-8", "replace") for k, v in fields
        }


def test_without_a_schema_the_columns_are_stream_id_timestamp_and_fields() -> None:
    (row,) = build([(b"1763000062499-3", [(b"a", b"\xff")])], raw_schema(fields_type("", "map")))
    assert row == {
        "stream": "orders",
        "id": "1763000062499-3",
        "timestamp": time(1763000062499),
        "fields": [("a", b"\xff")],
    }


def test_the_timestamp_comes_from_the_id_and_is_null_if_out_of_range() -> None:
    schema = schema_of(_ts=t.TimestampType())
    ids = [b"0-1", b"1763000062499-3", b"9223372036854776000-0", b"18446744073709551615-1"]
    rows = build([(i, [(b"v", b"")]) for i in ids], schema)
    assert [row["_ts"] for row in rows[:2]] == [time(0), time(1763000062499)]
    assert [row["_ts"] for row in rows[2:]] == [None, None]


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (t.ByteType(), {b"-128": -128, b"127": 127, b" +1\n": 1}, [b"128", b"", b"1.0", b"0x1f"]),
        (t.ShortType(), {b"32767": 32767}, [b"32768"]),
        (t.IntegerType(), {b"2147483647": 2147483647}, [b"2147483648", b"x"]),
        (t.LongType(), {b"-9223372036854775808": -(2**63)}, [b"9223372036854775808", b"0x1f"]),
        (t.DoubleType(), {b"1.5": 1.5, b"1e3": 1000.0, b" -.25d": -0.25}, [b"", b"1,5"]),
        (t.FloatType(), {b"1.5": 1.5}, [b"one"]),
        (t.BooleanType(), {b"true": True, b"Yes": True, b"f": False, b"1": True}, [b"on", b""]),
        (
            t.DecimalType(6, 2),
            {b"1234.56": Decimal("1234.56"), b"1.235": Decimal("1.24")},
            [b"12345678", b"9999.995"],
        ),
        (t.DateType(), {b"2026-11-21": date(2026, 11, 21)}, [b"21.11.2026", b"2026-02-30"]),
        (
            t.TimestampType(),
            {
                b"2026-11-21T10:00:00Z": datetime(2026, 11, 21, 10, tzinfo=UTC),
                b"2026-11-21 12:00:00.25+02:00": datetime(2026, 11, 21, 10, 0, 0, 250000, UTC),
                b"2026-11-21 10:00:00": datetime(2026, 11, 21, 10, tzinfo=UTC),
            },
            [b"yesterday", b"1763000062499"],
        ),
        (
            t.TimestampNTZType(),
            {b"2026-11-21 10:00:00": datetime.fromisoformat("2026-11-21 10:00:00")},
            [b"x"],
        ),
        (t.StringType(), {"grün".encode(): "grün"}, [b"\xff"]),
    ],
    ids=lambda value: value.simpleString() if isinstance(value, t.DataType) else "",
)
def test_values_are_cast_by_type_and_bad_ones_are_null(
    kind: t.DataType, good: dict[bytes, object], bad: list[bytes]
) -> None:
    rows = build(one_field(*good, *bad), schema_of(v=kind))
    assert [row["v"] for row in rows] == [*good.values(), *[None] * len(bad)]


@pytest.mark.parametrize(
    "kind",
    [
        t.ByteType(), t.LongType(), t.FloatType(), t.DoubleType(), t.BooleanType(),
        t.DecimalType(6, 2), t.DateType(), t.TimestampType(), t.TimestampNTZType(), t.StringType(),
    ],
    ids=lambda kind: kind.simpleString(),
)  # fmt: skip
@pytest.mark.parametrize("mode", [PERMISSIVE, FAILFAST])
def test_bytes_that_are_not_utf8_are_bad_in_every_type(kind: t.DataType, mode: str) -> None:
    values = one_field(b"\xff", b"1\xc3", b"\xb2")
    if mode == FAILFAST:
        with pytest.raises(ValueMismatchError, match="entry 1-0: v="):
            build(values, schema_of(v=kind), mode)
    else:
        assert [row["v"] for row in build(values, schema_of(v=kind), mode)] == [None] * 3


BAD = one_field(b"1", b"two", b"3", b"4", b"V")


def test_bad_values_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    builder = BatchBuilder("orders", columns_of(schema_of(v=t.LongType())), PERMISSIVE)
    builder.batch(parse(answer(BAD)))
    assert builder.bad_values == 2
    assert "stream 'orders', entry 1-1: v=b'two' is not int64" in caplog.text


def test_failfast_names_the_entry_and_the_value() -> None:
    with pytest.raises(ValueMismatchError, match="stream 'orders', entry 1-1: v=b'two'"):
        build(BAD, schema_of(v=t.LongType()), FAILFAST)


def test_dropmalformed_drops_only_rows_with_bad_values() -> None:
    rows = build([*BAD, (b"9-9", [(b"w", b"x")])], schema_of(v=t.LongType()), DROPMALFORMED)
    assert [row["v"] for row in rows] == [1, 3, 4, None]


def test_the_corrupt_record_column_has_the_fields_of_bad_rows_only() -> None:
    schema = schema_of(v=t.LongType(), bad=t.StringType())
    rows = build(BAD, schema, corrupt="bad")
    assert [row["bad"] and json.loads(row["bad"]) for row in rows] == [
        None, {"v": "two"}, None, None, {"v": "V"},
    ]  # fmt: skip


NOT_NULL = t.StructType([t.StructField("v", t.LongType(), nullable=False)])


@pytest.mark.parametrize("mode", [PERMISSIVE, DROPMALFORMED])
def test_null_in_a_not_null_column_is_an_error_with_entry_and_column(mode: str) -> None:
    """The error names the right entry even if rows before it were dropped."""
    without_v: Entry = (b"9-9", [(b"w", b"x")])
    where = "entry 1-1" if mode == PERMISSIVE else "entry 9-9"
    with pytest.raises(
        ValueMismatchError, match=f"stream 'orders', {where}: the column 'v' is NOT"
    ):
        build([*BAD, without_v], NOT_NULL, mode)


def test_a_not_null_column_accepts_entries_with_a_value() -> None:
    assert [row["v"] for row in build(BAD, NOT_NULL, DROPMALFORMED)] == [1, 3, 4]


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"1", b"2", b"x", b"", b"-7"]), min_size=1, max_size=40))
def test_good_and_bad_values_can_be_mixed(values: list[bytes]) -> None:
    rows = build(one_field(*values), schema_of(v=t.LongType()))
    assert [row["v"] for row in rows] == [long(value) for value in values]


def test_uniform_and_mixed_pages_give_the_same_batches() -> None:
    same = [(b"1-%d" % i, [(b"a", b"%d" % i), (b"b", b"x")]) for i in range(50)]
    builder = BatchBuilder("s", columns_of(raw_schema(fields_type("binary", "map"))), PERMISSIVE)
    assert builder.batch(parse(answer(same))).equals(builder.batch(mixed(answer(same))))
