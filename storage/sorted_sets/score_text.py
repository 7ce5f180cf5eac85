"""The texts of scores: the shortest that reads back as the same double, in Redis's form.

    3  -1  1.5  0.000001  1e-7  1.7976931348623157e+308  inf  -inf  -0

A whole number up to 2**62 is written as such. Others have an exponent where Redis's have one; the
bounds are those of fpconv_dtoa, which Redis uses since 7.2.
"""

from __future__ import annotations

from math import copysign, isfinite, isnan

from storage.errors import Corrupt

EXACT = 2.0**62
ALWAYS_POSITIONAL = 1e-3  # a score that is not whole has no exponent from here on,
EXPONENT_FROM = 1e4  # up to here


def text_of(score: float) -> bytes:
    """The text of *score*, which is not NaN."""
    if score.is_integer() and abs(score) <= EXACT:
        return b"%.0f" % score
    return digest_text_of(score)


def digest_text_of(score: float) -> bytes:
    """The text that DEBUG DIGEST mixes in: all whole numbers are written like others, too."""
    if not isfinite(score):
        return b"inf" if score > 0 else b"-inf"
    if ALWAYS_POSITIONAL <= abs(score) < EXPONENT_FROM and not score.is_integer():
        return repr(score).encode()
    sign = "-" if copysign(1.0, score) < 0 else ""
    return (sign + _positive(repr(abs(score)))).encode()


def _positive(text: str) -> str:
    """*text*, which Python's repr has made, in Redis's form.

    The number is *digits* times ten to the power of *zeros*; *point* is the exponent if the first
    digit is before the point.
    """
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    zeros = int(exponent or 0) - len(fraction)
    digits = (whole + fraction).lstrip("0")
    zeros += len(digits) - len(digits.rstrip("0"))
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    point = zeros + len(digits) - 1
    if zeros >= 0 and point < len(digits) + 7:
        return digits + "0" * zeros
    if zeros < 0 and (zeros > -7 or abs(point) < 4):
        digits = digits.rjust(1 - zeros, "0")
        return f"{digits[:zeros]}.{digits[zeros:]}"
    rest = f".{digits[1:]}" if digits[1:] else ""
    return f"{digits[0]}{rest}e{point:+d}"


def score_of(text: bytes) -> float:
    """The score that *text* says, as a listpack or an RDB has it. Raises Corrupt."""
    try:
        score = float(text)
    except ValueError:
        raise Corrupt("a sorted set has a score that is no number") from None
    if isnan(score):
        raise Corrupt("a sorted set has a score that is no number")
    return score
