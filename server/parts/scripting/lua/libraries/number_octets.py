"""Numbers as bits, bytes and decimal digits: the plain versions of the C functions in the .pxd.

Conversions of numbers that do not fit are what x86-64 makes of them, since Redis leaves them to the
processor. *size* is in bytes. Buffers have room for what is put into them; the functions that put
something return where it ends.
"""

from __future__ import annotations

import re
import struct

MASK_32 = 0xFFFF_FFFF
MASK_64 = 0xFFFF_FFFF_FFFF_FFFF
MOST_DIGITS = 32  # of a number with at most 14 digits, its sign and its exponent
SHIFT = 6755399441055744.0  # 2**52 + 2**51: a sum with it has a whole number in its lowest bits
_NUMBER = re.compile(
    rb"[-+]?(?:0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[-+]?[0-9]+)?"
    rb"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|inf(?:inity)?|nan(?:\(\w*\))?)",
    re.IGNORECASE | re.ASCII,
)


# ---------------------------------------------------------------------- numbers as bits


def bits_of(number: float) -> int:
    """The lowest 32 bits of *number*, rounded to a whole number."""
    bits: int = struct.unpack("<Q", struct.pack("<d", number + SHIFT))[0]
    return bits & MASK_32


def signed_32(bits: int) -> int:
    """The lowest 32 bits, as a signed number."""
    bits &= MASK_32
    return bits - (1 << 32) if bits >> 31 else bits


def signed_64(bits: int) -> int:
    """All 64 bits, as a signed number."""
    bits &= MASK_64
    return bits - (1 << 64) if bits >> 63 else bits


def truncated(number: float) -> int:
    """*number* without its fraction; the smallest of 64 bits if it does not fit."""
    return int(number) if -(2.0**63) <= number < 2.0**63 else -(1 << 63)


def wrapped(number: float) -> int:
    """*number* without its fraction as 64 bits, which are unsigned if they must be."""
    if 2.0**63 <= number < 2.0**64:
        return int(number)
    return 0 if number >= 2.0**64 else truncated(number) & MASK_64


def is_single(number: float) -> bool:
    """Whether *number* is the same with single precision."""
    return single(number) == number


def single(number: float) -> float:
    """*number* with single precision; infinite if it is too large."""
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return float("inf") if number > 0 else -float("inf")
    return rounded


# ---------------------------------------------------------------------- numbers as bytes


def put_integer(buffer: bytearray, at: int, bits: int, size: int, big: bool) -> int:
    """Put *bits* there, in *size* bytes; beyond eight bytes there are zeros."""
    data = (bits & ((1 << (8 * size)) - 1)).to_bytes(size, "big" if big else "little")
    buffer[at : at + size] = data
    return at + size


def put_real(buffer: bytearray, at: int, number: float, size: int, big: bool) -> int:
    """Put *number* there, in four bytes or eight."""
    if size == 4:
        number = single(number)
    data = struct.pack((">" if big else "<") + ("f" if size == 4 else "d"), number)
    buffer[at : at + size] = data
    return at + size


def integer_at(data: bytes, at: int, size: int, big: bool) -> int:
    """The unsigned number in *size* bytes there; the lowest 64 bits of it."""
    return int.from_bytes(data[at : at + size], "big" if big else "little") & MASK_64


def real_at(data: bytes, at: int, size: int, big: bool) -> float:
    """The number there, in four bytes or eight."""
    order = (">" if big else "<") + ("f" if size == 4 else "d")
    number: float = struct.unpack_from(order, data, at)[0]
    return number


# ---------------------------------------------------------------------- numbers as text


def put_decimal(buffer: bytearray, at: int, number: float, digits: int) -> int:
    """Put *number* there as text, with at most so many *digits* (``%.*g``)."""
    text = b"%.*g" % (digits, number)
    buffer[at : at + len(text)] = text
    return at + len(text)


def read_decimal(text: bytes, at: int, number: list[float]) -> int:
    """Read the number that begins there into number[0]; where it ends, *at* if there is none.

    As C's strtod does: also hexadecimal digits, and the words for infinity and not-a-number.
    """
    match = _NUMBER.match(text, at)
    if match is None:
        return at
    digits = match[0].decode().lower()
    if "x" in digits:
        number[0] = _from_hex(digits)
    else:
        number[0] = float(digits.partition("(")[0])
    return match.end()


def _from_hex(digits: str) -> float:
    try:
        return float.fromhex(digits)
    except OverflowError:
        return -float("inf") if digits.startswith("-") else float("inf")
