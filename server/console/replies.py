r"""Replies as JSON: RESP3 in, text out, a piece at a time.

    $3\r\nfoo\r\n       "foo"                      if the bytes are UTF-8
    $1\r\n\xff\r\n      {"base64":"/w=="}          if they are not
    +OK\r\n             "OK"
    =7\r\ntxt:foo\r\n   "foo"
    :7\r\n              7                          up to 2^53, which a browser's numbers can hold
    (12345..\r\n        {"number":"12345.."}       and beyond
    ,1.5\r\n            1.5
    ,inf\r\n            {"number":"inf"}           -inf and nan, too
    _\r\n               null
    #t\r\n              true
    *2\r\n..            [..,..]
    %1\r\n..            {"map":[[key,value]]}
    ~2\r\n..            {"set":[..,..]}
    -ERR no\r\n         {"error":"ERR no"}
    >2\r\n..            nothing: a push answers no command
    |1\r\n..            nothing: an attribute is no part of the reply

What is read here comes from the server's own encoder, so it is well formed.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring
from math import isfinite

PIECE = 1000  # values in a piece: about a millisecond, so that others are not held up
PIECE_BYTES = 64 * 1024  # or so many bytes of long ones
SHORT = 256  # bytes; of such replies
TOGETHER = 512  # texts are one piece, commas included
EXACT = 2**53

ERROR, BULK_ERROR, PUSH, ATTRIBUTE = b"-!>|"
STATUS, BULK, VERBATIM = b"+$="
INTEGER, BIG_NUMBER, DOUBLE, NULL, BOOLEAN = b":(,_#"
ARRAY, SET, MAP = b"*~%"
SIZED = frozenset((BULK, BULK_ERROR, VERBATIM))
NESTED = {ARRAY: ("[", "]"), SET: ('{"set":[', "]}"), MAP: ('{"map":[', "]}")}
FORMAT = 4  # bytes before a verbatim text: `txt:`


def is_error(reply: bytes) -> bool:
    """Whether *reply* as a whole is an error."""
    return reply[:1] in {b"-", b"!"}


def error_reply(text: str) -> bytes:
    """An error of the console's own, as the server would have sent it."""
    return b"-%b\r\n" % " ".join(text.split()).encode()


def error_text(reply: bytes) -> str:
    """What the error *reply* says."""
    return reply[1:].split(b"\r\n", 1)[0].decode("utf-8", "replace")


def after_pushes(data: bytes) -> bytes:
    """*data* without the pushes that it begins with; b"" if there is nothing else."""
    at = 0
    while at < len(data) and data[at] == PUSH:
        at = end_of(data, at)
    return data[at:] if at else data


def end_of(data: bytes, at: int) -> int:
    """Where the value ends that begins *at*."""
    left = 1
    while left:
        left -= 1
        mark, head, at = _head(data, at)
        if mark in SIZED:
            at += max(int(head), -2) + 2
        elif mark in NESTED or mark in {PUSH, ATTRIBUTE}:
            size = max(int(head), 0)
            left += 2 * size if mark in {MAP, ATTRIBUTE} else size
            left += mark == ATTRIBUTE  # the value that it is said of
    return at


def text_json(data: bytes) -> str:
    """Bytes as JSON: a text, or what they are in base64."""
    try:
        return encode_basestring(data.decode())
    except UnicodeDecodeError:
        return '{"base64":"%s"}' % b64encode(data).decode()  # noqa: UP031  (braces)


