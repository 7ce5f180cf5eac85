"""The memory of a word that is still coming: plain versions of the C functions in word_memory.pxd.

    memory   [the word so far, and room behind it]

In C that is the very bytes object that the word will be, which nobody else may see before it is
finished; the list makes it possible to put another in its place when it grows.
"""

from __future__ import annotations

from typing import TypeAlias

Memory: TypeAlias = list[bytearray]


def new() -> Memory:
    """Memory of no bytes."""
    return [bytearray()]


def resize(memory: Memory, size: int) -> None:
    """Make it *size* bytes; what is new is undefined. Raises MemoryError, and then it is empty."""
    memory[0] = memory[0][:size].ljust(size, b"\0")


def view(memory: Memory, start: int, end: int) -> memoryview:
    """The bytes from *start* to *end*, to write into; of no use after the next resize."""
    return memoryview(memory[0])[start:end]


def put(memory: Memory, at: int, data: bytes, start: int, size: int) -> int:
    """Write ``data[start:start + size]`` to *at*, where there is room; where that ends."""
    end = at + size
    memory[0][at:end] = data[start : start + size]
    return end


def finish(memory: Memory, size: int) -> bytes:
    """The first *size* bytes as a word; the memory is empty then."""
    word, memory[0] = bytes(memory[0][:size]), bytearray()
    return word
