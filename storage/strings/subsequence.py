# cython: boundscheck=False, wraparound=False
"""The longest common subsequence of two strings.

L(i, j) is its length for the first i bytes of one string and the first j of the other:

    L(i, j) = L(i-1, j-1) + 1                   if these bytes are equal
              max(L(i-1, j), L(i, j-1))         else

L(i, j) is L(i, j-1) or one more. So a row is kept as bits, 32 in a word: bit j of row i is 1 if L
*grows* there. A row is made of the one before it, with a few operations on each word: *equal* has
the bits of those bytes of the other string that are byte i, and *flat* is the opposite of *grows*.

    flat(i) = (flat(i-1) + (flat(i-1) & equal)) | (flat(i-1) & ~equal)

To find the subsequence, one walks back from the end: over equal bytes, and else to the greater
neighbour. That is L(i-1, j) if row i grows at j, else L(i, j-1).

Source: H. Hyyrö, "Bit-parallel LCS-length computation revisited", 2004
"""

from __future__ import annotations

from array import array

from storage.rdb import raw

BITS = 32  # of a word
SHIFT = 5  # a bit's number >> 5 is that of its word,
IN_WORD = 31  # and & 31 where it is there
ALL = 0xFFFFFFFF
FIRST_BIT = 1
BYTE_VALUES = 256
ZERO = bytes(4)


class CommonSubsequence:
    """The longest common subsequence of *one* and *other*: its *length*, and where it is.

    O(len(one) * len(other)) time, but 32 pairs of bytes at a time; at most a quarter of that in
    bytes of memory.
    """

    __slots__ = ("_grows", "_one", "_other", "_words", "length")

    def __init__(self, one: bytes, other: bytes) -> None:
        self._one = one
        self._other = other
        self._words = (len(other) + BITS - 1) // BITS  # of a row
        self._grows = array("I", ZERO) * (len(one) * self._words)
        self.length = self._compare()

    def _compare(self) -> int:
        """Fill the rows; return the length, which is how often the last one grows."""
        numbers = self._numbers()
        bits = self._equal_bits(numbers)
        one = raw.of_bytes(self._one)
        number_of = raw.table32(memoryview(numbers))
        equal = raw.table32(memoryview(bits))
        grows = raw.table32(memoryview(self._grows))
        words = self._words
        row = 0
        for i in range(len(self._one)):
            column = number_of[one[i]] * words
            carry = 0
            for word in range(words):
                flat = ALL if i == 0 else grows[row - words + word] ^ ALL
                same = equal[column + word]
                carry += flat
                carry += flat & same
                grows[row + word] = (carry & ALL | flat & (same ^ ALL)) ^ ALL
                carry >>= BITS
            row += words
        last = bytes(memoryview(self._grows)[row - words : row])
        return int.from_bytes(last, "little").bit_count()

    def _numbers(self) -> array[int]:
        """For each value that a byte may have: its number from 1 on, if *one* has it; else 0."""
        numbers = array("I", ZERO) * BYTE_VALUES
        for number, byte in enumerate(set(self._one), 1):
            numbers[byte] = number
        return numbers

    def _equal_bits(self, numbers: array[int]) -> array[int]:
        """For each number a row in which those bytes of *other* are 1 that have it."""
        words = self._words
        bits = array("I", ZERO) * ((max(numbers) + 1) * words)
        other = raw.of_bytes(self._other)
        number_of = raw.table32(memoryview(numbers))
        equal = raw.table32(memoryview(bits))
        for j in range(len(self._other)):
            equal[number_of[other[j]] * words + (j >> SHIFT)] |= FIRST_BIT << (j & IN_WORD)
        return bits

    def ranges(self) -> list[tuple[int, int, int]]:
        """The runs of equal bytes, from the last to the first.

        Each is where it begins in the one and in the other string, and its length.
        """
        found = []
        one = self._one
        other = self._other
        grows = raw.table32(memoryview(self._grows))
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
            word = grows[(i - 1) * self._words + (j - 1 >> SHIFT)]
            if word >> (j - 1 & IN_WORD) & 1:
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
