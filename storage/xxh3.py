# cython: boundscheck=False, wraparound=False
"""XXH3, of 64 and of 128 bits: a fast hash of bytes that no one chooses to do harm.

    length      how
    0           constants
    1 .. 16     the bytes are two or three numbers
    17 .. 240   portions of 16 bytes, from both ends, into one or two accumulators
    241 ..      stripes of 64 bytes into eight accumulators, which are scrambled after each KB

hashed() is what DIGEST shows of a string; digest() and Halves are what IDMPAUTO hashes entries by.
Of up to three bytes, and of 241 or more, the hash of 64 bits is the low half of the other.

keyed() takes a secret of the caller's; the others have the usual one, and no seed. All numbers are
of 64 bits, little-endian, and wrap.

Source: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md (BSD)
"""

from __future__ import annotations

from typing import Final

from storage import octets
from storage.rdb import raw

_U64 = 2**64 - 1
_U32 = 2**32 - 1
_P32_1 = 0x9E3779B1
_P32_2 = 0x85EBCA77
_P32_3 = 0xC2B2AE3D
_P64_1 = 0x9E3779B185EBCA87
_P64_2 = 0xC2B2AE3D27D4EB4F
_P64_3 = 0x165667B19E3779F9
_P64_4 = 0x85EBCA77C2B2AE63
_P64_5 = 0x27D4EB2F165667C5
_MIX_1 = 0x165667919E3779F9
_MIX_2 = 0x9FB21C651E98DF25

SECRET: Final = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_LATER = 3  # where the secret begins anew, from the portion number 8 on
_STRIPE = 64
_BLOCK = 1024  # 16 stripes: for each, the secret is read 8 bytes further on


def hashed(text: bytes | bytearray) -> int:
    """The hash of *text*, of 64 bits. O(size)."""
    size = len(text)
    if size > 240 or 0 < size < 4:
        halves = Halves()
        halves.take(text)
        return halves.low
    return _hash_of_most(_raw(text), size, raw.of_bytes(SECRET))


def keyed(data: bytearray, at: int, size: int, secret: bytes) -> int:
    """A hash of *size* bytes of *data* from *at* on, by a *secret* of 192 bytes. O(size).

    The size is 0, or 4 to 240: the caller sees to that, and that *data* has them. Who does not know
    the secret cannot compute which bytes have the same hash.
    """
    return _hash_of_most(raw.part(raw.of_bytearray(data), at, size), size, raw.of_bytes(secret))


def _hash_of_most(data: raw.Raw, size: int, secret: raw.Raw) -> int:
    """The hash of none, or of 4 to 240 bytes."""
    if size > 128:
        return _hash_of_240(data, size, secret)
    if size > 16:
        return _hash_of_128(data, size, secret)
    if size > 8:
        return _hash_of_16(data, size, secret)
    if size:
        return _hash_of_8(data, size, secret)
    return xxh64_avalanche(raw.u64(secret, 56) ^ raw.u64(secret, 64))


def _raw(text: bytes | bytearray) -> raw.Raw:
    if isinstance(text, bytearray):
        return raw.of_bytearray(text)
    return raw.of_bytes(text)


def _hash_of_8(text: raw.Raw, size: int, secret: raw.Raw) -> int:
    first = raw.u32(text, 0)
    keyed = raw.u32(text, size - 4) + (first << 32)
    keyed ^= raw.u64(secret, 8) ^ raw.u64(secret, 16)
    keyed ^= (keyed << 49 & _U64 | keyed >> 15) ^ (keyed << 24 & _U64 | keyed >> 40)
    keyed = (keyed * _MIX_2) & _U64
    keyed ^= (keyed >> 35) + size
    keyed = (keyed * _MIX_2) & _U64
    return keyed ^ keyed >> 28


def _hash_of_16(text: raw.Raw, size: int, secret: raw.Raw) -> int:
    a = raw.u64(text, 0) ^ raw.u64(secret, 24) ^ raw.u64(secret, 32)
    b = raw.u64(text, size - 8) ^ raw.u64(secret, 40) ^ raw.u64(secret, 48)
    folded = (a * b) & _U64 ^ octets.mul_high(a, b)
    return avalanche((size + octets.swapped(a) + b + folded) & _U64)


