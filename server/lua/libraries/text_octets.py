"""Text between Lua, buffers and JSON: the plain versions of the C functions in the .pxd.

*L* and *at* are as in lua_api. Buffers have room for what is put into them; the functions that put
something return where it ends.
"""

from __future__ import annotations

import re

from server.lua import lua_api as lua

MOST_ESCAPED = 6  # bytes of a character in quotes: backslash, u, four digits
_BLANK = re.compile(rb"[ \t\n\r]*")
_PLAIN = re.compile(rb'[^"\\\0]*')
_SHORT = {8: b"\\b", 9: b"\\t", 10: b"\\n", 12: b"\\f", 13: b"\\r"}
_ESCAPED = {value: _SHORT.get(value, b"\\u%04x" % value) for value in (*range(32), 127)}
_ESCAPED |= {value: b"\\%c" % value for value in b'"\\/'}
_ESCAPES = re.compile(rb'[\0-\x1f"/\\\x7f]')


# ---------------------------------------------------------------------- reading


def byte_at(text: bytes, at: int) -> int:
    """The byte there; 0 where *text* ends."""
    return text[at] if at < len(text) else 0


def blank_end(text: bytes, at: int) -> int:
    """Where the white space ends that may begin there."""
    match = _BLANK.match(text, at)
    assert match is not None
    return match.end()


def plain_end(text: bytes, at: int) -> int:
    """Where next a quote, a backslash or a zero byte stands, or *text* ends."""
    match = _PLAIN.match(text, at)
    assert match is not None
    return match.end()


def starts_with(text: bytes, at: int, word: bytes) -> bool:
    """Whether *word* stands there."""
    return text.startswith(word, at)


def hex_digit(text: bytes, at: int) -> int:
    """The hexadecimal digit there; -1 if it is none."""
    return b"0123456789abcdef".find(text[at : at + 1].lower() or b"-")


def zero_at(text: bytes, at: int) -> int:
    """Where the next zero byte is; -1 if there is none."""
    return text.find(b"\0", at)


# ---------------------------------------------------------------------- writing


def new_buffer(size: int) -> bytearray:
    """A buffer of *size* bytes, whatever they are."""
    return bytearray(size)


def grow(buffer: bytearray, size: int) -> None:
    """Give *buffer* that *size*. What is added are any bytes."""
    buffer.extend(bytes(size - len(buffer)))


def put_lua(L: lua.State, at: int, buffer: bytearray, end: int, size: int) -> int:
    """Put the first *size* bytes of the string at *at* to the *end* of what *buffer* holds."""
    buffer[end : end + size] = lua.to_bytes(L, at)[:size]
    return end + size


def put_slice(buffer: bytearray, end: int, text: bytes, start: int, stop: int) -> int:
    """Put that part of *text*."""
    buffer[end : end + stop - start] = text[start:stop]
    return end + stop - start


def put_quoted(L: lua.State, at: int, buffer: bytearray, end: int) -> int:
    """Put the string at *at* in quotes, as JSON has it."""
    text = b'"%b"' % _ESCAPES.sub(lambda found: _ESCAPED[found[0][0]], lua.to_bytes(L, at))
    buffer[end : end + len(text)] = text
    return end + len(text)


def quoted_size(L: lua.State, at: int) -> int:
    """How many bytes put_quoted puts."""
    text = lua.to_bytes(L, at)
    return 2 + len(text) + sum(len(_ESCAPED[found[0][0]]) - 1 for found in _ESCAPES.finditer(text))


def push_buffer(L: lua.State, buffer: bytearray, end: int) -> None:
    """Push what *buffer* holds, as a string."""
    lua.push_bytes(L, bytes(buffer[:end]))
