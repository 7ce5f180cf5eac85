"""Replies with their RESP types: read from a stream, and shown in one line.

A reply is ``(type, value)``. *type* is its first byte on the wire; *value* is the text of a line
(``+ - : , # (``), the bytes of a bulk (``$ = !``), or the list of an aggregate's elements
(``* ~ > %``; a map's keys and values alternate). The value of a null is None. Two replies are equal
if and only if their bytes are, since a length with, say, a leading zero is refused.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias, Union

Reply: TypeAlias = tuple[str, Union[bytes, list["Reply"], None]]

CLOSED: Reply = ("closed", None)
WAITING: Reply = ("waiting", None)

_LINES = "+-:,#("
_BULKS = "$=!"
_AGGREGATES = "*~>%"


class Stream(Protocol):
    def readline(self) -> bytes: ...

    def read(self, size: int) -> bytes: ...


class NotResp(Exception):
    """The server sent bytes that are not RESP."""


def read(stream: Stream) -> Reply:
    """The next reply of *stream*; CLOSED at its end. Raises NotResp or TimeoutError."""
    line = stream.readline()
    if not line:
        return CLOSED
    if not line.endswith(b"\r\n"):
        raise NotResp(f"a line without CR LF: {line!r}")
    kind, text = chr(line[0]), line[1:-2]
    if kind in _LINES:
        return kind, text
    if kind == "_" and not text:
        return kind, None
    if kind not in _BULKS + _AGGREGATES:
        raise NotResp(f"no RESP type: {line!r}")
    size = _length(text)
    if size == -1 and kind in "*$":
        return kind, None
    if kind in _BULKS:
        return kind, _bulk(stream, size)
    return kind, [read(stream) for _ in range(size * 2 if kind == "%" else size)]


def _length(text: bytes) -> int:
    size = int(text)
    if b"%d" % size != text or size < -1:
        raise NotResp(f"a length of {text!r}")
    return size


def _bulk(stream: Stream, size: int) -> bytes:
    data = stream.read(size + 2)
    if len(data) != size + 2 or not data.endswith(b"\r\n"):
        raise NotResp(f"a bulk of {size} bytes ends with {data[-4:]!r}")
    return data[:-2]


def show(reply: Reply) -> str:
    """*reply* in one line: ``OK``, ``:3``, ``"bulk"``, ``nil``, ``[:1 "a"]``, ``{"k" :1}``.

    Every null is ``nil``, except the null array of RESP2, which is ``nil[]``.
    """
    kind, value = reply
    if value is None:
        return {"*": "nil[]", "closed": "(closed)", "waiting": "(waiting)"}.get(kind, "nil")
    if isinstance(value, list):
        return _BRACKETS[kind] % " ".join(map(show, value))
    if kind == "$":
        return quoted(value)
    if kind == "=":
        return "=" + quoted(value)
    return ("" if kind == "+" else kind) + text_of(value)


def quoted(data: bytes) -> str:
    """*data* in double quotes, as redis-cli shows and reads it."""
    return '"' + "".join(_ESCAPES.get(byte) or _plain(byte) for byte in data) + '"'


def text_of(data: bytes) -> str:
    """*data* as text, with unprintable bytes escaped."""
    return "".join(map(_plain, data))


_BRACKETS = {"*": "[%s]", "%": "{%s}", "~": "~<%s>", ">": "><%s>"}
_ESCAPES = {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}


def _plain(byte: int) -> str:
    return chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}"
