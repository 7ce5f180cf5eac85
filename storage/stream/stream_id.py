"""Stream ids: ``<unix ms>-<sequence>``, two unsigned 64-bit numbers that only grow.

    1526919030474-55        what clients see: decimal, at most 127 bytes
    00 00 01 63 88 .. 37    the key of an entry in a rax: 16 bytes, both numbers big-endian,
                            so that keys sort as ids do

Hot paths call make_id and parse_id: compiled, they are faster than calling the class.
"""

from __future__ import annotations

import re

from storage import octets
from storage.errors import BadStreamId, IdsExhausted

U64_MAX = 2**64 - 1
MAX_TEXT = 127  # bytes; redis reads ids through a buffer of 128
_MAX_TEXT = MAX_TEXT  # as a C number
_TOP = U64_MAX  # the same as a C number
_TENTH = U64_MAX // 10
_LAST_DIGIT = U64_MAX % 10
LENIENT = b" \t\n\v\f\r+"
LENIENT_ID = re.compile(rb"[ \t\n\v\f\r]*\+?([0-9]+)(?:-[ \t\n\v\f\r]*\+?([0-9]+))?")


class StreamId:
    """The id of an entry. Ordered, hashable, and never changed."""

    __slots__ = ("ms", "seq")

    def __init__(self, ms: int, seq: int) -> None:
        self.ms = ms
        self.seq = seq

    @staticmethod
    def parse(text: bytes, missing_seq: int = 0) -> StreamId:
        """Read ``ms`` or ``ms-seq``. Raises BadStreamId."""
        return parse_id(text, missing_seq)

    def encode(self) -> bytes:
        """The id as clients see it."""
        return octets.format_id(self.ms, self.seq)

    def key(self) -> bytes:
        """The id as a rax key: 16 bytes that sort as ids do."""
        return octets.id_key(self.ms, self.seq)

    def next(self) -> StreamId:
        """The id right after this one. Raises IdsExhausted after the greatest."""
        if self.seq < _TOP:
            return make_id(self.ms, self.seq + 1)
        if self.ms == _TOP:
            raise IdsExhausted
        return make_id(self.ms + 1, 0)

    def prev(self) -> StreamId:
        """The id right before this one. Raises IdsExhausted before 0-0."""
        if self.seq > 0:
            return make_id(self.ms, self.seq - 1)
        if self.ms == 0:
            raise IdsExhausted
        return make_id(self.ms - 1, _TOP)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StreamId) and compare(self, other) == 0

    def __lt__(self, other: StreamId) -> bool:
        return compare(self, other) < 0

    def __le__(self, other: StreamId) -> bool:
        return compare(self, other) <= 0

    def __gt__(self, other: StreamId) -> bool:
        return compare(self, other) > 0

    def __ge__(self, other: StreamId) -> bool:
        return compare(self, other) >= 0

    def __hash__(self) -> int:
        return hash((self.ms, self.seq))

    def __repr__(self) -> str:
        return f"StreamId({self.ms}, {self.seq})"


def make_id(ms: int, seq: int) -> StreamId:
    """StreamId(ms, seq); compiled, it is faster than calling the class."""
    made = StreamId.__new__(StreamId)
    made.ms = ms
    made.seq = seq
    return made


def compare(a: StreamId, b: StreamId) -> int:
    """-1, 0 or 1: whether *a* comes before *b*, is it, or comes after it."""
    if a.ms != b.ms:
        return -1 if a.ms < b.ms else 1
    if a.seq != b.seq:
        return -1 if a.seq < b.seq else 1
    return 0


def parse_id(text: bytes, missing_seq: int = 0) -> StreamId:
    """Read ``ms`` or ``ms-seq``, each number below 2^64. Raises BadStreamId.

    Plain digits are read here; _parse_lenient reads the blanks and plus that Redis accepts.
    """
    ms = number = digits = 0
    dash = False
    for byte in text:
        if 0x30 <= byte <= 0x39:
            digit = byte - 0x30
            if number > _TENTH or (number == _TENTH and digit > _LAST_DIGIT):
                raise BadStreamId(text)
            number = number * 10 + digit
            digits += 1
        elif byte == 0x2D and digits and not dash:
            ms = number
            number = digits = 0
            dash = True
        elif byte in LENIENT and len(text) <= _MAX_TEXT:
            return _parse_lenient(text, missing_seq)
        else:
            raise BadStreamId(text)
    if not digits or len(text) > _MAX_TEXT:
        raise BadStreamId(text)
    return make_id(ms, number) if dash else make_id(number, missing_seq)


def _parse_lenient(text: bytes, missing_seq: int) -> StreamId:
    """Read numbers as strtoull does, Redis's fallback, but without a minus."""
    found = LENIENT_ID.fullmatch(text)
    if found is None:
        raise BadStreamId(text)
    ms, seq = int(found[1]), int(found[2]) if found[2] is not None else missing_seq
    if max(ms, seq) > U64_MAX:
        raise BadStreamId(text)
    return make_id(ms, seq)


def parse_auto_seq(text: bytes) -> int | None:
    """The ms of ``ms-*``, whose sequence the stream chooses; None for any other form.

    Raises BadStreamId if what stands before ``-*`` is not a number.
    """
    if not text.endswith(b"-*") or len(text) > _MAX_TEXT:
        return None
    head = text[:-2]
    if b"-" in head:
        raise BadStreamId(text)
    return parse_id(head).ms


def from_key(key: bytes) -> StreamId:
    """The id whose rax key is *key*."""
    return make_id(octets.u64_be(key, 0), octets.u64_be(key, 8))


ZERO = StreamId(0, 0)
MAX = StreamId(U64_MAX, U64_MAX)
