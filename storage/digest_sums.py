"""The two sums that the digests of DEBUG DIGEST are made of.

add(x)     digest ^= SHA-1(x)                     order does not matter
mix(x)     digest = SHA-1(digest ^ SHA-1(x))      order matters
"""

from __future__ import annotations

from hashlib import sha1

SIZE = 20  # bytes of a digest
NOTHING = bytes(SIZE)  # where each sum begins


def added(digest: bytes, data: bytes) -> bytes:
    """*digest* with *data* added."""
    both = int.from_bytes(digest, "big") ^ int.from_bytes(sha1(data).digest(), "big")  # noqa: S324
    return both.to_bytes(SIZE, "big")


def mixed(digest: bytes, data: bytes) -> bytes:
    """*digest* with *data* mixed in."""
    return sha1(added(digest, data)).digest()  # noqa: S324  (as in Redis; protects nothing)
