# cython: boundscheck=False, wraparound=False
"""Replies to bytes, for RESP2 and RESP3; all that RESP2 lacks is converted here.

An Encoder collects the answers to a whole batch of commands, to be taken as one piece. It writes
into a buffer that is longer than what it holds:

    _buffer  |+OK\\r\\n:1\\r\\n$3\\r\\nfoo\\r\\n..........................|
              0                           _end              len(_buffer)

The buffer is kept from batch to batch; one that had to grow beyond KEEP bytes is given back.

Source: the RESP specification, https://redis.io/docs/latest/develop/reference/protocol-spec/
"""

from __future__ import annotations

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
)

START = 1024  # bytes; a client that has asked for little costs little
KEEP = 64 * 1024  # bytes; a client that once got a huge reply does not hold its memory for ever
EXACT = 1e17  # doubles below it that are whole are written without an exponent
LINE = 24  # bytes: a mark, a 64-bit number, CRLF

ARRAY, BULK, INTEGER, MAP, SET, PUSH = b"*$:%~>"


class Encoder:
    """Collects replies for a client that speaks RESP *resp* (2 or 3)."""

    __slots__ = ("_buffer", "_end", "resp")

    def __init__(self, resp: int = 2) -> None:
        self.resp = resp
        self._buffer = bytearray()
        self._end = 0

    def __len__(self) -> int:
        return self._end

    def take(self) -> bytes:
        """All bytes so far; the encoder is empty afterwards."""
        data = octets.cut(self._buffer, 0, self._end)
        self._end = 0
        if len(self._buffer) > KEEP:
            self._buffer = bytearray()
        return data

    def truncate(self, size: int) -> None:
        """Forget what was written beyond the first *size* bytes."""
        self._end = min(self._end, size)

    def _reserve(self, size: int) -> None:
        """Make room for *size* more bytes."""
        needed = self._end + size
        if needed > len(self._buffer):
            octets.grow(self._buffer, max(needed, 2 * len(self._buffer), START))

    # ------------------------------------------------------------------ values

    def write(self, reply: Reply) -> None:
        """Append *reply*, whatever it is. Raises TypeError for what RESP has no word for."""
        if type(reply) is bytes:
            self.bulk(reply)
        elif type(reply) is int:
            self.integer(reply)
        elif type(reply) is Status:
            self.raw(reply.line)
        elif type(reply) is list or type(reply) is tuple:
            self.array(len(reply))
            for item in reply:
                self.write(item)
        elif reply is None:
            self.null()
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
            self._boolean(reply)
        elif isinstance(reply, float):
            self._double(reply)
        elif isinstance(reply, BigNumber):
            self._big_number(reply)
        elif isinstance(reply, Verbatim):
            self._verbatim(reply)
        elif isinstance(reply, (Set, Push)):
            self._write_marked(SET if isinstance(reply, Set) else PUSH, reply)
        elif isinstance(reply, (bytes, bytearray)):
            self.bulk(bytes(reply))
        elif reply is not NO_REPLY:
            raise TypeError(f"no RESP type for {type(reply).__name__}")

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

    def _write_marked(self, mark: int, items: list[Reply]) -> None:
        self._line(mark if self.resp == 3 else ARRAY, len(items))
        for item in items:
            self.write(item)

    def _boolean(self, value: bool) -> None:
        if self.resp == 3:
            self.raw(b"#t\r\n" if value else b"#f\r\n")
        else:
            self.integer(1 if value else 0)

    def _double(self, value: float) -> None:
        text = double_text(value)
        if self.resp == 3:
            self.raw(b",%b\r\n" % text)
        else:
            self.bulk(text)

    def _big_number(self, value: int) -> None:
        text = b"%d" % value
        if self.resp == 3:
            self.raw(b"(%b\r\n" % text)
        else:
            self.bulk(text)

    def _verbatim(self, value: Verbatim) -> None:
        if self.resp == 3:
            self.raw(b"=%d\r\n%b:%b\r\n" % (len(value.text) + 4, value.format, value.text))
        else:
            self.bulk(value.text)

    # ------------------------------------------------------------------ writing directly

    def raw(self, data: bytes) -> None:
        """Append bytes that are RESP already."""
        self._reserve(len(data))
        self._end = octets.put(self._buffer, self._end, data)

    def append(self, other: Encoder) -> None:
        """Append all that *other* holds."""
        self._reserve(other._end)
        self._end = octets.put_slice(self._buffer, self._end, other._buffer, 0, other._end)

    def bulk(self, data: bytes) -> None:
        """Append a bulk string."""
        size = len(data)
        self._reserve(size + LINE + 2)
        at = octets.put_line(self._buffer, self._end, BULK, size)
        at = octets.put(self._buffer, at, data)
        self._end = octets.put_crlf(self._buffer, at)

    def bulk_slice(self, source: bytearray, start: int, size: int) -> None:
        """Append ``source[start:start + size]`` as a bulk string."""
        self._reserve(size + LINE + 2)
        at = octets.put_line(self._buffer, self._end, BULK, size)
        at = octets.put_slice(self._buffer, at, source, start, size)
        self._end = octets.put_crlf(self._buffer, at)

    def bulk_int(self, number: int) -> None:
        """Append the decimal text of a signed 64-bit *number* as a bulk string."""
        self._reserve(2 * LINE)
        at = octets.put_line(self._buffer, self._end, BULK, octets.decimal_size(number))
        at = octets.put_line(self._buffer, at - 1, 10, number)  # over the LF, which it writes anew
        self._end = at

    def integer(self, number: int) -> None:
        """Append a signed 64-bit integer."""
        self._line(INTEGER, number)

    def array(self, size: int) -> None:
        """Append the head of an array: *size* values follow."""
        self._line(ARRAY, size)

    def map(self, size: int) -> None:
        """Append the head of a map: *size* keys and values follow, in turns."""
        if self.resp == 3:
            self._line(MAP, size)
        else:
            self._line(ARRAY, 2 * size)

    def error(self, error: ErrorReply) -> None:
        """Append an error. What a client sent may be part of its text: no line end goes out."""
        self.raw(b"-%b\r\n" % _one_line(str(error).encode("utf-8", "surrogateescape")))

    def null(self) -> None:
        """Append what stands for a missing value."""
        self.raw(b"$-1\r\n" if self.resp == 2 else b"_\r\n")

    def null_array(self) -> None:
        """Append what stands for a missing array."""
        self.raw(b"*-1\r\n" if self.resp == 2 else b"_\r\n")

    def _line(self, mark: int, number: int) -> None:
        self._reserve(LINE)
        self._end = octets.put_line(self._buffer, self._end, mark, number)

    # ------------------------------------------------------------------ arrays of unknown size

    def open_array(self) -> int:
        """Begin an array whose size is not known yet; returns the mark to close it with."""
        return self._end

    def close_array(self, mark: int, size: int) -> None:
        """The *size* values of the array opened at *mark* are written. O(their bytes)."""
        head = octets.decimal_size(size) + 3
        self._reserve(head)
        octets.shift(self._buffer, mark, self._end, head)
        octets.put_line(self._buffer, mark, ARRAY, size)
        self._end += head


def _one_line(text: bytes) -> bytes:
    if b"\r" in text or b"\n" in text:
        return text.replace(b"\r", b" ").replace(b"\n", b" ")
    return text


def double_text(value: float) -> bytes:
    """The shortest text that reads back as *value*, as redis writes it: 3, 3.1, inf, nan."""
    if value == value // 1 and abs(value) < EXACT:
        return b"%.0f" % value
    return repr(value).encode()
