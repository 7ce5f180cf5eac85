r"""A long word of a request, received into the memory where it stays.

    |bytes that have come..........|room............|      the announced word, and CRLF
                                   filled           _room                              _size

The room grows when it is used up, to GROWTH times as much. An announced length reserves nothing
before the first bytes come, and reserved room takes no memory before it is filled. Growing may move
the word, which splits huge pages, so the steps are large and little is moved: from 3 MB, which the
heap can have without new pages, to 144 MB.
"""

from __future__ import annotations

from protocol import word_memory

LEAST_ROOM = 64 * 1024  # bytes of room for what is received with one call
GROWTH = 48
MOST_AT_ONCE = 1024 * 1024  # bytes to be received with one call, so that others get their turn


class LongWord:
    """A word of *size* bytes that comes in pieces, with the CRLF after it."""

    __slots__ = ("_memory", "_room", "_size", "filled")

    def __init__(self, size: int) -> None:
        self._memory = word_memory.new()
        self._size = size + 2
        self._room = 0
        self.filled = 0  # bytes that have come

    def take(self, data: bytes, start: int) -> int:
        """Take the bytes of the word from *data*, from *start* on; return where they end.

        Raises MemoryError. O(bytes taken), amortized.
        """
        size = min(len(data) - start, self._size - self.filled)
        self._make_room(self.filled + size)
        self.filled = word_memory.put(self._memory, self.filled, data, start, size)
        return start + size

    def get_buffer(self) -> memoryview:
        """The memory into which to receive the next bytes of the word. Raises MemoryError."""
        if self.filled == self._room:
            self._make_room(min(self._size, self.filled + LEAST_ROOM))
        end = min(self._room, self.filled + MOST_AT_ONCE)
        return word_memory.view(self._memory, self.filled, end)

    def buffer_updated(self, size: int) -> None:
        """*size* bytes have come into the buffer."""
        self.filled += size

    def room(self) -> int:
        """Bytes of memory that are not filled yet."""
        return self._room - self.filled

    def is_whole(self) -> bool:
        return self.filled == self._size

    def finish(self) -> bytes:
        """The word, which must be whole. Call it once. The CRLF after the word is not checked."""
        return word_memory.finish(self._memory, self._size - 2)

    def _make_room(self, least: int) -> None:
        if least > self._room:
            room = min(self._size, max(least, GROWTH * self._room))
            word_memory.resize(self._memory, room)
            self._room = room
