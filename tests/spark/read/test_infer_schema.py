"""Schema inference: which fields become columns, and of which type."""

from __future__ import annotations

import pytest
import redis

from pyspark_penstock.errors import OptionError, ServerError
from pyspark_penstock.read.infer_schema import infer_schema, schema_of
from pyspark_penstock.read.source_options import batch_options


def inferred(at: dict[str, str], *streams: str) -> str:
    return infer_schema(batch_options(at | {"subscribe": ",".join(streams)})).simpleString()


def test_columns_have_the_order_of_their_fields_and_the_narrowest_type() -> None:
    samples = {b"n": [b"1", b"-2"], b"price": [b"1", b"2.5"], b"raw": [b"\xff"], b"item": [b"a"]}
    expected = "struct<n:bigint,price:double,raw:binary,item:string>"
    assert schema_of(samples).simpleString() == expected


@pytest.mark.parametrize(
    ("fields", "columns", "left_out"),
    [
        ([b"a", b"_id", b"_ts", b"_ms", b"_seq", b"_stream", b"_fields", b"b"], ["a", "b"], 6),
        ([b"_ID", b"a"], ["a"], 1),  # includeMetadata would add _id too
        ([b"A", b"b", b"a", b"B"], ["A", "b"], 2),
        (["ä".encode(), "Ä".encode()], ["ä"], 1),
        ([b"\xff", b"a", b"\xfe", b"a\xff"], ["a"], 3),
        ([b"id", b"fields", b"\xef\xbf\xbd"], ["id", "fields", "\ufffd"], 0),
    ],
    ids=str,
)
def test_a_field_that_cannot_be_a_column_is_left_out_with_a_warning(
    fields: list[bytes], columns: list[str], left_out: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert schema_of({field: [b"1"] for field in fields}).names == columns
    assert len(caplog.messages) == bool(left_out)
    said = "\n".join(caplog.messages)
    for field in fields:
        assert (repr(field) in said) == (field.decode("utf-8", "replace") not in columns)


def test_streams_without_a_possible_column_are_refused(
    client: redis.Redis, at: dict[str, str]
) -> None:
    client.xadd("s", {"_id": "1"})
    with pytest.raises(OptionError, match="no field has a name that can be a column's"):
        inferred(at, "s")
    client.xadd("s", {"n": "1", "N": "x"})
    assert inferred(at, "s") == "struct<n:bigint>"


def test_a_key_of_another_type_is_an_error(client: redis.Redis, at: dict[str, str]) -> None:
    client.set("text", "x")
    with pytest.raises(ServerError, match="stream 'text': WRONGTYPE"):
        inferred(at, "text")
