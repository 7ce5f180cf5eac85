"""What a library writes: a buffer that grows, and becomes a string of Lua.

It grows only as far as the string may, which counts for the memory that scripts may take, and to
LARGEST at most, as Redis's own strings. That defends the server's memory against a script whose
small tables stand many times in each other.
"""

from __future__ import annotations

from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua.libraries import lua_octets, number_octets, text_octets

FIRST = 512
LARGEST = 512 * 1024 * 1024


class Output:
    """The bytes up to *end* in *buffer*, for the interpreter *L*, which its maker sets.

    Raises MemoryError where they would be too many.
    """

    L: lua.State

    def __init__(self) -> None:
        self.buffer = text_octets.new_buffer(FIRST)
        self.end = 0
        self._room = FIRST

    def reserve(self, size: int) -> None:
        """Make room for so many more bytes, beyond the end."""
        if size > self._room - self.end:
            self._grow(size)

    def _grow(self, size: int) -> None:
        if size > LARGEST - self.end or not lua.has_memory(self.L, self.end + size):
            raise MemoryError
        self._room = min(2 * (self.end + size), LARGEST)
        text_octets.grow(self.buffer, self._room)

    def byte(self, value: int) -> None:
        """Append a byte."""
        self.reserve(1)
        self.end = number_octets.put_integer(self.buffer, self.end, value, 1, False)

    def text(self, text: bytes) -> None:
        """Append *text*."""
        self.slice(text, 0, len(text))

    def slice(self, text: bytes, start: int, stop: int) -> None:
        """Append that part of *text*."""
        self.reserve(stop - start)
        self.end = text_octets.put_slice(self.buffer, self.end, text, start, stop)

    def lua_string(self, at: int, size: int) -> None:
        """Append the first *size* bytes of the string there."""
        self.reserve(size)
        self.end = lua_octets.put_lua(self.L, at, self.buffer, self.end, size)

    def integer(self, bits: int, size: int, big: bool) -> None:
        """Append *bits* in *size* bytes."""
        self.reserve(size)
        self.end = number_octets.put_integer(self.buffer, self.end, bits, size, big)

    def real(self, number: float, size: int, big: bool) -> None:
        """Append *number* in four bytes or eight."""
        self.reserve(size)
        self.end = number_octets.put_real(self.buffer, self.end, number, size, big)

    def push(self) -> int:
        """Push all of it as a string. 1, the number of results."""
        if not lua.has_memory(self.L, self.end):
            raise MemoryError
        lua_octets.push_buffer(self.L, self.buffer, self.end)
        return 1
