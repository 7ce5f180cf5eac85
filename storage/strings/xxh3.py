# cython: boundscheck=False, wraparound=False
"""XXH3, a hash of 64 bits, without a seed: what DIGEST shows of a string.

    bytes       mixed by
    0           two words of the secret
    1 to 3      _few: one word
    4 to 8      _some: one word, by rotations
    9 to 16     _more: two words
    17 to 240   _runs: runs of 16 bytes, from both ends, or from the start
    241 ...     _blocks: eight sums, over stripes of 64 bytes; a block is 16 stripes

Words are little-endian. The secret is the default one, of 192 bytes; each step takes another place
of it. All sums and products are of 64 bits.

Source: Y. Collet, doc/xxhash_spec.md in the repository of xxHash.
"""

from __future__ import annotations

from storage.rdb import raw
from storage.strings import bit_octets

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)

BITS_32 = 0xFFFFFFFF
BITS_64 = 0xFFFFFFFFFFFFFFFF
A_32 = 0x9E3779B1
B_32 = 0x85EBCA77
C_32 = 0xC2B2AE3D
A = 0x9E3779B185EBCA87
B = 0xC2B2AE3D27D4EB4F
C = 0x165667B19E3779F9
D = 0x85EBCA77C2B2AE63
E = 0x27D4EB2F165667C5
MIX = 0x165667919E3779F9
ROTATING_MIX = 0x9FB21C651E98DF25

STRIPE = 64  # bytes
BLOCK = 1024
OF_SCRAMBLING = 128  # offsets in the secret
OF_THE_LAST_STRIPE = 121
OF_THE_END = 11
OF_LATER_RUNS = 3
OF_THE_LAST_RUN = 119


def hashed(text: bytes | bytearray) -> int:
    """The hash of *text*. O(bytes)."""
    data = bit_octets.octets_of(text)
    secret = bit_octets.octets_of(SECRET)
    size = len(text)
    if size > 240:
        return _blocks(data, size)
    if size > 16:
        return _runs(data, size)
    if size > 8:
        return _more(data, size)
    if size > 3:
        return _some(data, size)
    if size > 0:
        return _few(data, size)
    return _avalanche_64(raw.u64(secret, 56) ^ raw.u64(secret, 64))


def _avalanche_64(word: int) -> int:
    word ^= word >> 33
    word = word * B & BITS_64
    word ^= word >> 29
    word = word * C & BITS_64
    return word ^ word >> 32


def _avalanche(word: int) -> int:
    word ^= word >> 37
    word = word * MIX & BITS_64
    return word ^ word >> 32


def _folded(one: int, other: int) -> int:
    """The product of two words, of 128 bits; its halves xored."""
    low = (one & BITS_32) * (other & BITS_32)
    high_low = (one >> 32) * (other & BITS_32)
    low_high = (one & BITS_32) * (other >> 32)
    high = (one >> 32) * (other >> 32)
    cross = (low >> 32) + (high_low & BITS_32) + low_high  # below 2^64: (2^32 - 1)^2 + 2 (2^32 - 1)
    upper = (high_low >> 32) + (cross >> 32) + high
    return upper ^ ((cross << 32 & BITS_64) | (low & BITS_32))


def _few(data: raw.Raw, size: int) -> int:
    secret = bit_octets.octets_of(SECRET)
    first, middle, last = data[0], data[size >> 1], data[size - 1]
    word = first << 16 | middle << 24 | last | size << 8
    return _avalanche_64(word ^ raw.u32(secret, 0) ^ raw.u32(secret, 4))


def _some(data: raw.Raw, size: int) -> int:
    secret = bit_octets.octets_of(SECRET)
    first = raw.u32(data, 0)
    word = raw.u32(data, size - 4) + (first << 32)
    word ^= raw.u64(secret, 8) ^ raw.u64(secret, 16)
    word ^= _rotated(word, 49) ^ _rotated(word, 24)
    word = word * ROTATING_MIX & BITS_64
    word ^= (word >> 35) + size
    word = word * ROTATING_MIX & BITS_64
    return word ^ word >> 28


def _rotated(word: int, bits: int) -> int:
    return (word << bits & BITS_64) | word >> (64 - bits)


