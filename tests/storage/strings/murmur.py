"""Elements whose hash is chosen: MurmurHash64A of eight bytes, undone step by step."""

from __future__ import annotations

MASK = 2**64 - 1
FACTOR = 0xC6A4A7935BD1E995
UNDONE = pow(FACTOR, -1, 2**64)
SHIFT = 47
BEGUN = 0xADC83B19 ^ (8 * FACTOR & MASK)  # the seed, and the length

INDEX_BITS = 14  # of a hash; the others are the run
LONGEST_RUN = 51


def element_of(hashed: int) -> bytes:
    """The element of eight bytes that has this hash."""
    mixed = hashed ^ hashed >> SHIFT
    mixed = mixed * UNDONE & MASK
    mixed = (mixed ^ mixed >> SHIFT) * UNDONE & MASK
    word = (mixed ^ BEGUN) * UNDONE & MASK
    word = (word ^ word >> SHIFT) * UNDONE & MASK
    return word.to_bytes(8, "little")


def element_for(register: int, run: int) -> bytes:
    """One that lets *register* of a HyperLogLog be *run*, 1 to 51, at least."""
    return element_of(register | (1 << run - 1 + INDEX_BITS) & MASK)
