"""Byte primitives of storage: the plain versions of the C functions in octets.pxd.

Numbers are little-endian unless the name says ``be``. The put_ functions write into *buffer* at
*at*, where there must be room, and return the offset after what they wrote. Compiled, no function
checks bounds: callers do.
"""

from __future__ import annotations

from octets import buffers

I64_MAX = 2**63 - 1
U64_MAX = 2**64 - 1
EMPTY_BYTEARRAY = bytearray().__sizeof__()
MAX_INT_TEXT = 20  # characters of the longest signed or unsigned 64-bit number

# ---------------------------------------------------------------------- room


def bytearray_of(data: bytes) -> bytearray:
    """A bytearray of *data* that has no memory to spare."""
    return bytearray(data)


def capacity(buffer: bytearray) -> int:
    """How many bytes of memory *buffer* has, used or not."""
    return buffer.__sizeof__() - EMPTY_BYTEARRAY


def shorten(buffer: bytearray, size: int) -> None:
    """Make *buffer* *size* bytes long, which it is at least. Of little memory, it keeps all."""
    del buffer[size:]


def open_front(buffer: bytearray, used: int, size: int) -> None:
    """Insert *size* undefined bytes at the front, and keep the first *used* bytes only.

    O(1) if there is room at the front, as after drop_front; otherwise O(used), and room is made for
    the next calls as well.
    """
    del buffer[used:]
    buffer[:0] = bytes(size)


def drop_front(buffer: bytearray, size: int) -> None:
    """Remove the first *size* bytes. O(1): their memory is kept until the buffer grows."""
    del buffer[:size]


def exact(buffer: bytearray, size: int) -> bytearray:
    """A copy of the first *size* bytes that has no memory to spare."""
    return buffer[:size]


# ---------------------------------------------------------------------- runs of bytes


def holds(buffer: bytearray, at: int, data: bytes) -> bool:
    """Whether *data* stands in *buffer* at *at*, where there are at least as many bytes."""
    return buffer[at : at + len(data)] == data


# ---------------------------------------------------------------------- binary numbers


def u16(buffer: bytearray, at: int) -> int:
    """An unsigned 16-bit number."""
    return int.from_bytes(buffer[at : at + 2], "little")


def u32(buffer: bytearray, at: int) -> int:
    """An unsigned 32-bit number."""
    return int.from_bytes(buffer[at : at + 4], "little")


def i16(buffer: bytearray, at: int) -> int:
    """A signed 16-bit number."""
    return int.from_bytes(buffer[at : at + 2], "little", signed=True)


def i24(buffer: bytearray, at: int) -> int:
    """A signed 24-bit number."""
    return int.from_bytes(buffer[at : at + 3], "little", signed=True)


def i32(buffer: bytearray, at: int) -> int:
    """A signed 32-bit number."""
    return int.from_bytes(buffer[at : at + 4], "little", signed=True)


def i64(buffer: bytearray, at: int) -> int:
    """A signed 64-bit number."""
    return int.from_bytes(buffer[at : at + 8], "little", signed=True)


def put_u8(buffer: bytearray, at: int, number: int) -> int:
    """Write the low 8 bits of *number*."""
    buffer[at] = number & 0xFF
    return at + 1


def put_u16(buffer: bytearray, at: int, number: int) -> int:
    """Write the low 16 bits of *number*, signed or not."""
    return buffers.put(buffer, at, (number & 0xFFFF).to_bytes(2, "little"))


def put_u24(buffer: bytearray, at: int, number: int) -> int:
    """Write the low 24 bits of *number*, signed or not."""
    return buffers.put(buffer, at, (number & 0xFFFFFF).to_bytes(3, "little"))


def put_u32(buffer: bytearray, at: int, number: int) -> int:
    """Write the low 32 bits of *number*, signed or not."""
    return buffers.put(buffer, at, (number & 0xFFFFFFFF).to_bytes(4, "little"))


def put_i64(buffer: bytearray, at: int, number: int) -> int:
    """Write a signed 64-bit number."""
    return buffers.put(buffer, at, number.to_bytes(8, "little", signed=True))


def u64_be(data: bytes, at: int) -> int:
    """An unsigned 64-bit big-endian number."""
    return int.from_bytes(data[at : at + 8], "big")


def mul_high(a: int, b: int) -> int:
    """The upper 64 of the 128 bits of a product of unsigned numbers."""
    return a * b >> 64


def swapped(number: int) -> int:
    """An unsigned 64-bit number with its bytes in the other order."""
    return int.from_bytes(number.to_bytes(8, "little"), "big")


# ---------------------------------------------------------------------- decimal numbers


def is_int64(text: bytes) -> bool:
    """Whether *text* is the canonical form of a signed 64-bit number.

    No plus, no blanks, no leading zeros, no -0: the text can be restored from the number.
    """
    digits = text.removeprefix(b"-")
    if not digits.isdigit() or len(text) > MAX_INT_TEXT or (digits[0] == 0x30 and text != b"0"):
        return False
    return -I64_MAX - 1 <= int(text) <= I64_MAX


def short_number(text: bytes) -> int:
    """The number that *text* says in up to 18 digits; -1 if it says none, or in another form.

    It is is_int64() and int64_of() in one walk, for what most numbers are.
    """
    is_one = len(text) <= 18 and text.isdigit() and (text[0] != 0x30 or len(text) == 1)
    return int(text) if is_one else -1


def int64_of(text: bytes) -> int:
    """The number that *text* says; is_int64 must hold for it."""
    return int(text)


def decimal(number: int) -> bytes:
    """A signed 64-bit *number* in decimal."""
    return b"%d" % number


# ---------------------------------------------------------------------- stream ids


def same_letters(text: bytes, capitals: bytes) -> bool:
    """Whether *text* equals *capitals*, regardless of case."""
    return text.upper() == capitals


def format_id(ms: int, seq: int) -> bytes:
    """A stream id as clients see it: ``ms-seq``."""
    return b"%d-%d" % (ms, seq)


def id_delta(number: int, base: int) -> int:
    """The signed difference *number* - *base* modulo 2^64; both are halves of ids."""
    gap = (number - base) & U64_MAX
    return gap if gap <= I64_MAX else gap - U64_MAX - 1


def id_plus(base: int, gap: int) -> int:
    """The inverse of id_delta: the number whose difference to *base* is *gap*."""
    return (base + gap) & U64_MAX


def id_key(ms: int, seq: int) -> bytes:
    """A stream id as a key that sorts as ids do: both numbers big-endian, 16 bytes."""
    return ms.to_bytes(8, "big") + seq.to_bytes(8, "big")


# ---------------------------------------------------------------------- numbers


def since(then_ms: int, now_ms: int) -> int:
    """The ms from *then_ms* to *now_ms*, as Redis computes it: in 64 bits, with wrap-around.

    A client or a file may give any 64-bit number as a time. If the difference does not fit into 64
    bits, the time seems to lie in the future.
    """
    return id_delta(now_ms, then_ms)


def bit_length(number: int) -> int:
    """How many bits *number* has, from 0 on."""
    return number.bit_length()
