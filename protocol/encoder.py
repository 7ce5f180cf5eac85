# cython: boundscheck=False, wraparound=False
r"""Replies to bytes, for RESP2 and RESP3; all that RESP2 lacks is converted here.

An Encoder collects the answers to a whole batch of commands, to be taken as one piece. It writes
into a buffer that is longer than what it holds:

    buffer   |+OK\r\n:1\r\n$3\r\nfoo\r\n..........................|
              0                           end               len(buffer)

An encoder borrows its buffer with the first byte and hands it back when all bytes are taken. So
thousands of idle clients hold no buffer, and the busy ones share a few that are still in the cache.

Large data is not copied. A value of REFER_FROM bytes or more is referred to. A buffer that has
grown to CHUNK bytes becomes a piece, and a new buffer is begun. The pieces come before the buffer:

    _pieces  [b"*2\r\n$70000\r\n", the value, ...]    buffer  |\r\n$3\r\nfoo\r\n............|

Source: the RESP specification, https://redis.io/docs/latest/develop/reference/protocol-spec/
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from octets import buffers
from protocol import wire
from protocol.replies import (
    NO_REPLY,
    NULL_ARRAY,
    BigNumber,
    Encoded,
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
KEEP = 1024 * 1024  # bytes; a buffer that a huge reply made larger is freed, not kept
SHORT = 16 * 1024  # bytes; more buffers up to this length are kept than longer ones
CHUNK = KEEP // 2  # bytes; a buffer that holds this much does not grow further
REFER_FROM = 64 * 1024  # bytes; from this size on, referring to a value costs less than copying it
SPARES = 8  # long buffers that are kept for the next encoder
SHORT_SPARES = 128  # short buffers that are kept: each client answered in one turn needs one
HEAD = 24  # bytes: a mark, a 64-bit number, CRLF
EXACT = 2.0**62  # up to here, whole doubles are written as the integers they are
ALWAYS_POSITIONAL = 1e-3  # a double that is not whole has no exponent from here on,
EXPONENT_FROM = 1e4  # up to here

ARRAY, BULK, INTEGER, MAP, SET, PUSH, DOUBLE = b"*$:%~>,"

_NO_BUFFER = bytearray()  # never written to: it has no room
_spares = [_NO_BUFFER] * SHORT_SPARES  # the first _spare_count of them are there
_spare_count = 0


class Encoder(Encoded):
    """Collects replies for a client that speaks RESP *resp* (2 or 3).

    *limit* (bytes; 0: none) defends the server against a client that asks for more than it reads.
    When replies grow beyond it, they are dropped at once, and so is all that is written afterwards:
    the encoder is *overflown*, and the client must be disconnected. The limit is checked only where
    memory is taken, so the last buffer may be filled beyond it.

    A caller that writes many small pieces may reserve() room for all of them, write into *buffer*
    from *end* on, and set *end* past them.
    """

    __slots__ = ("_in_pieces", "_pieces", "buffer", "end", "limit", "overflown", "resp")

    def __init__(self, resp: int = 2) -> None:
        self._begin(resp, 0)

    def _begin(self, resp: int, limit: int) -> None:
        self.resp = resp
        self.limit = limit
        self.overflown = False
        self.buffer = _NO_BUFFER
        self.end = 0
        self._pieces: list[bytes | bytearray] | None = None
        self._in_pieces = 0  # bytes of all of them

    def __len__(self) -> int:
        return self._in_pieces + self.end

    def size(self) -> int:
        """Bytes that it holds: what len() says, without the way through Python's protocol."""
        return self._in_pieces + self.end

    def buffer_size(self) -> int:
        """Bytes of memory of the buffer that it has borrowed; 0 while it is empty."""
        return len(self.buffer)

    def in_buffer(self) -> int:
        """How many of its bytes are there, and in no piece."""
        return self.end

    def piece_count(self) -> int:
        return 0 if self._pieces is None else len(self._pieces)

    def another(self) -> Encoder:
        """An empty encoder with the same protocol version and limit."""
        made = Encoder.__new__(Encoder)
        made._begin(self.resp, self.limit)  # noqa: SLF001
        return made

    def take(self) -> bytes:
        """All bytes so far; the encoder is empty afterwards."""
        data = buffers.cut(self.buffer, 0, self.end)
        if self._pieces is not None:
            data = b"".join([*self._pieces, data])
        self.clear()
        return data

    def take_pieces(self) -> list[bytes | bytearray]:
        """All bytes so far, as a list of pieces; the encoder is empty afterwards."""
        self._seal()
        pieces = self._pieces
        self.clear()
        return [] if pieces is None else pieces

    def in_pieces(self) -> bool:
        """Whether there is more than the buffer."""
        return self._pieces is not None

    def clear(self) -> None:
        """Forget all bytes, and keep the buffer for the next encoder, unless enough are kept."""
        global _spare_count  # noqa: PLW0603  (all encoders of the process share the spares)
        self.end = 0
        self._pieces = None
        self._in_pieces = 0
        if self.buffer is not _NO_BUFFER:
            size = len(self.buffer)
            if size <= KEEP and _spare_count < (SHORT_SPARES if size <= SHORT else SPARES):
                _spares[_spare_count] = self.buffer
                _spare_count += 1
            self.buffer = _NO_BUFFER

    def truncate(self, size: int) -> None:
        """Forget what was written beyond the first *size* bytes."""
        if size < self._in_pieces:
            self.end = 0
            while size < self._in_pieces and self._pieces is not None:
                piece = self._pieces.pop()
                self._in_pieces -= len(piece)
                if size > self._in_pieces:
                    self._pieces.append(piece[: size - self._in_pieces])
                    self._in_pieces = size
        else:
            self.end = min(self.end, size - self._in_pieces)

    # ------------------------------------------------------------------ values

    def write(self, reply: Reply) -> None:
        """Append *reply*, whatever it is.

        Raises TypeError for a class that RESP cannot express, OverflowError for a plain int of more
        than 64 bits. What comes before it in a list or dict has been written by then: see truncate.
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
            status: Status = reply
            self.raw(status.line)
        elif type(reply) is Encoder:
            self.append(reply)
        elif reply is NULL_ARRAY:
            self.null_array()
        elif type(reply) is float:
            self.real(reply)
        else:
            self._write_rare(reply)

    def _write_rare(self, reply: Reply) -> None:
        if isinstance(reply, ErrorReply):
            self.error(reply)
        elif isinstance(reply, dict):
            self._write_map(reply)
        elif isinstance(reply, bool) and self.resp == 3:
            self.raw(b"#t\r\n" if reply else b"#f\r\n")
        elif isinstance(reply, float):
            self._write_float(reply)
        elif isinstance(reply, BigNumber):
            text = b"%d" % reply
            if self.resp == 3:
                self.raw(b"(%b\r\n" % text)
            else:
                self.bulk(text)
        elif isinstance(reply, Verbatim):
            if self.resp == 3:
                self.raw(b"=%d\r\n%b:%b\r\n" % (len(reply.text) + 4, reply.format, reply.text))
            else:
                self.bulk(reply.text)
        elif isinstance(reply, Set):
            self._write_items(SET if self.resp == 3 else ARRAY, reply)
        elif isinstance(reply, Push):
            self._write_items(PUSH if self.resp == 3 else ARRAY, reply)
        elif isinstance(reply, (bytes, bytearray)):
            self.bulk(bytes(reply))
        elif isinstance(reply, int):
            self.integer(int(reply))
        elif isinstance(reply, (list, tuple)):
            self._write_items(ARRAY, reply)
        elif reply is not NO_REPLY:
            raise TypeError(f"no RESP type for {type(reply).__name__}")

    def _write_items(self, mark: int, items: Sequence[Reply]) -> None:
        self._head(mark, len(items))
        for item in items:
            if type(item) is bytes:  # as most often
                self.bulk(item)
            else:
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

    def _write_float(self, value: float) -> None:
        text = double_text(value)
        if self.resp == 3:
            self.raw(b",%b\r\n" % text)
        else:
            self.bulk(text)

    # ------------------------------------------------------------------ writing directly

    def bulk(self, data: bytes) -> None:
        """Append a bulk string."""
        if len(data) < REFER_FROM:
            self.reserve(len(data) + HEAD + 2)
            self.end = wire.put_bulk(self.buffer, self.end, data)
            return
        self._head(BULK, len(data))
        self._seal()
        if self._add_piece(data, len(data)):
            self.raw(b"\r\n")

    def bulk_slice(self, source: bytearray, start: int, size: int) -> None:
        """Append ``source[start:start + size]``, which must lie within it, as a bulk string."""
        self.reserve(size + HEAD + 2)
        self.end = wire.put_bulk_slice(self.buffer, self.end, source, start, size)

    def bulk_int(self, number: int) -> None:
        """Append the decimal text of a signed 64-bit *number* as a bulk string."""
        self.reserve(2 * HEAD)
        self.end = wire.put_bulk_number(self.buffer, self.end, number)

    def real(self, value: float) -> None:
        """Append a double: in RESP2 its text as a bulk string."""
        if -EXACT <= value <= EXACT:
            number = int(value)
            if number != value:
                self._write_fraction(value)
                return
            if number != 0 or not wire.is_negative(value):
                if self.resp == 3:
                    self._head(DOUBLE, number)
                else:
                    self.bulk_int(number)
                return
        self._write_float(value)

    def _write_fraction(self, value: float) -> None:
        self.reserve(2 * HEAD)
        end = wire.put_fraction(self.buffer, self.end, value, self.resp == 2)
        if end < 0:
            self._write_float(value)
        else:
            self.end = end

    def _head(self, mark: int, number: int) -> None:
        """Append the byte *mark*, a signed 64-bit *number* and a line end."""
        self.reserve(HEAD)
        self.end = wire.put_head(self.buffer, self.end, mark, number)

    def integer(self, number: int) -> None:
        """Append a signed 64-bit integer."""
        self.reserve(HEAD)
        self.end = wire.put_head(self.buffer, self.end, INTEGER, number)

    def array(self, size: int) -> None:
        """Append the head of an array: *size* values follow."""
        self.reserve(HEAD)
        self.end = wire.put_head(self.buffer, self.end, ARRAY, size)

    def map(self, size: int) -> None:
        """Append the head of a map: *size* keys and values follow, in turns."""
        if self.resp == 3:
            self._head(MAP, size)
        else:
            self._head(ARRAY, 2 * size)

    def set(self, size: int) -> None:
        """Append the head of a set: *size* members follow."""
        self._head(SET if self.resp == 3 else ARRAY, size)

    def status(self, text: bytes) -> None:
        """Append a simple string."""
        self.raw(b"+%b\r\n" % one_line(text))

    def error(self, error: ErrorReply) -> None:
        """Append an error. Its text may hold bytes of a client: line ends in it become blanks."""
        self.raw(b"-%b\r\n" % one_line(str(error).encode("utf-8", "surrogateescape")))

    def null(self) -> None:
        """Append a null."""
        self.raw(b"$-1\r\n" if self.resp == 2 else b"_\r\n")

    def null_array(self) -> None:
        """Append a null array."""
        self.raw(b"*-1\r\n" if self.resp == 2 else b"_\r\n")

    def raw(self, data: bytes) -> None:
        """Append bytes that are RESP already."""
        self.reserve(len(data))
        self.end = buffers.put(self.buffer, self.end, data)

    def append_shared(self, data: bytes) -> None:
        """Append bytes that are RESP already and go to others too: large ones are not copied."""
        if len(data) < REFER_FROM:
            self.raw(data)
        else:
            self._seal()
            self._add_piece(data, len(data))

    def append(self, other: Encoder) -> None:
        """Append all that *other* holds; both must have the same protocol version."""
        if other.overflown:
            self._overflow()
        elif other._pieces is None and other.end < CHUNK:
            self.reserve(other.end)
            self.end = buffers.put_slice(self.buffer, self.end, other.buffer, 0, other.end)
        else:
            self._seal()
            other._seal()
            for piece in other._pieces or ():
                self._add_piece(piece, len(piece))

    def move(self, other: Encoder) -> None:
        """Append all that *other* holds, and empty *other*. If this is empty, nothing is copied."""
        if self._in_pieces + self.end or self.overflown or other.overflown:
            self.append(other)
        else:
            self.buffer, other.buffer = other.buffer, self.buffer
            self.end, other.end = other.end, 0
            self._pieces, other._pieces = other._pieces, None
            self._in_pieces, other._in_pieces = other._in_pieces, 0
        other.clear()

    # ------------------------------------------------------------------ arrays of unknown size

    def open_array(self) -> int:
        """Begin an array whose size is not known yet; returns the mark to close it with."""
        return self._in_pieces + self.end

    def close_array(self, mark: int, size: int) -> None:
        """The *size* values of the array opened at *mark* are written. O(their bytes)."""
        head = wire.decimal_size(size) + 3
        self.reserve(head)
        if self.overflown:
            return
        if mark < self._in_pieces:
            self._insert(mark, b"*%d\r\n" % size)
            return
        mark -= self._in_pieces
        buffers.move(self.buffer, mark + head, mark, self.end - mark)
        wire.put_head(self.buffer, mark, ARRAY, size)
        self.end += head

    def _insert(self, at: int, data: bytes) -> None:
        """Put *data* among the pieces, before their byte *at*."""
        assert self._pieces is not None
        index, size = 0, len(data)
        while at >= len(self._pieces[index]):
            at -= len(self._pieces[index])
            index += 1
        if at:
            piece = self._pieces[index]
            self._pieces[index : index + 1] = [piece[:at], data, piece[at:]]
        else:
            self._pieces.insert(index, data)
        self._in_pieces += size  # not before it is there: there may be no memory for that

    # ------------------------------------------------------------------ the buffer

    def reserve(self, size: int) -> None:
        """Make room for *size* more bytes, in the buffer or in a longer one.

        1. Beyond the limit nothing is kept: the next bytes are written over the ones before.
        2. A long buffer becomes a piece.
        3. Without a buffer, one that was kept will do; one that is too short grows.
        """
        global _spare_count  # noqa: PLW0603  (all encoders of the process share the spares)
        if size <= len(self.buffer) - self.end:
            return
        if self.limit and self._in_pieces + self.end + size > self.limit:  # 1
            self._overflow()
        if self.overflown:
            self.end = 0
        elif self.end >= CHUNK:  # 2
            self._seal()
        if self.buffer is _NO_BUFFER:  # 3
            if _spare_count:
                _spare_count -= 1
                self.buffer = _spares[_spare_count]
                _spares[_spare_count] = _NO_BUFFER
            else:
                self.buffer = bytearray()
        if self.end + size > len(self.buffer):
            least = START if self._pieces is None else CHUNK
            buffers.resize(self.buffer, max(self.end + size, 2 * len(self.buffer), least))

    def _seal(self) -> None:
        """Make a piece of the buffer's bytes: the buffer itself if they are many, else a copy."""
        if self.end == 0 or self.overflown:
            return
        end = self.end
        if end < REFER_FROM:
            self._add_piece(buffers.cut(self.buffer, 0, end), end)
        else:
            buffers.resize(self.buffer, end)
            self._add_piece(self.buffer, end)
            self.buffer = _NO_BUFFER
        self.end = 0  # not before it is a piece: there may be no memory for that

    def _add_piece(self, piece: bytes | bytearray, size: int) -> bool:
        """Add *piece* at the end; the buffer must be empty. False if it exceeds the limit."""
        if self.limit and self._in_pieces + size > self.limit:
            self._overflow()
        if self.overflown:
            return False
        if self._pieces is None:
            self._pieces = []
        self._pieces.append(piece)
        self._in_pieces += size
        return True

    def _overflow(self) -> None:
        """The limit is exceeded: give the memory back."""
        self.clear()
        self.overflown = True


def double_text(value: float) -> bytes:
    """The shortest text that reads back as *value*, as redis >= 7.2 writes it: 3, 3.1, 1e+100, inf.

    Source of the bounds beyond which it has an exponent: redis 7.2 (d2string, fpconv_dtoa).
    """
    if not math.isfinite(value):
        return repr(value).encode()  # inf, -inf, nan
    if value.is_integer() and abs(value) <= EXACT:
        return b"%.0f" % value
    if ALWAYS_POSITIONAL <= abs(value) < EXPONENT_FROM:
        return repr(value).encode()
    from decimal import Decimal  # noqa: PLC0415  (for such numbers alone: it is large)

    number = Decimal(repr(value)).normalize()
    digits = len(number.as_tuple().digits)
    point = number.adjusted()  # as in d.ddde+point
    whole = point >= digits - 1
    positional = point < digits + 7 if whole else digits - 1 - point < 7 or abs(point) < 4
    text = f"{number:f}" if positional else f"{number.scaleb(-point):f}e{point:+d}"
    return text.encode()
