"""Where entries of a node of a stream begin: numbers of 32 bits, in a block of its own."""

from __future__ import annotations

from storage import octets

SIZE = 4  # bytes of a number
_SIZE = SIZE  # as a C number


class Places:
    """Up to *most* numbers, in the order in which they were added."""

    __slots__ = ("_data", "count")

    def __init__(self, most: int) -> None:
        self._data = bytearray(SIZE * most)
        self.count = 0

    def add(self, place: int) -> None:
        """Add a number at the end. Raises IndexError if there would be more than *most*."""
        if _SIZE * self.count >= len(self._data):
            raise IndexError("more entries than the node counts")
        octets.put_u32(self._data, _SIZE * self.count, place)
        self.count += 1

    def at(self, index: int) -> int:
        """The number at *index*, which must be less than *count*."""
        return octets.u32(self._data, _SIZE * index)
