"""Scores, and the ends of ranges by score and by member, as clients write them.

by score   5   (5   -inf   +inf        a parenthesis leaves the score itself out
by member  [m  (m   -      +           - is before all members, + is after them
"""

from __future__ import annotations

from math import isinf

from protocol.replies import ErrorReply
from server.table import errors
from server.table.args import to_float
from storage import octets
from storage.sorted_sets import bound
from storage.sorted_sets.bound import Bound

NOT_A_SCORE_RANGE = ErrorReply("ERR", "min or max is not a float")
NOT_A_MEMBER_RANGE = ErrorReply("ERR", "min or max not valid string range item")

BLANKS = b" \t\n\v\f\r"
ZERO = b"+-0.x"  # what a text of zero is made of, before its exponent
INT64_DIGITS = 18  # integers of so many have 64 bits; the double nearest to each is found at once


def to_score(text: bytes, error: ErrorReply = errors.NOT_A_FLOAT) -> float:
    """Read a score: a double that is not NaN and neither overflows nor vanishes. Raises *error*."""
    if len(text) <= INT64_DIGITS and (octets.is_int64(text) or text.isdigit()):
        return float(octets.int64_of(text))
    score = to_float(text, error)
    if isinf(score) and b"n" not in text.lower():
        raise error
    if score == 0:
        lower = text.lower()
        if lower.partition(b"p" if b"x" in lower else b"e")[0].strip(ZERO):
            raise error
    return score


def score_bound(text: bytes, is_end: bool) -> Bound:
    """The place where a range by score begins, or with *is_end* ends. Raises NOT_A_SCORE_RANGE."""
    is_open = text.startswith(b"(")
    score = _range_score(text[1:] if is_open else text)
    return bound.at_score(score, is_open != is_end)


def _range_score(text: bytes) -> float:
    """Read a score as strtod does: after blanks, up to a zero byte; nothing at all is 0."""
    if len(text) <= INT64_DIGITS and octets.is_int64(text):
        return float(octets.int64_of(text))
    text = text.partition(b"\0")[0]
    if not text:
        return 0.0
    return to_float(text.lstrip(BLANKS), NOT_A_SCORE_RANGE)


def member_bound(text: bytes, is_end: bool) -> Bound:
    """The place where a range by member begins, or with *is_end* ends.

    Raises NOT_A_MEMBER_RANGE.
    """
    if text == b"-":
        return bound.at_member(None, False)
    if text == b"+":
        return bound.at_member(None, True)
    mark = text[:1]
    if mark not in (b"[", b"("):
        raise NOT_A_MEMBER_RANGE
    return bound.at_member(text[1:], (mark == b"(") != is_end)
