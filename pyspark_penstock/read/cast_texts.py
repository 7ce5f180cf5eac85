"""Casts of single texts, with the results of Spark's TRY_CAST; None where that gives null.

Arrow reads plain forms, a column at a time. These are other forms that Spark accepts:

    " +12\\n"              an integer; white space and control characters around it do not count
    "1.5d" "0x1p3" "inf"  a double in Java's forms
    "1.235"               a decimal(3,2), rounded half up
    "Yes" "t" "N"         booleans
    "2024-1" "+12024-01-01 x" "-0044-03-15"                        dates
    "2024-01-02T3:4:5.25" "2024-01-02 03:04 Europe/Paris" "2024-01-02T03UTC+1"    timestamps

A date may be followed by a space or T and anything. A time of day alone is not accepted, although
Spark takes it for today's: a replay on another day would differ.

``CAST`` with ANSI mode off accepts more, such as ``1.5`` as an integer. That is null here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import cache, lru_cache, partial
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pyarrow as pa

BLANK = bytes(range(0x21))  # Java trims these from a string
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

DATE = rb"([+-]?[0-9]{4,%d})(?:-([0-9]{1,2})(?:-([0-9]{1,2})%s)?)?"
DAY = re.compile(DATE % (7, rb"(?:[ T].*)?"), re.DOTALL)
TIME = rb"(?:[ T]([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?([^0-9.].*)?)?)?)?"
MOMENT = re.compile(DATE % (6, TIME), re.DOTALL)

OFFSET = re.compile(
    r"[+-](?:[0-9]{1,2}(?::[0-9]{1,2})?|[0-9]{1,2}:[0-9]{2}:[0-9]{2}|[0-9]{4}(?:[0-9]{2})?)"
)
LARGEST_OFFSET = timedelta(hours=18)
ZONES_KEPT = 1_000  # zones in the cache: entries may name any number of them
PREFIX = re.compile(r"(?:UTC|GMT|UT)(?=[+-])")  # of an offset
# Java's own meanings of names with three letters.
SHORT_NAMES = {
    "EST": "-05:00", "HST": "-10:00", "MST": "-07:00", "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires", "ART": "Africa/Cairo",
    "AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare", "CNT": "America/St_Johns", "CST": "America/Chicago",
    "CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris",
    "IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh",
}  # fmt: skip

CYCLE_YEARS, CYCLE_DAYS = 400, 146_097  # after a cycle, the calendar repeats
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
A_DAY = timedelta(days=1)
A_MICROSECOND = timedelta(microseconds=1)
DAY_MICROS = A_DAY // A_MICROSECOND
DATES = range(-1 << 31, 1 << 31)
TIMESTAMPS = range(-1 << 63, 1 << 63)

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
    return days(text.strip(AROUND))


def timestamp(text: bytes) -> int | None:
    """Microseconds since 1970. Without a zone the time is in UTC."""
    return micros(text.strip(AROUND), zoned=True)


def timestamp_ntz(text: bytes) -> int | None:
    """Microseconds since 1970, as if the time were in UTC. A zone in the text is ignored."""
    return micros(text.strip(AROUND), zoned=False)


def string(text: bytes) -> str | None:
    """Valid UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None


# ---------------------------------------------------------------------- dates and times


def days(text: bytes) -> int | None:
    """The date at the beginning of *text*, in days; None if there is none."""
    found = DAY.fullmatch(text)
    if found is None:
        return None
    year, month, day = found.groups()
    place = place_of(int(year), int(month or 1), int(day or 1), 0, 0, 0)
    if place is None:
        return None
    cycles, moment = place
    number = cycles * CYCLE_DAYS + (moment - EPOCH) // A_DAY
    return number if number in DATES else None


def micros(text: bytes, zoned: bool) -> int | None:
    """The time in *text*, in microseconds; None if it is none. The zone counts only if *zoned*."""
    found = MOMENT.fullmatch(text)
    if found is None:
        return None
    year, month, day, *time, fraction, name = found.groups()
    place = place_of(int(year), int(month or 1), int(day or 1), *(int(part or 0) for part in time))
    zone = UTC if name is None else zone_of(name.strip(BLANK).decode("utf-8", "replace"))
    if place is None or zone is None:
        return None
    cycles, moment = place
    ahead = offset_of(zone, moment, cycles) // A_MICROSECOND if zoned else 0
    number = cycles * CYCLE_DAYS * DAY_MICROS + (moment - EPOCH) // A_MICROSECOND - ahead
    number += int((fraction or b"").ljust(6, b"0")[:6])
    return number if number in TIMESTAMPS else None


def place_of(
    year: int, month: int, day: int, hour: int, minute: int, second: int
) -> tuple[int, datetime] | None:
    """The number of cycles of 400 years since 1600, and the date and time less these cycles."""
    cycles, rest = divmod(year - 1600, CYCLE_YEARS)
    try:
        return cycles, datetime(1600 + rest, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


def offset_of(zone: tzinfo, moment: datetime, cycles: int) -> timedelta:
    """The UTC offset of *zone* at the local time *moment*, which is *cycles* times 400 years away.

    A local time that a clock change skips has the offset before the change. One that occurs twice
    is the first.
    """
    year = moment.year + cycles * CYCLE_YEARS
    if year < 1:
        year = moment.year - 3 * CYCLE_YEARS  # long ago: no zone had rules yet
    elif year > 9998:
        year = moment.year + CYCLE_YEARS  # far in the future: the present rules apply
    return moment.replace(year=year, tzinfo=zone).utcoffset() or timedelta()


@lru_cache(ZONES_KEPT)
def zone_of(name: str) -> tzinfo | None:
    """The time zone that Java has under this name; None if there is none."""
    name = SHORT_NAMES.get(name, name)
    offset = PREFIX.sub("", name, count=1) if PREFIX.match(name) else name
    if offset.startswith(("+", "-")):
        return fixed_zone(offset)
    if name in {"Z", "UT"}:
        return UTC
    return ZoneInfo(name) if name in zone_names() else None


def fixed_zone(text: str) -> tzinfo | None:
    """The time zone with this offset; None if it is not an offset, or beyond 18 hours."""
    if OFFSET.fullmatch(text) is None:
        return None
    parts = text[1:].split(":") if ":" in text else [text[1:3], text[3:5], text[5:7]]
    hours, minutes, seconds = (int(part or 0) for part in (*parts, "", "")[:3])
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if max(minutes, seconds) > 59 or offset > LARGEST_OFFSET:
        return None
    return timezone(-offset if text[0] == "-" else offset)


@cache
def zone_names() -> frozenset[str]:
    """The names of all regions."""
    return frozenset(available_timezones()) - {"Factory", "localtime"}
