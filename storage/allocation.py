"""How many bytes the data hold: one counter, as in Redis's zmalloc.

    object                  what it adds when it is made, and subtracts when it is freed
    listpack                the object, its place in a tree or list, and its buffer's memory
    rax, its nodes          the objects, and their branches' blocks as these grow and shrink
    pending entry           the object
    stream, group, consumer the object with its dictionaries, and its name
    quicklist               the object, and the elements that are nodes of their own
    key table               its slots, and its segments with their buffers, texts and strings
    packed table            the same

An object that grows adds the difference at once, so counting costs one addition where memory is
taken, and reading the counter costs nothing: that is done before each command that could add data.
A removed object is subtracted when its last reference goes, which is when its memory is freed.

The sizes are those of the compiled objects, as the allocator rounds them. Spare room in a buffer is
counted, since it is allocated. The allocator's own spare pages are not: the resident size has them.
"""

from __future__ import annotations

from typing import Any

from storage import octets

used = 0  # bytes

_RAW_STRING = 64  # bytes of a bytearray without its buffer
_NUMBER = 32


def used_bytes() -> int:
    """How many bytes all data of this process hold."""
    return used


def of_bytes(text: bytes) -> int:
    """The bytes that *text* takes as an object: a header of 33, rounded up to blocks of 16."""
    return (len(text) + 48) & ~15


def of_string(value: Any) -> int:
    """The bytes that a string's value takes; none for other values, which count themselves."""
    kind = type(value)
    if kind is bytes:
        return of_bytes(value)
    if kind is bytearray:
        return _RAW_STRING + octets.capacity(value)
    return _NUMBER if kind is int else 0
