"""Sums of floats as redis makes them: 80-bit floats in, at most 17 digits behind the point out.

    sign 1 | exponent 15 | 64 bits of mantissa         (the x87's extended precision)

A float is held as the fraction that it stands for, and rounded to the nearest that 64 bits can say,
to the even one of two. That gives the digits that redis prints, the error of a sum included.
"""

from __future__ import annotations

import re
from fractions import Fraction

MANTISSA_BITS = 64
DIGITS = 17  # behind the point
MAX_TEXT = 255  # bytes; longer text is not looked at

# Beyond it the digits of a number would fill a page; the x87 goes on to 4932.
MAX_EXPONENT = 4000

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
    whole, _, behind = digits.partition(".")
    number = Fraction(int(whole + behind, base), base ** len(behind))
    if number:
        if abs(int(exponent)) > MAX_EXPONENT:
            raise ValueError("not a float")
        number *= Fraction(10 if base == 10 else 2) ** int(exponent)
    return rounded(-number if sign == "-" else number)


def rounded(number: Fraction) -> Fraction:
    """The float nearest to *number*."""
    if not number:
        return number
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    if abs(number) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (exponent - MANTISSA_BITS + 1)
    return round(number / unit) * unit


def text_of(number: Fraction) -> bytes:
    """The number with up to 17 digits behind the point, and no zeros at the end of those."""
    scaled = round(number * 10**DIGITS)
    whole, behind = divmod(abs(scaled), 10**DIGITS)
    text = f"{whole}.{behind:0{DIGITS}}".rstrip("0").rstrip(".")
    return f"-{text}".encode() if scaled < 0 else text.encode()
