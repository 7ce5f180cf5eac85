"""Bytes in text and buffers: the plain versions of the C functions in the .pxd.

Buffers have room for what is put into them; the functions that put something return where it ends.
"""

from __future__ import annotations

import re

_BLANK = re.compile(rb"[ \t\n\r]*")
_PLAIN = re.compile(rb'[^"\\\0]*')


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


def put_slice(buffer: bytearray, end: int, text: bytes, start: int, stop: int) -> int:
    """Put that part of *text*."""
    buffer[end : end + stop - start] = text[start:stop]
    return end + stop - start
