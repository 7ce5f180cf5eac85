"""Casts of single texts, with the results of Spark's TRY_CAST; None where that gives null.

Arrow reads plain forms, a column at a time. These are other forms that Spark accepts:

    " +12\\n"              an integer; white space and control characters around it do not count
    "1.5d" "0x1p3" "inf"  a double in Java's forms
    "1.235"               a decimal(3,2), rounded half up
    "Yes" "t" "N"         booleans

``CAST`` with ANSI mode off accepts more, such as ``1.5`` as an integer. That is null here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import partial
from typing import Any

import pyarrow as pa

from pyspark_penstock.read import cast_times
from pyspark_penstock.read.cast_times import BLANK

AROUND = BLANK + b"\x7f"  # Spark trims these from all types but floats and decimals
LARGEST_SCALE = (1 << 31) - 1  # of a BigDecimal
LONGEST_EXPONENT = 1_000  # characters; in a valid number, all but ten of them are zeros

TRUE = frozenset({b"t", b"true", b"y", b"yes", b"1"})
FALSE = frozenset({b"f", b"false", b"n", b"no", b"0"})
INTEGER = re.compile(rb"([+-]?)0*([0-9]+)")
FLOAT = re.compile(rb"(?:\+(?!-))?(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[dDfF]?")
HEX_FLOAT = re.compile(
    rb"([+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[dDfF]?"
)
SPECIAL = re.compile(rb"[+-]?(?:NaN|Infinity)|(?i:nan|[+-]?inf(?:inity)?)")
DECIMAL = re.compile(r"[+-]?(?:\d+\.?(\d*)|\.(\d+))(?:[eE]([+-]?\d+))?")  # any script's digits

Parse = Callable[[bytes], Any]


def parser(kind: Any) -> Parse:
    """The function that casts a text to *kind*, to a value that ``pa.array`` accepts."""
    if pa.types.is_integer(kind):
        return partial(integer, bits=kind.bit_width)
    if pa.types.is_floating(kind):
        return partial(floating, kind=kind)
    if pa.types.is_decimal(kind):
        return partial(decimal, precision=kind.precision, scale=kind.scale)
    if pa.types.is_boolean(kind):
        return boolean
    if pa.types.is_date(kind):
        return date
    if pa.types.is_timestamp(kind):
        return timestamp if kind.tz else timestamp_ntz
    return string


def integer(text: bytes, bits: int) -> int | None:
    """ASCII digits with an optional sign, if the number fits into *bits*."""
    found = INTEGER.fullmatch(text.strip(AROUND))
    if found is None or len(found[2]) > bits:  # with more digits than bits it is too large
        return None
    number = -int(found[2]) if found[1] == b"-" else int(found[2])
    return number if -1 << (bits - 1) <= number < 1 << (bits - 1) else None


def floating(text: bytes, kind: Any) -> float | None:
    """What Java parses as a float or double; infinity and NaN in any case."""
    text = text.strip(BLANK)
    if found := FLOAT.fullmatch(text):
        number: float = pa.scalar(found[1].decode()).cast(kind).as_py()  # rounds once, to *kind*
        return number
    if found := HEX_FLOAT.fullmatch(text):
        return hex_float(found[1].decode())
    return float(text) if SPECIAL.fullmatch(text) else None


def hex_float(text: str) -> float:
    """A hexadecimal float; infinite if it is too large."""
    try:
        return float.fromhex(text)
    except OverflowError:
        return float("-inf" if text.startswith("-") else "inf")


def decimal(text: bytes, precision: int, scale: int) -> Decimal | None:
    """What Java parses as a BigDecimal, rounded half up to *scale*; None if it is too long."""
    found = DECIMAL.fullmatch(text.strip(BLANK).decode("utf-8", "replace"))
    if found is None:
        return None
    fraction, exponent = found[1] or found[2] or "", found[3] or "0"
    if len(exponent) > LONGEST_EXPONENT or abs(len(fraction) - int(exponent)) > LARGEST_SCALE:
        return None
    context = Context(precision, ROUND_HALF_UP, MIN_EMIN, MAX_EMAX, traps=[InvalidOperation])
    try:
        return Decimal(found[0]).quantize(Decimal((0, (1,), -scale)), context=context)
    except InvalidOperation:
        return None


def boolean(text: bytes) -> bool | None:
    """The words for true and false, in any case."""
    word = text.strip(AROUND).lower()
    return word in TRUE if word in TRUE | FALSE else None


def date(text: bytes) -> int | None:
    """Days since 1970."""
    return cast_times.days(text.strip(AROUND))


def timestamp(text: bytes) -> int | None:
    """Microseconds since 1970. Without a zone the time is in UTC."""
    return cast_times.micros(text.strip(AROUND), zoned=True)


def timestamp_ntz(text: bytes) -> int | None:
    """Microseconds since 1970, as if the time were in UTC. A zone in the text is ignored."""
    return cast_times.micros(text.strip(AROUND), zoned=False)


def string(text: bytes) -> str | None:
    """Valid UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None
