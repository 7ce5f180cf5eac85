"""Strings of Lua to buffers and back: the plain versions of the C functions in the .pxd.

*L* and *at* are as in lua_api. Buffers have room for what is put at the *end* of what they hold;
the functions that put something return where it ends.
"""

from __future__ import annotations

import re

from server.parts.scripting.lua import lua_api as lua

MOST_ESCAPED = 6  # bytes of a character in quotes: backslash, u, four digits
_SHORT = {8: b"\\b", 9: b"\\t", 10: b"\\n", 12: b"\\f", 13: b"\\r"}
_ESCAPED = {value: _SHORT.get(value, b"\\u%04x" % value) for value in (*range(32), 127)}
_ESCAPED |= {value: b"\\%c" % value for value in b'"\\/'}
_ESCAPES = re.compile(rb'[\0-\x1f"/\\\x7f]')


def put_lua(L: lua.State, at: int, buffer: bytearray, end: int, size: int) -> int:
    """Put the first *size* bytes of the string at *at* to the end."""
    buffer[end : end + size] = lua.to_bytes(L, at)[:size]
    return end + size


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
