# cython: boundscheck=False, wraparound=False
"""An integer of any width that stands anywhere in the bits of a string.

    i5 at offset 3       bits     01010011 10000001
                                     ^^^^^              10011: as a signed integer -13

The highest bit comes first. Bits beyond the end of the string are 0. A signed integer has up to 64
bits, an unsigned one up to 63; so all values fit signed numbers of 64 bits.

Source of the rules: bitops.c of Redis 7.0
"""

from __future__ import annotations

from storage.strings import bit_octets

WRAP, SATURATE, FAIL = 0, 1, 2  # what becomes of a number that does not fit
WIDEST = 64
GREATEST = 2**63 - 1


class BitField:
    """Where an integer is, and its limits: *width* bits from *offset* on."""

    __slots__ = ("_least", "_most", "_offset", "_signed", "_width")

    def __init__(self, signed: bool, width: int, offset: int) -> None:
        self._signed = signed
        self._width = width
        self._offset = offset
        self._most = GREATEST >> (WIDEST - width if signed else WIDEST - 1 - width)
        self._least = -self._most - 1 if signed else 0

    def end(self) -> int:
        """How many bytes a string has that has all of it."""
        return (self._offset >> 3) + ((self._offset & 7) + self._width + 7 >> 3)

    def read(self, text: bytes | bytearray) -> int:
        """The integer in *text*."""
        data = bit_octets.octets_of(text)
        size = len(text)
        at = self._offset >> 3
        skipped = self._offset & 7
        left = self._width
        bits = 0
        while left > 0:
            taken = min(8 - skipped, left)
            byte = data[at] if at < size else 0
            bits = bits << taken | (byte >> (8 - skipped - taken) & (1 << taken) - 1)
            left -= taken
            skipped = 0
            at += 1
        return self._value_of(bits)

    def write(self, text: bytearray, number: int) -> None:
        """Put *number*, which fits, into *text*, which is long enough."""
        bits = number
        at = self._offset >> 3
        skipped = self._offset & 7
        left = self._width
        while left > 0:
            taken = min(8 - skipped, left)
            left -= taken
            below = 8 - skipped - taken
            mask = (1 << taken) - 1 << below
            text[at] = (text[at] & ~mask) | (bits >> left << below & mask)
            skipped = 0
            at += 1

    def replaced(self, number: int, overflow: int) -> int | None:
        """*number* as it can be written; None if it cannot, and *overflow* is FAIL.

        If the integer is unsigned, a negative number is taken for a huge one.
        """
        is_high = number > self._most or (number < 0 and not self._signed)
        if not is_high and number >= self._least:
            return number
        if overflow == SATURATE and self._width < WIDEST and number < self._most - GREATEST:
            is_high = True  # as in Redis, where the difference overflows
        return self._overflown(number, is_high, overflow)

    def increased(self, old: int, number: int, overflow: int) -> int | None:
        """*old*, the present value, plus *number*; None if it overflows, and *overflow* is FAIL."""
        is_high = number > 0 and old > self._most - number
        if self._signed:
            is_low = number < 0 and old < self._least - number
        else:
            is_low = number < 0 and old + number < 0
        total = old
        total += number
        if not is_high and not is_low:
            return self._value_of(total)
        return self._overflown(total, is_high, overflow)

    def _overflown(self, bits: int, is_high: bool, overflow: int) -> int | None:
        if overflow == FAIL:
            return None
        if overflow == SATURATE:
            return self._most if is_high else self._least
        return self._value_of(bits)

    def _value_of(self, bits: int) -> int:
        """The integer that the lowest bits of *bits* are."""
        half = 1
        half <<= self._width - 1
        bits &= half - 1 << 1 | 1
        return bits - half - half if self._signed and bits & half else bits
