"""The kinds of values: what TYPE and OBJECT call them, and how one is copied."""

from __future__ import annotations

from typing import Any

from storage.lists.quicklist import QuickList
from storage.stream.stream import Stream

TYPE_NAMES: dict[type, bytes] = {
    bytes: b"string",
    bytearray: b"string",
    int: b"string",
    QuickList: b"list",
    Stream: b"stream",
}

EMBEDDED_UP_TO = 44  # bytes: a longer string is "raw", as where redis keeps it beside its header
MAX_INT_TEXT = 20  # characters of a 64-bit integer, sign included
SHARED_INTEGERS = 10_000  # redis makes one object of each integer below this one
SHARED = 2**31 - 1  # the reference count that such an object shows


def type_name(value: Any) -> bytes:
    """The name that TYPE and SCAN know the type of *value* by."""
    return TYPE_NAMES[type(value)]


def encoding_of(value: Any) -> bytes:
    """What OBJECT ENCODING says of *value*."""
    kind = type(value)
    if kind is bytes:
        return _encoding_of_bytes(value)
    if kind is int:
        return b"int"
    if kind is bytearray:
        return b"raw"
    if kind is Stream:
        return b"stream"
    encoding: bytes = value.encoding
    return encoding


def _encoding_of_bytes(text: bytes) -> bytes:
    if is_integer(text):
        return b"int"
    return b"embstr" if len(text) <= EMBEDDED_UP_TO else b"raw"


def is_integer(text: bytes) -> bool:
    """Whether *text* is what a signed 64-bit integer prints as."""
    if not 0 < len(text) <= MAX_INT_TEXT or not text.removeprefix(b"-").isdigit():
        return False
    number = int(text)
    return -(2**63) <= number < 2**63 and b"%d" % number == text


def reference_count(value: Any) -> int:
    """What OBJECT REFCOUNT says of *value*."""
    kind = type(value)
    if kind is int or (kind is bytes and is_integer(value)):
        return SHARED if 0 <= int(value) < SHARED_INTEGERS else 1
    return 1


def copy_of(value: Any) -> Any:
    """A value like *value* that shares nothing with it that can change. O(size) but for strings."""
    kind = type(value)
    if kind is bytes or kind is int:
        return value
    return value[:] if kind is bytearray else value.copy()
