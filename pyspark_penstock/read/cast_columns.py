"""Casts of whole columns of text to Arrow types, with the results of Spark's TRY_CAST.

1. Arrow casts the whole column. If that fails, or if Arrow may accept values that Spark does not:
2. Arrow casts the values in a plain form, which Arrow and Spark read alike.
3. ``cast_texts`` reads each of the other distinct values once.

A value that is not of the type becomes null and is marked as bad. A timestamp without a zone is in
UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyspark_penstock.read.cast_texts import parser

Column = Any  # a pyarrow.Array; pyarrow has no types
Bad = Any  # a pyarrow.BooleanArray: which values were bad
Read = Callable[[Column, Any], Column]

MOST_DIGITS = 38  # of a decimal; if it has more, scale included, Arrow drops some
ZONED = re.compile(rb"[ T].*[Z+-]", re.DOTALL)
SHORTEST_ZONED = len("2026-11-21T10:00:00Z")
SECONDS_AT = len("2026-11-21T10:00")

DATE = "^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"  # the days that all months have
TIME = r"[ T](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
OFFSET = "(?:Z|[+-](?:0[0-9]|1[0-7]):[0-5][0-9])"


def cast(column: Column, kind: Any) -> tuple[Column, Bad | None]:
    """Cast the binary *column* to the Arrow type *kind*; also say which values were bad, if any."""
    if pa.types.is_binary(kind):
        return column, None
    values = whole(column, kind)
    return mixed(column, kind) if values is None else (values, None)


# ---------------------------------------------------------------------- columns of plain values


def whole(column: Column, kind: Any) -> Column | None:
    """The column as *kind*, read by Arrow at once; None if Spark might read a value otherwise."""
    try:
        if pa.types.is_timestamp(kind) and kind.tz:
            return timestamps(column, kind)
        return arrow_cast(column, kind) if is_plain(column, kind) else None
    except pa.ArrowInvalid:
        return None


def arrow_cast(column: Column, kind: Any) -> Column:
    """The column as Arrow casts it. Raises pyarrow.ArrowInvalid."""
    if pa.types.is_string(kind):
        return pc.cast(column, kind)
    return pc.cast(column.view(pa.string()), kind)  # for other types, UTF-8 need not be checked


def is_plain(column: Column, kind: Any) -> bool:
    """Whether Spark agrees with Arrow on every value of *column* that Arrow accepts."""
    if pa.types.is_integer(kind):
        return not has_any(column, b"x", b"X")  # hexadecimal
    if pa.types.is_floating(kind):
        return not has_any(column, b"(", b"-n", b"-N", b"+n", b"+N")  # nan(0), -nan
    if pa.types.is_decimal(kind):
        longest = pc.max(pc.binary_length(column)).as_py() or 0
        return longest + kind.scale <= MOST_DIGITS and not has_any(column, b"e", b"E")
    return True


def has_any(column: Column, *strings: bytes) -> bool:
    """Whether one of *strings* occurs anywhere in the column."""
    text, places = text_of(column)
    found = text[places[0] : places[-1]].tobytes()
    return any(string in found for string in strings)


def text_of(column: Column) -> tuple[Any, Any]:
    """The bytes of all values in one array, and the offsets at which they begin and end."""
    _, places, data = column.buffers()
    text = np.frombuffer(data or b"", np.uint8)
    return text, np.frombuffer(places, np.int32)[column.offset :][: len(column) + 1]


def timestamps(column: Column, kind: Any) -> Column | None:
    """Cast timestamps, with a zone if the first value has one; None if Spark may reject some value.

    Spark takes a zone only after seconds, and none beyond 18 hours. Raises pyarrow.ArrowInvalid;
    that takes longer than the cast itself.
    """
    present = column.drop_null() if column.null_count else column
    if not len(present) or ZONED.search(present[0].as_py()) is None:
        return in_utc(column, kind)
    times = arrow_cast(column, kind)
    return times if has_seconds_and_near_zones(present) else None


def in_utc(column: Column, kind: Any) -> Column:
    """Cast timestamps that have no zone. Raises pyarrow.ArrowInvalid."""
    return arrow_cast(column, pa.timestamp(kind.unit)).view(kind)


def has_seconds_and_near_zones(column: Column) -> bool:
    """Whether all values have seconds and a zone below 18 hours.

    There must be at least one value.
    """
    text, places = text_of(column)
    starts, ends = places[:-1], places[1:]
    if (ends - starts).min() < SHORTEST_ZONED:
        return False
    near = text[ends - 1] == ord("Z")
    if not near.all():
        for offset in ("+hh", "+hhmm", "+hh:mm"):
            sign, tens, ones = (text[ends - len(offset) + at] for at in range(3))
            is_sign = (sign == ord("+")) | (sign == ord("-"))
            near |= is_sign & ((tens == ord("0")) | (tens == ord("1")) & (ones < ord("8")))
    return bool(near.all() and (text[starts + SECONDS_AT] == ord(":")).all())


# ---------------------------------------------------------------------- columns of any values


def mixed(column: Column, kind: Any) -> tuple[Column, Bad | None]:
    """Cast any column to *kind*; also say which values were bad."""
    values, odd = pa.nulls(len(column), kind), pc.is_valid(column)
    for form, read in plain_forms(kind):
        plain = pc.and_(odd, pc.fill_null(pc.match_substring_regex(column, form), False))
        values = pc.coalesce(values, read(pc.if_else(plain, column, None), kind))
        odd = pc.and_not(odd, plain)
    values = pc.replace_with_mask(values, odd, one_by_one(column.filter(odd), kind))
    bad = pc.and_(pc.is_valid(column), pc.is_null(values))
    return values, bad if pc.any(bad).as_py() else None


def plain_forms(kind: Any) -> Iterator[tuple[str, Read]]:
    """Patterns of values that Arrow and Spark read alike, each with the function to read them."""
    if pa.types.is_integer(kind):
        digits = len(str(1 << (kind.bit_width - 1))) - 1
        yield f"^-?[0-9]{{1,{digits}}}$", arrow_cast
    elif pa.types.is_floating(kind):
        yield r"^-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?$", arrow_cast
    elif pa.types.is_decimal(kind) and kind.precision > kind.scale:
        fraction = rf"(?:\.[0-9]{{1,{kind.scale}}})?" if kind.scale else ""
        yield f"^-?[0-9]{{1,{kind.precision - kind.scale}}}{fraction}$", arrow_cast
    elif pa.types.is_boolean(kind):
        yield "^(?i:true|false|1|0)$", arrow_cast
    elif pa.types.is_date(kind):
        yield f"{DATE}$", arrow_cast
    elif pa.types.is_timestamp(kind):
        yield f"{DATE}{TIME}$", in_utc if kind.tz else arrow_cast
        if kind.tz:
            yield f"{DATE}{TIME}{OFFSET}$", arrow_cast


def one_by_one(column: Column, kind: Any) -> Column:
    """Cast each distinct value as Spark would; null where it is not of *kind*."""
    distinct = column.dictionary_encode()
    values = list(map(parser(kind), distinct.dictionary.to_pylist()))
    if pa.types.is_temporal(kind):  # as numbers: Python's classes lack some of these times
        numbers = pa.array(values, pa.int32() if pa.types.is_date(kind) else pa.int64())
        return numbers.view(kind).take(distinct.indices)
    return pa.array(values, kind).take(distinct.indices)