def _hash_of_128(text: raw.Raw, size: int, secret: raw.Raw) -> int:
    total = (size * _P64_1) & _U64
    portion = (size - 1) >> 5
    while portion >= 0:
        total = (total + mix16(text, portion * 16, secret, portion * 32)) & _U64
        end = size - portion * 16 - 16
        total = (total + mix16(text, end, secret, portion * 32 + 16)) & _U64
        portion -= 1
    return avalanche(total)


def _hash_of_240(text: raw.Raw, size: int, secret: raw.Raw) -> int:
    total = (size * _P64_1) & _U64
    for portion in range(8):
        total = (total + mix16(text, portion * 16, secret, portion * 16)) & _U64
    total = avalanche(total)
    for portion in range(8, size >> 4):
        key_at = (portion - 8) * 16 + _LATER
        total = (total + mix16(text, portion * 16, secret, key_at)) & _U64
    return avalanche((total + mix16(text, size - 16, secret, 119)) & _U64)


def digest(data: bytes) -> bytes:
    """The hash of *data* of 128 bits: 16 bytes, the low half first. O(size)."""
    result = Halves()
    result.take(data)
    return result.octets()


class Halves:
    """The two halves of a hash of 128 bits."""

    __slots__ = ("_acc", "high", "low")

    def __init__(self) -> None:
        self.low = 0
        self.high = 0
        self._acc = [0] * 8

    def octets(self) -> bytes:
        """Both as 16 bytes, the low half first."""
        return octets.id_key(octets.swapped(self.low), octets.swapped(self.high))

    def take(self, data: bytes | bytearray) -> None:
        """Let this be the hash of *data*. O(size)."""
        size = len(data)
        text, secret = _raw(data), raw.of_bytes(SECRET)
        if size > 240:
            self._of_long(text, size, secret)
        elif size > 128:
            self._of_240(text, size, secret)
        elif size > 16:
            self._of_128(text, size, secret)
        elif size > 8:
            self._of_16(text, size, secret)
        elif size >= 4:
            self._of_8(text, size, secret)
        elif size:
            self._of_3(text, size, secret)
        else:
            self.low = xxh64_avalanche(raw.u64(secret, 64) ^ raw.u64(secret, 72))
            self.high = xxh64_avalanche(raw.u64(secret, 80) ^ raw.u64(secret, 88))

    def _of_3(self, text: raw.Raw, size: int, secret: raw.Raw) -> None:
        first, middle = text[0], text[size >> 1]
        low = first << 16 | middle << 24 | text[size - 1] | size << 8
        high = octets.swapped(low) >> 32
        high = (high << 13 | high >> 19) & _U32
        self.low = xxh64_avalanche((raw.u32(secret, 0) ^ raw.u32(secret, 4)) ^ low)
        self.high = xxh64_avalanche((raw.u32(secret, 8) ^ raw.u32(secret, 12)) ^ high)

    def _of_8(self, text: raw.Raw, size: int, secret: raw.Raw) -> None:
        last = raw.u32(text, size - 4)
        keyed = (raw.u32(text, 0) | last << 32) ^ raw.u64(secret, 16) ^ raw.u64(secret, 24)
        factor = (_P64_1 + (size << 2)) & _U64
        low, high = (keyed * factor) & _U64, octets.mul_high(keyed, factor)
        high = (high + (low << 1)) & _U64
        low ^= high >> 3
        low = ((low ^ low >> 35) * _MIX_2) & _U64
        self.low = low ^ low >> 28
        self.high = avalanche(high)

    def _of_16(self, text: raw.Raw, size: int, secret: raw.Raw) -> None:
        first, last = raw.u64(text, 0), raw.u64(text, size - 8)
        keyed = first ^ last ^ raw.u64(secret, 32) ^ raw.u64(secret, 40)
        low, high = (keyed * _P64_1) & _U64, octets.mul_high(keyed, _P64_1)
        low = (low + ((size - 1) << 54)) & _U64
        last ^= raw.u64(secret, 48) ^ raw.u64(secret, 56)
        high = (high + last + (last & _U32) * (_P32_2 - 1)) & _U64
        low ^= octets.swapped(high)
        self.low = avalanche((low * _P64_2) & _U64)
        self.high = avalanche((octets.mul_high(low, _P64_2) + high * _P64_2) & _U64)

    def _of_128(self, text: raw.Raw, size: int, secret: raw.Raw) -> None:
        self.low = (size * _P64_1) & _U64
        self.high = 0
        portion = (size - 1) >> 5
        while portion >= 0:
            self._mix(text, portion * 16, size - (portion + 1) * 16, secret, portion * 32)
            portion -= 1
        self._finish(size)

    def _of_240(self, text: raw.Raw, size: int, secret: raw.Raw) -> None:
        self.low = (size * _P64_1) & _U64
        self.high = 0
        for portion in range(4):
            self._mix(text, portion * 32, portion * 32 + 16, secret, portion * 32)
        self.low, self.high = avalanche(self.low), avalanche(self.high)
        for portion in range(4, size >> 5):
            self._mix(text, portion * 32, portion * 32 + 16, secret, portion * 32 - 125)
        self._mix(text, size - 16, size - 32, secret, 103)
        self._finish(size)

    def _mix(self, text: raw.Raw, a: int, b: int, secret: raw.Raw, at: int) -> None:
        """Mix 16 bytes at *a* and 16 at *b* into the accumulators."""
        self.low = (self.low + mix16(text, a, secret, at)) & _U64
        self.low ^= (raw.u64(text, b) + raw.u64(text, b + 8)) & _U64
        self.high = (self.high + mix16(text, b, secret, at + 16)) & _U64
        self.high ^= (raw.u64(text, a) + raw.u64(text, a + 8)) & _U64

    def _finish(self, size: int) -> None:
        low, high = self.low, self.high
        mixed = (low * _P64_1 + high * _P64_4 + size * _P64_2) & _U64
        self.low = avalanche((low + high) & _U64)
        self.high = (_U64 + 1 - avalanche(mixed)) & _U64

    def _of_long(self, text: raw.Raw, size: int, secret: raw.Raw) -> None:
        acc = self._acc
        acc[0], acc[1], acc[2], acc[3] = _P32_3, _P64_1, _P64_2, _P64_3
        acc[4], acc[5], acc[6], acc[7] = _P64_4, _P32_2, _P64_5, _P32_1
        at = 0
        while at + _BLOCK < size:
            for stripe in range(16):
                self._accumulate(text, at + stripe * _STRIPE, secret, stripe * 8)
            self._scramble(secret)
            at += _BLOCK
        stripe = 0
        while at + _STRIPE < size:
            self._accumulate(text, at, secret, stripe * 8)
            at += _STRIPE
            stripe += 1
        self._accumulate(text, size - _STRIPE, secret, 121)
        self.low = self._merged(secret, 11, (size * _P64_1) & _U64)
        self.high = self._merged(secret, 117, ~(size * _P64_2) & _U64)

    def _accumulate(self, text: raw.Raw, at: int, secret: raw.Raw, key_at: int) -> None:
        acc = self._acc
        for lane in range(8):
            number = raw.u64(text, at + lane * 8)
            keyed = number ^ raw.u64(secret, key_at + lane * 8)
            acc[lane ^ 1] = (acc[lane ^ 1] + number) & _U64
            acc[lane] = (acc[lane] + (keyed & _U32) * (keyed >> 32)) & _U64

    def _scramble(self, secret: raw.Raw) -> None:
        acc = self._acc
        for lane in range(8):
            number = acc[lane]
            number ^= number >> 47
            acc[lane] = ((number ^ raw.u64(secret, 128 + lane * 8)) * _P32_1) & _U64

    def _merged(self, secret: raw.Raw, at: int, start: int) -> int:
        acc, total = self._acc, start
        for lane in range(0, 8, 2):
            a, b = acc[lane] ^ raw.u64(secret, at), acc[lane + 1] ^ raw.u64(secret, at + 8)
            total = (total + ((a * b) & _U64 ^ octets.mul_high(a, b))) & _U64
            at += 16
        return avalanche(total)


def mix16(text: raw.Raw, at: int, secret: raw.Raw, key_at: int) -> int:
    """16 bytes as one number: both halves of a product, one over the other."""
    a = raw.u64(text, at) ^ raw.u64(secret, key_at)
    b = raw.u64(text, at + 8) ^ raw.u64(secret, key_at + 8)
    return (a * b) & _U64 ^ octets.mul_high(a, b)


def avalanche(number: int) -> int:
    """Let each bit of a number depend on all of them."""
    number ^= number >> 37
    number = (number * _MIX_1) & _U64
    return number ^ number >> 32


def xxh64_avalanche(number: int) -> int:
    """Let each bit of a number depend on all of them, as XXH64 does."""
    number ^= number >> 33
    number = (number * _P64_2) & _U64
    number ^= number >> 29
    number = (number * _P64_3) & _U64
    return number ^ number >> 32
