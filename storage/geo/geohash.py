"""A place on the earth as a score: the plain versions of the C functions.

The earth between 85.05 degrees south and north is a grid. At step s it has 2**s columns, which are
numbered from west to east, and 2**s rows, from south to north. The *bits* of a cell are those of
its column (c) and its row (r) in turns:

    step 1         step 2                            step 26
    +----+----+    +------+------+------+------+
    | 01 | 11 |    | 0101 | 0111 | 1101 | 1111 |
    |    |    |    +------+------+------+------+
    |    |    |    | 0100 | 0110 | 1100 | 1110 |
    +----+----+    +------+------+------+------+     51  50  49  48       1   0
    | 00 | 10 |    | 0001 | 0011 | 1001 | 1011 |     c25 r25 c24 r24 ...  c0  r0
    |    |    |    +------+------+------+------+
    |    |    |    | 0000 | 0010 | 1000 | 1010 |     a score: a whole number of 52 bits,
    +----+----+    +------+------+------+------+     which a double holds exactly

A cell of a coarser step has the first bits of all cells in it. So its places are one range of
scores: from its bits, filled up with zeros, to before the next bits, filled up with zeros.

A place at 180 degrees east or 85.05 degrees north is in a column or row beyond the last one. What
is read from a score of any size is cut to the limits of longitude and latitude, as Redis does.
Compiled, no function checks its arguments: callers do.
"""

from __future__ import annotations

import math
import re

LONGITUDE_MAX = 180.0  # degrees
LATITUDE_MAX = 85.05112878  # degrees; further north Mercator's maps are too high
WIDTH = 360.0  # degrees
HEIGHT = 170.10225756
FINEST = 26  # the step of scores
BITS_64 = 2**64 - 1
EVEN = 0x5555555555555555
LETTERS = b"0123456789bcdefghjkmnpqrstuvwxyz"  # of geohashes: no a, i, l, o
SHORT = 15  # digits of a whole number that is a double exactly
TEXT_BITS = 50  # that are in a geohash of Redis; its last letter is always 0

_SHORT_DECIMAL = re.compile(rb"-?[0-9]+\.[0-9]+")

# ---------------------------------------------------------------------- bits


def spread(number: int) -> int:
    """The 32 bits of *number*, each followed by a 0 on its left."""
    number = (number | number << 16) & 0x0000FFFF0000FFFF
    number = (number | number << 8) & 0x00FF00FF00FF00FF
    number = (number | number << 4) & 0x0F0F0F0F0F0F0F0F
    number = (number | number << 2) & 0x3333333333333333
    return (number | number << 1) & EVEN


def gathered(bits: int) -> int:
    """Every other bit, from the lowest one on: what spread() was given."""
    bits &= EVEN
    bits = (bits | bits >> 1) & 0x3333333333333333
    bits = (bits | bits >> 2) & 0x0F0F0F0F0F0F0F0F
    bits = (bits | bits >> 4) & 0x00FF00FF00FF00FF
    bits = (bits | bits >> 8) & 0x0000FFFF0000FFFF
    return (bits | bits >> 16) & 0x00000000FFFFFFFF


def cell(column: int, row: int) -> int:
    """The bits of the cell."""
    return spread(column) << 1 | spread(row)


def bits_of(score: float) -> int:
    """The bits that *score* has as a 64-bit number, as an x86-64 converts it."""
    if score >= 2.0**64:
        return 0
    if score < -(2.0**63):
        return 2**63
    return int(score) & BITS_64


# ---------------------------------------------------------------------- degrees


def is_on_map(longitude: float, latitude: float) -> bool:
    """Whether the place is within the limits."""
    return abs(longitude) <= LONGITUDE_MAX and abs(latitude) <= LATITUDE_MAX


def column_of(longitude: float, step: int) -> int:
    """The column in which that longitude is, which must be within the limits."""
    return int((longitude + LONGITUDE_MAX) / WIDTH * (1 << step))


def row_of(latitude: float, step: int) -> int:
    """The row in which that latitude is, which must be within the limits."""
    return int((latitude + LATITUDE_MAX) / HEIGHT * (1 << step))


def west_of(column: int, step: int) -> float:
    """The longitude at which that column begins."""
    return -LONGITUDE_MAX + column / (1 << step) * WIDTH


def south_of(row: int, step: int) -> float:
    """The latitude at which that row begins."""
    return -LATITUDE_MAX + row / (1 << step) * HEIGHT


def score_of(longitude: float, latitude: float) -> float:
    """The score of the place, which must be within the limits."""
    return float(cell(column_of(longitude, FINEST), row_of(latitude, FINEST)))


def longitude_of(score: float) -> float:
    """The longitude in the middle of the cell that the score names."""
    column = gathered(bits_of(score) >> 1)
    middle = (west_of(column, FINEST) + west_of(column + 1, FINEST)) / 2
    return max(-LONGITUDE_MAX, min(LONGITUDE_MAX, middle))


def latitude_of(score: float) -> float:
    """The latitude in the middle of the cell that the score names."""
    row = gathered(bits_of(score))
    middle = (south_of(row, FINEST) + south_of(row + 1, FINEST)) / 2
    return max(-LATITUDE_MAX, min(LATITUDE_MAX, middle))


# ---------------------------------------------------------------------- texts


def degrees_text(degrees: float) -> bytes:
    """An angle of up to 180 degrees with up to 17 digits after the point; no zeros at the end."""
    return (b"%.17f" % degrees).rstrip(b"0").rstrip(b".")


def read_degrees(text: bytes) -> float:
    """The double that *text* says, if it has a point and up to 15 digits; else infinity.

    The digits are a whole number, and so is what it is divided by: both are doubles exactly.
    """
    if not _SHORT_DECIMAL.fullmatch(text):
        return math.inf
    whole, _, behind = text.partition(b".")
    if len(whole.lstrip(b"-")) + len(behind) > SHORT:
        return math.inf
    number: float = int(whole.lstrip(b"-") + behind) / 10 ** len(behind)
    return -number if text.startswith(b"-") else number


def text_of(score: float) -> bytes:
    """The geohash, 11 letters, of the place that has that score.

    Geohashes have a grid of their own, which reaches from pole to pole.
    """
    column = int((longitude_of(score) + 180.0) / 360.0 * (1 << FINEST))
    row = int((latitude_of(score) + 90.0) / 180.0 * (1 << FINEST))
    bits = cell(column, row) >> 2
    shifts = range(TEXT_BITS - 5, -1, -5)
    return bytes(LETTERS[bits >> shift & 31] for shift in shifts) + LETTERS[:1]
