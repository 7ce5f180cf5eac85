"""Sums of floats as redis makes them: 80-bit floats in, at most 17 digits after the point out.

    sign 1 | exponent 15 | 64 bits of mantissa         (the x87's extended precision)

A float is held as an exact fraction and rounded to 64 bits, half to even. That gives the digits
that redis prints, rounding errors included. No float reaches 2^16384, and none is below 2^-16445.
"""

from __future__ import annotations

import re
from fractions import Fraction

MANTISSA_BITS = 64
DIGITS = 17  # after the point
MAX_TEXT = 5119  # bytes; longer text is not looked at
TOO_LARGE = Fraction(2) ** 16384
SMALLEST = Fraction(1, 2**16445)

# Exponents beyond it are outside of what MAX_TEXT digits can bring back into the range of floats.
MAX_EXPONENT = {10: 11_000, 16: 37_000}
PIECE = 4000  # digits that Python converts at once, both ways

_DECIMAL = re.compile(rb"([+-]?)(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+))?")
_HEX = re.compile(rb"([+-]?)0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP]([+-]?\d+))?")
_INFINITY = re.compile(rb"[+-]?inf(?:inity)?", re.IGNORECASE)


def parse(text: bytes) -> Fraction | None:
    """Read a float as strtold does, but with no blanks; None is infinity. Raises ValueError."""
    if len(text) > MAX_TEXT:
        raise ValueError("not a float")
    if _INFINITY.fullmatch(text):
        return None
    base, match = 10, _DECIMAL.fullmatch(text)
    if match is None:
        base, match = 16, _HEX.fullmatch(text)
    if match is None:
        raise ValueError("not a float")
    sign, digits, exponent = (part.decode() for part in match.groups(default=b"0"))
    whole, _, decimals = digits.partition(".")
    number = Fraction(_whole(whole + decimals, base), base ** len(decimals))
    if number:
        if len(exponent) > PIECE or abs(int(exponent)) > MAX_EXPONENT[base]:
            raise ValueError("not a float")
        number = rounded(number * Fraction(10 if base == 10 else 2) ** int(exponent))
        if not number or number >= TOO_LARGE:
            raise ValueError("not a float")
    return -number if sign == "-" else number


def _whole(digits: str, base: int) -> int:
    """The integer written as *digits*, of any length."""
    number = 0
    for at in range(0, len(digits), PIECE):
        piece = digits[at : at + PIECE]
        number = number * base ** len(piece) + int(piece, base)
    return number


def sum_of(one: Fraction, other: Fraction) -> Fraction | None:
    """The sum of two floats; None if it is infinite."""
    total = rounded(one + other)
    return None if abs(total) >= TOO_LARGE else total


def rounded(number: Fraction) -> Fraction:
    """The float nearest to *number*, as if exponents had no upper limit."""
    if not number:
        return number
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    if abs(number) < Fraction(2) ** exponent:
        exponent -= 1
    unit = max(Fraction(2) ** (exponent - MANTISSA_BITS + 1), SMALLEST)
    return round(number / unit) * unit


def text_of(number: Fraction) -> bytes:
    """*number* with up to 17 digits after the point, without trailing zeros."""
    scaled = round(number * 10**DIGITS)
    whole, decimals = divmod(abs(scaled), 10**DIGITS)
    head, tail = divmod(whole, 10**PIECE)
    digits = f"{head}{tail:0{PIECE}}" if head else f"{tail}"
    text = f"{digits}.{decimals:0{DIGITS}}".rstrip("0").rstrip(".")
    return f"-{text}".encode() if scaled < 0 else text.encode()