def _more(data: raw.Raw, size: int) -> int:
    secret = bit_octets.octets_of(SECRET)
    low = raw.u64(data, 0) ^ raw.u64(secret, 24) ^ raw.u64(secret, 32)
    high = raw.u64(data, size - 8) ^ raw.u64(secret, 40) ^ raw.u64(secret, 48)
    return _avalanche(size + _swapped(low) + high + _folded(low, high) & BITS_64)


def _swapped(word: int) -> int:
    """*word* with its bytes in the other order."""
    word = (word & 0x00FF00FF00FF00FF) << 8 | (word >> 8 & 0x00FF00FF00FF00FF)
    word = (word & 0x0000FFFF0000FFFF) << 16 | (word >> 16 & 0x0000FFFF0000FFFF)
    return (word << 32 & BITS_64) | word >> 32


def _run(data: raw.Raw, at: int, place: int) -> int:
    """What 16 bytes at *at* give with the secret at *place*."""
    secret = bit_octets.octets_of(SECRET)
    return _folded(
        raw.u64(data, at) ^ raw.u64(secret, place),
        raw.u64(data, at + 8) ^ raw.u64(secret, place + 8),
    )


def _runs(data: raw.Raw, size: int) -> int:
    total = size * A & BITS_64
    if size <= 128:
        pairs = (size - 1) >> 5  # besides the outermost
        for at in range(pairs, -1, -1):
            total = total + _run(data, 16 * at, 32 * at) & BITS_64
            total = total + _run(data, size - 16 * at - 16, 32 * at + 16) & BITS_64
        return _avalanche(total)
    for at in range(8):
        total = total + _run(data, 16 * at, 16 * at) & BITS_64
    total = _avalanche(total)
    for at in range(8, size >> 4):
        total = total + _run(data, 16 * at, 16 * (at - 8) + OF_LATER_RUNS) & BITS_64
    return _avalanche(total + _run(data, size - 16, OF_THE_LAST_RUN) & BITS_64)


def _blocks(data: raw.Raw, size: int) -> int:
    secret = bit_octets.octets_of(SECRET)
    sums = bytearray(STRIPE)  # eight words
    for lane, word in enumerate((C_32, A, B, C, D, B_32, E, A_32)):
        raw.put_u64(sums, 8 * lane, word)
    at = 0
    place = 0
    while at + STRIPE < size:
        _add_stripe(sums, data, at, place)
        at += STRIPE
        place += 8
        if place == OF_SCRAMBLING:
            place = 0
            if at < size:
                _scramble(sums)
    _add_stripe(sums, data, size - STRIPE, OF_THE_LAST_STRIPE)
    total = size * A & BITS_64
    for at in range(0, STRIPE, 16):
        total = (
            total
            + _folded(
                raw.u64(raw.of_bytearray(sums), at) ^ raw.u64(secret, OF_THE_END + at),
                raw.u64(raw.of_bytearray(sums), at + 8) ^ raw.u64(secret, OF_THE_END + at + 8),
            )
            & BITS_64
        )
    return _avalanche(total)


def _add_stripe(sums: bytearray, data: raw.Raw, at: int, place: int) -> None:
    """Add the 64 bytes at *at* to *sums*, by the secret at *place*."""
    secret = bit_octets.octets_of(SECRET)
    lanes = raw.of_bytearray(sums)
    for lane in range(0, STRIPE, 8):
        word = raw.u64(data, at + lane)
        key = word ^ raw.u64(secret, place + lane)
        product = (key & BITS_32) * (key >> 32)
        raw.put_u64(sums, lane, raw.u64(lanes, lane) + product & BITS_64)
        raw.put_u64(sums, lane ^ 8, raw.u64(lanes, lane ^ 8) + word & BITS_64)


def _scramble(sums: bytearray) -> None:
    """Mix each of *sums* at the end of a block."""
    secret = bit_octets.octets_of(SECRET)
    lanes = raw.of_bytearray(sums)
    for lane in range(0, STRIPE, 8):
        word = raw.u64(lanes, lane)
        word ^= word >> 47
        word ^= raw.u64(secret, OF_SCRAMBLING + lane)
        raw.put_u64(sums, lane, word * A_32 & BITS_64)
