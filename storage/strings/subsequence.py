# cython: boundscheck=False, wraparound=False
"""The longest common subsequence of two strings.

L(i, j) is its length for the first i bytes of one string and the first j of the other:

    L(i, j) = L(i-1, j-1) + 1                   if these bytes are equal
              max(L(i-1, j), L(i, j-1))         else

To find it, one walks back from the end: over equal bytes, and else to the greater neighbour. So no
length need be kept but those of the last row, and one bit of each other pair: whether the walk
leaves out the byte of the first string.
"""

from __future__ import annotations

from array import array

from storage.rdb import raw


class CommonSubsequence:
    """The longest common subsequence of *one* and *other*: its *length*, and where it is.

    O(len(one) * len(other)) time; an eighth of that in bytes, and 4 bytes for each of *other*.
    """

    __slots__ = ("_leaves_one", "_one", "_other", "length")

    def __init__(self, one: bytes, other: bytes) -> None:
        self._one = one
        self._other = other
        self._leaves_one = bytearray((len(one) * len(other) + 7) >> 3)
        self.length = self._compare()

    def _compare(self) -> int:
        """Fill the bits, row by row; return the length."""
        one = raw.of_bytes(self._one)
        other = raw.of_bytes(self._other)
        leaves = raw.into(self._leaves_one)
        width = len(self._other)
        lengths = array("I", bytes(4)) * (width + 1)
        row = raw.table32(memoryview(lengths))
        bit = 0
        for i in range(len(self._one)):
            corner = 0
            left = 0
            for j in range(width):
                above = row[j + 1]
                if one[i] == other[j]:
                    left = corner + 1
                elif above > left:
                    left = above
                    leaves[bit >> 3] |= 1 << (bit & 7)
                row[j + 1] = left
                corner = above
                bit += 1
        return row[width]

    def ranges(self) -> list[tuple[int, int, int]]:
        """The runs of equal bytes, from the last to the first.

        Each is where it begins in the one and in the other string, and its length.
        """
        found = []
        one = self._one
        other = self._other
        i = len(one)
        j = len(other)
        size = 0  # of the run that begins at i and j
        while i > 0 and j > 0:
            if one[i - 1] == other[j - 1]:
                size += 1
                i -= 1
                j -= 1
                continue
            if size:
                found.append((i, j, size))
                size = 0
            bit = (i - 1) * len(other) + j - 1
            if self._leaves_one[bit >> 3] >> (bit & 7) & 1:
                i -= 1
            else:
                j -= 1
        if size:
            found.append((i, j, size))
        return found

    def text(self) -> bytes:
        """The subsequence."""
        return b"".join(
            [self._one[start : start + size] for start, _, size in reversed(self.ranges())]
        )
