# cython: boundscheck=False, wraparound=False
"""Sums of floats as redis makes them: 80-bit floats in, at most 17 digits after the point out.

    sign 1 | exponent 15 | 64 bits of mantissa         (the x87's extended precision)

A float is a pair of integers, (m, e), which stands for m * 2**e; m has 64 bits at most, and a sign.
What is computed exactly is rounded to that, half to even. That gives the digits that redis prints,
rounding errors included, on machines without such floats too. No float reaches 2^16384, and none is
below 2^-16445.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Float: TypeAlias = tuple[int, int]

MANTISSA_BITS = 64
GREATEST_EXPONENT = 16384  # floats are below 2 to that
LEAST_EXPONENT = -16445  # of a float's last bit
DIGITS = 17  # after the point
POWER = 10**17
MAX_TEXT = 5119  # bytes; longer text is not looked at

# Exponents beyond it are outside of what MAX_TEXT digits can bring back into the range of floats.
MAX_EXPONENT = {10: 11_000, 16: 37_000}
PIECE = 4000  # digits that Python converts at once, both ways

MOST_DIGITS = 18  # of a plain number: 64 bits hold them, and 22 times as much
PLAIN = 20  # bytes of one
NOT_PLAIN = ~(2**63 - 1)
POWERS = [10**n for n in range(19)]
EXACT = 22  # see sum_text

ZERO: Float = (0, 0)

_DECIMAL = re.compile(rb"([+-]?)(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+))?")
_HEX = re.compile(rb"([+-]?)0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP]([+-]?\d+))?")
_INFINITY = re.compile(rb"[+-]?inf(?:inity)?", re.IGNORECASE)


def sum_text(left: bytes, right: bytes) -> bytes | None:
    """The sum of two numbers as text_of(sum_of(parse(left), parse(right))); None if it is infinite.

    Raises ValueError.
    """
    # Both addends and the sum are rounded: by (|a| + |b| + |a + b|) / 2**64 altogether, at most. Up
    # to 22 each, that is not half of the last digit, and so the exact sum is what is printed.
    one = _digits(left)
    other = _digits(right)
    if NOT_PLAIN not in (one, other):
        places = _decimals(left)
        others = _decimals(right)
        if not places and not others:
            return b"%d" % (one + other)
        if places <= DIGITS and others <= DIGITS:
            unit: int = POWERS[places]
            other_unit: int = POWERS[others]
            if abs(one) <= EXACT * unit and abs(other) <= EXACT * other_unit:
                if places < others:
                    return _fixed(one * (other_unit // unit) + other, others)
                return _fixed(one + other * (unit // other_unit), places)
    first, second = parse(left), parse(right)
    if first is None or second is None:
        return None
    total = sum_of(first, second)
    return None if total is None else text_of(total)


def is_plain(text: bytes) -> bool:
    """Whether *text* is a float in its usual form. Others may be floats, too."""
    return _digits(text) != NOT_PLAIN


def parse(text: bytes) -> Float | None:
    """Read a float as strtold does, but with no blanks; None is infinity. Raises ValueError."""
    plain = _digits(text)
    if plain != NOT_PLAIN:
        places = _decimals(text)
        if not places or not plain:
            return plain, 0
        number = _quotient(abs(plain), POWERS[places])
        return negated(number) if plain < 0 else number
    if len(text) > MAX_TEXT:
        raise ValueError("not a float")
    if _INFINITY.fullmatch(text):
        return None
    base, match = 10, _DECIMAL.fullmatch(text)
    if match is None:
        base, match = 16, _HEX.fullmatch(text)
    if match is None:
        raise ValueError("not a float")
    sign, digits, exponent = [part.decode() for part in match.groups(default=b"0")]
    whole, _, decimals = digits.partition(".")
    above = _whole(whole + decimals, base)
    if not above:
        return ZERO
    if len(exponent) > PIECE or abs(int(exponent)) > MAX_EXPONENT[base]:
        raise ValueError("not a float")
    power = int(exponent)
    step = 10 if base == 10 else 2
    below = base ** len(decimals)
    if power > 0:
        above *= step**power
    else:
        below *= step**-power
    number = _quotient(above, below)
    if not number[0] or _is_too_large(number):
        raise ValueError("not a float")
    return negated(number) if sign == "-" else number


def _digits(text: bytes) -> int:
    """The digits of *text* as one number, with its sign, if it is plain; else NOT_PLAIN.

    Then it is a sign at most, up to MOST_DIGITS, and a point at most.
    """
    size = len(text)
    if not 0 < size <= PLAIN:
        return NOT_PLAIN
    at = 1 if text[0] in (0x2D, 0x2B) else 0
    digits = 0
    has_point = False
    value = 0
    while at < size:
        byte = text[at]
        at += 1
        if byte == 0x2E and not has_point:
            has_point = True
            continue
        if byte < 0x30 or byte > 0x39 or digits == MOST_DIGITS:
            return NOT_PLAIN
        value = value * 10 + (byte - 0x30)
        digits += 1
    if digits == 0:
        return NOT_PLAIN
    return -value if text[0] == 0x2D else value


def _decimals(text: bytes) -> int:
    """How many digits stand after the point in a plain *text*."""
    size = len(text)
    at = size - 1
    while at >= 0 and text[at] != 0x2E:
        at -= 1
    return size - 1 - at if at >= 0 else 0


def _whole(digits: str, base: int) -> int:
    """The integer written as *digits*, of any length."""
    number = 0
    for at in range(0, len(digits), PIECE):
        piece = digits[at : at + PIECE]
        number = number * base ** len(piece) + int(piece, base)
    return number


def _quotient(above: int, below: int) -> Float:
    """The float nearest to above / below, both positive, as if exponents had no upper limit."""
    exponent = above.bit_length() - below.bit_length() - MANTISSA_BITS
    exponent = max(exponent, LEAST_EXPONENT)
    if exponent < 0:
        above <<= -exponent
    else:
        below <<= exponent
    whole, rest = divmod(above, below)  # 64 bits, or 65: then one more is rounded off
    if whole >> MANTISSA_BITS:
        rest += below * (whole & 1)
        below <<= 1
        whole >>= 1
        exponent += 1
    twice = rest << 1
    if twice > below or (twice == below and whole & 1):
        whole += 1
    return whole, exponent


def rounded(mantissa: int, exponent: int) -> Float:
    """The float nearest to mantissa * 2**exponent, as if exponents had no upper limit."""
    excess = max(abs(mantissa).bit_length() - MANTISSA_BITS, LEAST_EXPONENT - exponent)
    if excess <= 0:
        return mantissa, exponent
    return _shifted(mantissa, excess), exponent + excess


def _shifted(number: int, bits: int) -> int:
    """The integer nearest to number / 2**bits, half to even; *bits* are positive."""
    half = 1 << (bits - 1)
    whole = number >> bits
    rest = number - (whole << bits)
    return whole + 1 if rest > half or (rest == half and whole & 1) else whole


def _is_too_large(number: Float) -> bool:
    return abs(number[0]).bit_length() + number[1] > GREATEST_EXPONENT


def sum_of(one: Float, other: Float) -> Float | None:
    """The sum of two floats; None if it is infinite."""
    exponent = min(one[1], other[1])
    total = (one[0] << (one[1] - exponent)) + (other[0] << (other[1] - exponent))
    number = rounded(total, exponent)
    return None if _is_too_large(number) else number


def negated(number: Float) -> Float:
    """The float with the other sign."""
    return -number[0], number[1]


def is_less(one: Float, other: Float) -> bool:
    """Whether *one* is less than *other*."""
    exponent = min(one[1], other[1])
    return one[0] << (one[1] - exponent) < other[0] << (other[1] - exponent)


def text_of(number: Float) -> bytes:
    """*number* with up to 17 digits after the point, without trailing zeros."""
    mantissa, exponent = number
    if exponent >= 0:
        return _whole_text(mantissa << exponent)
    scaled = _shifted(abs(mantissa) * POWER, -exponent)
    return _fixed(-scaled if mantissa < 0 else scaled, DIGITS)


def _fixed(scaled: int, places: int) -> bytes:
    """The text of scaled / 10**places, without trailing zeros; *places* are positive."""
    digits = (b"%d" % abs(scaled)).zfill(places + 1)
    point = len(digits) - places
    tail = digits[point:].rstrip(b"0")
    text = digits[:point] + b"." + tail if tail else digits[:point]
    return b"-" + text if scaled < 0 else text


def _whole_text(whole: int) -> bytes:
    """The decimal digits of *whole*, however many."""
    if abs(whole).bit_length() <= MANTISSA_BITS:
        return b"%d" % whole
    head, rest = divmod(abs(whole), 10**PIECE)
    digits = f"{head}{rest:0{PIECE}}" if head else f"{rest}"
    return f"{'-' if whole < 0 else ''}{digits}".encode()
