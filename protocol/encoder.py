# cython: boundscheck=False, wraparound=False
r"""Replies to bytes, for RESP2 and RESP3; all that RESP2 lacks is converted here.

An Encoder collects the answers to a whole batch of commands, to be taken as one piece. It writes
into a buffer that is longer than what it holds:

    _buffer  |+OK\r\n:1\r\n$3\r\nfoo\r\n..........................|
              0                           _end              len(_buffer)

The buffer is borrowed with the first byte and handed back when all is taken: thousands of idle
clients hold none, and the busy ones pass a few warm ones on to each other.

Source: the RESP specification, https://redis.io/docs/latest/develop/reference/protocol-spec/
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from protocol import octets
from protocol.replies import (
    NO_REPLY,
    NULL_ARRAY,
    BigNumber,
    ErrorReply,
    Pairs,
    Push,
    Reply,
    Set,
    Status,
    Verbatim,
    one_line,
)

START = 4 * 1024  # bytes of a new buffer
KEEP = 1024 * 1024  # bytes; a buffer that a huge reply made larger is not passed on
SPARES = 8  # buffers kept while nobody needs them: more encoders are seldom in use at once
HEAD = 24  # bytes: a mark, a 64-bit number, CRLF
EXACT = 2.0**62  # up to here, whole doubles are written as the integers they are

ARRAY, INTEGER, MAP, SET, PUSH = b"*:%~>"

_NO_BUFFER = bytearray()  # never written to: it has no room
_spares: list[bytearray] = []


class Encoder:
    """Collects replies for a client that speaks RESP *resp* (2 or 3)."""

    __slots__ = ("_buffer", "_end", "resp")

    def __init__(self, resp: int = 2) -> None:
        self.resp = resp
        self._buffer = _NO_BUFFER
        self._end = 0

    def __len__(self) -> int:
        return self._end

    def take(self) -> bytes:
        """All bytes so far; the encoder is empty afterwards."""
        data = octets.cut(self._buffer, 0, self._end)
        self.clear()
        return data

    def clear(self) -> None:
        """Forget all bytes; whoever needed them has read them from the buffer."""
        self._end = 0
        if self._buffer is not _NO_BUFFER:
            if len(_spares) < SPARES and len(self._buffer) <= KEEP:
                _spares.append(self._buffer)
            self._buffer = _NO_BUFFER

    def truncate(self, size: int) -> None:
        """Forget what was written beyond the first *size* bytes."""
        self._end = min(self._end, size)

    # ------------------------------------------------------------------ values

    def write(self, reply: Reply) -> None:
        """Append *reply*, whatever it is.

        Raises TypeError for what RESP has no word for, OverflowError for a plain int of more than
        64 bits; what stood before in a list or dict is written by then (see truncate).
        """
        if type(reply) is bytes:
            self.bulk(reply)
        elif type(reply) is int:
            self.integer(reply)
        elif type(reply) is list or type(reply) is tuple:
            self._write_items(ARRAY, reply)
        elif reply is None:
            self.null()
        elif type(reply) is Status:
            self.raw(reply.line)
        elif type(reply) is Encoder:
            self.append(reply)
        elif reply is NULL_ARRAY:
            self.null_array()
        else:
            self._write_rare(reply)

    def _write_rare(self, reply: Reply) -> None:
        if isinstance(reply, ErrorReply):
            self.error(reply)
        elif isinstance(reply, dict):
            self._write_map(reply)
        elif isinstance(reply, bool):
            self._write_bool(reply)
        elif isinstance(reply, float):
            self._write_float(reply)
        elif isinstance(reply, BigNumber):
            self._write_big_number(reply)
        elif isinstance(reply, Verbatim):
            self._write_verbatim(reply)
        elif isinstance(reply, Set):
            self._write_items(SET if self.resp == 3 else ARRAY, reply)
        elif isinstance(reply, Push):
            self._write_items(PUSH if self.resp == 3 else ARRAY, reply)
        else:
            self._write_subclass(reply)

    def _write_subclass(self, reply: Reply) -> None:
        if isinstance(reply, (bytes, bytearray)):
            self.bulk(bytes(reply))
        elif isinstance(reply, int):
            self.integer(reply)
        elif isinstance(reply, (list, tuple)):
            self._write_items(ARRAY, reply)
        elif reply is not NO_REPLY:
            raise TypeError(f"no RESP type for {type(reply).__name__}")

    def _write_items(self, mark: int, items: Sequence[Reply]) -> None:
        self._head(mark, len(items))
        for item in items:
            self.write(item)

    def _write_map(self, reply: dict[bytes, Reply]) -> None:
        in_pairs = self.resp == 2 and isinstance(reply, Pairs)
        if in_pairs:
            self.array(len(reply))
        else:
            self.map(len(reply))
        for key, value in reply.items():
            if in_pairs:
                self.array(2)
            self.write(key)
            self.write(value)

    def _write_bool(self, value: bool) -> None:
        if self.resp == 3:
            self.raw(b"#t\r\n" if value else b"#f\r\n")
        else:
            self.integer(1 if value else 0)

    def _write_float(self, value: float) -> None:
        text = double_text(value)
        if self.resp == 3:
            self.raw(b",%b\r\n" % text)
        else:
            self.bulk(text)

    def _write_big_number(self, value: int) -> None:
        text = b"%d" % value
        if self.resp == 3:
            self.raw(b"(%b\r\n" % text)
        else:
            self.bulk(text)

    def _write_verbatim(self, value: Verbatim) -> None:
        if self.resp == 3:
            self.raw(b"=%d\r\n%b:%b\r\n" % (len(value.text) + 4, value.format, value.text))
        else:
            self.bulk(value.text)

    # ------------------------------------------------------------------ writing directly

    def bulk(self, data: bytes) -> None:
        """Append a bulk string."""
        self._reserve(len(data) + HEAD + 2)
        self._end = octets.put_bulk(self._buffer, self._end, data)

    def bulk_slice(self, source: bytearray, start: int, size: int) -> None:
        """Append ``source[start:start + size]``, which must lie within it, as a bulk string."""
        self._reserve(size + HEAD + 2)
        self._end = octets.put_bulk_slice(self._buffer, self._end, source, start, size)

    def bulk_int(self, number: int) -> None:
        """Append the decimal text of a signed 64-bit *number* as a bulk string."""
        self._reserve(2 * HEAD)
        self._end = octets.put_bulk_number(self._buffer, self._end, number)

    def integer(self, number: int) -> None:
        """Append a signed 64-bit integer."""
        self._head(INTEGER, number)

    def array(self, size: int) -> None:
        """Append the head of an array: *size* values follow."""
        self._head(ARRAY, size)

    def map(self, size: int) -> None:
        """Append the head of a map: *size* keys and values follow, in turns."""
        if self.resp == 3:
            self._head(MAP, size)
        else:
            self._head(ARRAY, 2 * size)

    def status(self, text: bytes) -> None:
        """Append a simple string."""
        self.raw(b"+%b\r\n" % one_line(text))

    def error(self, error: ErrorReply) -> None:
        """Append an error. What a client sent may be part of its text: no line end goes out."""
        self.raw(b"-%b\r\n" % one_line(str(error).encode("utf-8", "surrogateescape")))

    def null(self) -> None:
        """Append what stands for a missing value."""
        self.raw(b"$-1\r\n" if self.resp == 2 else b"_\r\n")

    def null_array(self) -> None:
        """Append what stands for a missing array."""
        self.raw(b"*-1\r\n" if self.resp == 2 else b"_\r\n")

    def raw(self, data: bytes) -> None:
        """Append bytes that are RESP already."""
        self._reserve(len(data))
        self._end = octets.put(self._buffer, self._end, data)

    def append(self, other: Encoder) -> None:
        """Append all that *other* holds, which must be written for the same RESP."""
        self._reserve(other._end)
        self._end = octets.put_slice(self._buffer, self._end, other._buffer, 0, other._end)

    def _head(self, mark: int, number: int) -> None:
        self._reserve(HEAD)
        self._end = octets.put_head(self._buffer, self._end, mark, number)

    # ------------------------------------------------------------------ arrays of unknown size

    def open_array(self) -> int:
        """Begin an array whose size is not known yet; returns the mark to close it with."""
        return self._end

    def close_array(self, mark: int, size: int) -> None:
        """The *size* values of the array opened at *mark* are written. O(their bytes)."""
        head = octets.decimal_size(size) + 3
        self._reserve(head)
        octets.shift(self._buffer, mark, self._end, head)
        octets.put_head(self._buffer, mark, ARRAY, size)
        self._end += head

    # ------------------------------------------------------------------ the buffer

    def _reserve(self, size: int) -> None:
        """Make room for *size* more bytes."""
        if size > len(self._buffer) - self._end:
            self._grow(self._end + size)

    def _grow(self, needed: int) -> None:
        if self._buffer is _NO_BUFFER:
            self._buffer = _spares.pop() if _spares else bytearray()
        if needed > len(self._buffer):
            octets.grow(self._buffer, max(needed, 2 * len(self._buffer), START))


def double_text(value: float) -> bytes:
    """The shortest text that reads back as *value*, as redis >= 7.2 writes it: 3, 3.1, 1e+100, inf.

    Source of the bounds beyond which it has an exponent: redis 7.2 (d2string, fpconv_dtoa).
    """
    if not math.isfinite(value):
        return repr(value).encode()  # inf, -inf, nan
    if value.is_integer() and abs(value) <= EXACT:
        return b"%.0f" % value
    number = Decimal(repr(value)).normalize()
    digits = len(number.as_tuple().digits)
    point = number.adjusted()  # as in d.ddde+point
    whole = point >= digits - 1
    positional = point < digits + 7 if whole else digits - 1 - point < 7 or abs(point) < 4
    text = f"{number:f}" if positional else f"{number.scaleb(-point):f}e{point:+d}"
    return text.encode()
