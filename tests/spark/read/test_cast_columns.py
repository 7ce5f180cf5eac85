"""Casts: a whole column gives the same values as its texts cast one by one."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyspark_penstock.read import cast_columns, cast_texts
from tests.spark.steps import examples
from tests.spark.texts import BOOLEANS, NUMBERS, TIMES

KINDS = [
    pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.bool_(),
    pa.decimal128(6, 2), pa.decimal128(38, 0), pa.decimal128(38, 10), pa.decimal128(38, 38),
    pa.date32(), pa.timestamp("us", tz="UTC"), pa.timestamp("us"), pa.string(),
]  # fmt: skip
NUMBER_LIKE = st.from_regex(
    r"\A[ ]?[+-]?[0-9]{0,20}\.?[0-9]{0,20}([eE][+-]?[0-9]{1,3})?[dfx]?\Z"
).map(str.encode)
TIME_LIKE = st.from_regex(
    r"\A[+-]?(19|20|0|9)[0-9]{2,4}(-[01]?[0-9](-[0-3]?[0-9]([ T][0-2]?[0-9](:[0-6]?[0-9]"
    r"(:[0-6]?[0-9](\.[0-9]{0,7})?)?)?(Z|[+-][012]?[0-9]:?[0-5][0-9])?)?)?)?\Z"
).map(str.encode)
ODD = st.sampled_from([*NUMBERS, *BOOLEANS, *TIMES]) | NUMBER_LIKE | TIME_LIKE | st.binary()


def column(*texts: bytes | None) -> Any:
    """An Arrow column of *texts*, with an offset into its data."""
    return pa.array([b"before", *texts], pa.binary())[1:]


def comparable(found: Any) -> list[Any]:
    """The values in Python: times as numbers, since Python lacks some of them, and NaN as text."""
    if pa.types.is_temporal(found.type):
        return list(found.view(pa.int32() if found.type == pa.date32() else pa.int64()).to_pylist())
    return [
        "NaN" if isinstance(value, float) and math.isnan(value) else value
        for value in found.to_pylist()
    ]


def one_by_one(texts: list[bytes | None], kind: Any) -> list[Any]:
    """The values of *texts*, each cast by itself."""
    return comparable(cast_columns.one_by_one(column(*texts), kind))


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(deadline=None, max_examples=examples(50, 15))
@given(texts=st.lists(st.none() | ODD, min_size=1, max_size=8))
def test_a_column_has_the_values_of_its_texts_cast_one_by_one(
    kind: Any, texts: list[bytes | None]
) -> None:
    found, bad = cast_columns.cast(column(*texts), kind)
    expected = one_by_one(texts, kind)
    assert found.type == kind
    assert comparable(found) == expected
    wrong = [t is not None and v is None for t, v in zip(texts, expected, strict=True)]
    assert wrong == (bad.to_pylist() if bad is not None else [False] * len(texts))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_column_of_one_text_has_the_value_of_that_text(kind: Any) -> None:
    """Its neighbours must not matter: Arrow reads ``-nan`` as a number, but Spark does not."""
    texts: list[bytes | None] = [*NUMBERS, *BOOLEANS, *TIMES]
    alone = [comparable(cast_columns.cast(column(text), kind)[0])[0] for text in texts]
    expected = one_by_one(texts, kind)
    assert dict(zip(texts, alone, strict=True)) == dict(zip(texts, expected, strict=True))


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (pa.int64(), [b"1", b"-22", None, b"0"]),
        (pa.float64(), [b"1.5", b"-2e10", b"inf", b"NaN", None]),
        (pa.decimal128(10, 2), [b"1.5", b"-22", None]),
        (pa.bool_(), [b"true", b"FALSE", b"1"]),
        (pa.date32(), [b"2026-11-21", None]),
        (pa.timestamp("us", tz="UTC"), [b"2026-11-21 10:00:00.25Z", b"2026-11-21T10:00:00Z"]),
        (pa.timestamp("us", tz="UTC"), [b"2026-11-21 10:00:00+17:59", b"2026-11-21 10:00:00-07"]),
        (pa.timestamp("us", tz="UTC"), [b"2026-11-21 10:00:00", b"2026-11-21"]),
        (pa.timestamp("us"), [b"2026-11-21 10:00:00.000001", None]),
        (pa.string(), ["grün".encode(), b"", None]),
    ],
    ids=str,
)
def test_columns_in_plain_notation_are_cast_as_a_whole(
    kind: Any, texts: list[bytes | None]
) -> None:
    """Their pages then need no Python step for each value."""
    found = cast_columns.whole(column(*texts), kind)
    assert found is not None
    assert comparable(found) == one_by_one(texts, kind)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("texts", [[], [None, None]], ids=["no entry", "no value"])
def test_a_column_without_values_can_be_cast(kind: Any, texts: list[None]) -> None:
    for given_column in (column(*texts), pa.nulls(len(texts), pa.binary())):
        found, bad = cast_columns.cast(given_column, kind)
        assert (found.type, found.to_pylist(), bad) == (kind, texts, None)


@pytest.mark.parametrize("text", [b"03:04", b"03:04:05", b"T03:04"])
def test_a_time_of_day_alone_is_bad(text: bytes) -> None:
    """Spark reads it as a time of today, so a replay tomorrow would differ."""
    for kind in (pa.timestamp("us", tz="UTC"), pa.timestamp("us"), pa.date32()):
        assert cast_texts.parser(kind)(text) is None


def test_decimals_that_are_too_large_are_bad_though_arrow_reads_them() -> None:
    for text in (b"14240598192715208027174483033113654935", b"3.4028235e38"):
        assert cast_columns.cast(column(text, b"1"), pa.decimal128(38, 10))[0][0].as_py() is None
