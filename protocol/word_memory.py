"""The memory of a word that is still coming: plain versions of the C functions in word_memory.pxd.

    memory   [the word so far, and room after it]

In C the memory is already the bytes object that the word will be, so nobody else may see it before
it is finished. It stands in a list, so that another object can take its place when it grows.
"""

from __future__ import annotations

from typing import TypeAlias

Memory: TypeAlias = list[bytearray]


def new() -> Memory:
    """Memory of no bytes."""
    return [bytearray()]


def resize(memory: Memory, size: int) -> None:
    """Make it *size* bytes long; new bytes are undefined. After MemoryError it is empty."""
    memory[0] = memory[0][:size].ljust(size, b"\0")


def view(memory: Memory, start: int, end: int) -> memoryview:
    """The bytes from *start* to *end*, to write into; invalid after the next resize."""
    return memoryview(memory[0])[start:end]


def put(memory: Memory, at: int, data: bytes, start: int, size: int) -> int:
    """Write ``data[start:start + size]`` at *at*, where there is room; return where it ends."""
    end = at + size
    memory[0][at:end] = data[start : start + size]
    return end


def finish(memory: Memory, size: int) -> bytes:
    """The first *size* bytes as a word; the memory is empty afterwards."""
    word, memory[0] = bytes(memory[0][:size]), bytearray()
    return word
