"""What SORT compares: the doubles that texts are, and what patterns find for an element."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from operator import itemgetter

from protocol.replies import ErrorReply
from server.dispatch.call import Call
from server.table.args import to_float
from storage import octets
from storage.hashes.hash import Hash
from storage.keyspace.key_lookups import ANY

NOT_A_DOUBLE = ErrorReply("ERR", "One or more scores can't be converted into double")

ITSELF = b"#"
BLANKS = b" \t\n\v\f\r"
EXACT_DIGITS = 15  # integers of so many are doubles exactly


def by_number(
    elements: list[bytes], texts: Sequence[bytes | None], descending: bool
) -> list[bytes]:
    """*elements* by the doubles that *texts* are, and by their bytes where these are equal."""
    rows = [(_double(text), element) for text, element in zip(texts, elements, strict=True)]
    rows.sort(key=itemgetter(0), reverse=descending)
    first = 0
    for end in range(1, len(rows) + 1):
        if end == len(rows) or rows[end][0] != rows[first][0]:
            if end - first > 1:
                rows[first:end] = sorted(rows[first:end], reverse=descending)
            first = end
    return [element for _, element in rows]


def _double(text: bytes | None) -> float:
    """The double that *text* says as strtod reads it; 0 if there is none."""
    if text is None:
        return 0.0
    if len(text) <= EXACT_DIGITS and octets.is_int64(text):
        return float(octets.int64_of(text))
    text = text.partition(b"\0")[0]
    if not text:
        return 0.0
    number = to_float(text.lstrip(BLANKS), NOT_A_DOUBLE)
    if isinf(number) and b"n" not in text.lower():
        raise NOT_A_DOUBLE
    return number


class Pattern:
    """What BY or GET finds for an element: a string, a field of a hash, itself, or nothing."""

    __slots__ = ("_before", "_behind", "_field", "_is_itself", "_names_keys")

    def __init__(self, text: bytes) -> None:
        self._is_itself = text == ITSELF
        self._before, star, rest = text.partition(b"*")
        self._names_keys = bool(star)
        self._behind, _, self._field = rest.partition(b"->")
        if not self._field:
            self._behind = rest

    def lookup(self, call: Call, element: bytes) -> bytes | None:
        """What it finds for *element*."""
        if self._is_itself:
            return element
        if not self._names_keys:
            return None
        value = call.db.read(self._before + element + self._behind, ANY)
        if type(value) is bytes and not self._field:
            return value
        if isinstance(value, Hash):
            return value.get(self._field) if self._field else None
        if self._field:
            return None
        if isinstance(value, int):
            return b"%d" % value
        return bytes(value) if isinstance(value, bytearray) else None