def text_value(data: bytes) -> str | dict[str, str]:
    """Bytes as a value that JSON can be made of: a text, or what they are in base64."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}


def json_of(reply: bytes) -> str:
    """The whole of a *reply* that is short."""
    return "".join(pieces(reply))


def pieces(reply: bytes) -> Iterator[str]:
    """The JSON of *reply*, cut after every PIECE values."""
    return _Reading(reply).pieces()


def array_of(replies: Sequence[bytes]) -> Iterator[str]:
    """The JSON of a list of *replies*; short ones stand in one piece together."""
    texts: list[str] = []
    for number, reply in enumerate(replies):
        texts.append("," if number else "[")
        if len(reply) <= SHORT:
            texts.append(json_of(reply))
            if len(texts) < TOGETHER:
                continue
        yield "".join(texts)
        texts.clear()
        if len(reply) > SHORT:
            yield from pieces(reply)
    yield "".join(texts) + ("]" if replies else "[]")


class _Level:
    """An array, set or map that is being written: *written* of its *size* values are."""

    __slots__ = ("closer", "is_map", "size", "written")

    def __init__(self, size: int, closer: str, is_map: bool) -> None:
        self.size = size
        self.closer = closer
        self.is_map = is_map
        self.written = 0


class _Reading:
    """A walk over one reply, without recursion: what is nested deeply is no danger."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._out: list[str] = []
        self._open: list[_Level] = []

    def pieces(self) -> Iterator[str]:
        """All text, piece by piece."""
        values = begun_at = 0
        is_whole = False
        while not is_whole:
            is_whole = self._take()
            values += 1
            if values == PIECE or self._at - begun_at > PIECE_BYTES:
                yield self._taken()
                values, begun_at = 0, self._at
        yield self._taken()

    def _taken(self) -> str:
        text = "".join(self._out)
        self._out.clear()
        return text

    def _take(self) -> bool:
        """Write the next value, or the beginning of one. Whether all is written."""
        self._skip_attributes()
        mark, head, self._at = _head(self._data, self._at)
        self._separate()
        if mark not in NESTED:
            self._out.append(self._scalar(mark, head))
            return self._value_written()
        opener, closer = NESTED[mark]
        size = int(head)
        if size > 0:
            self._out.append(opener)
            self._open.append(_Level(size * 2 if mark == MAP else size, closer, mark == MAP))
            return False
        self._out.append("null" if size else opener + closer)
        return self._value_written()

    def _skip_attributes(self) -> None:
        while self._data[self._at] == ATTRIBUTE:
            _, head, self._at = _head(self._data, self._at)
            for _ in range(2 * int(head)):
                self._at = end_of(self._data, self._at)

    def _separate(self) -> None:
        """Write what stands before a value of an array or a map."""
        if not self._open:
            return
        level = self._open[-1]
        if level.written:
            self._out.append(",")
        if level.is_map and level.written % 2 == 0:
            self._out.append("[")

    def _value_written(self) -> bool:
        """Close what is whole by now. Whether that is everything."""
        while self._open:
            level = self._open[-1]
            level.written += 1
            if level.is_map and level.written % 2 == 0:
                self._out.append("]")
            if level.written < level.size:
                return False
            self._out.append(level.closer)
            self._open.pop()
        return True

    def _scalar(self, mark: int, head: bytes) -> str:
        if mark in SIZED:
            return self._sized(mark, int(head))
        if mark == STATUS:
            return text_json(head)
        if mark == INTEGER:
            return integer_json(int(head))
        if mark == DOUBLE:
            return _double(head.decode())
        if mark == BIG_NUMBER:
            return _number(head.decode())
        if mark == NULL:
            return "null"
        if mark == BOOLEAN:
            return "true" if head == b"t" else "false"
        if mark == ERROR:
            return _error(head)
        raise ValueError(f"no reply begins with {chr(mark)!r}")

    def _sized(self, mark: int, size: int) -> str:
        if size < 0:
            return "null"
        start, end = self._at, self._at + size
        self._at = end + 2
        if mark == VERBATIM:
            start += FORMAT
        data = self._data[start:end]
        return _error(data) if mark == BULK_ERROR else text_json(data)


def integer_json(number: int) -> str:
    """An integer, as text if a browser's numbers could not hold it."""
    return str(number) if -EXACT <= number <= EXACT else _number(str(number))


def _double(text: str) -> str:
    number = float(text)
    return repr(number) if isfinite(number) else _number(text)


def _number(text: str) -> str:
    return f'{{"number":"{text}"}}'


def _error(text: bytes) -> str:
    return f'{{"error":{encode_basestring(text.decode("utf-8", "replace"))}}}'


def _head(data: bytes, at: int) -> tuple[int, bytes, int]:
    """The mark of the value *at*, the rest of its first line, and where the next line begins."""
    end = data.index(b"\r\n", at)
    return data[at], data[at + 1 : end], end + 2
