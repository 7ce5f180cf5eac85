"""Fetching what look-ups will read, before they need it: the plain version of the C function.

A look-up in a large table reads four places in memory, one after the other: the bucket, its two
bytearrays, the marks, and the item. Each is likely to be in no cache. For many keys at once these
waits overlap: all buckets first, then all bytearrays, and so on.
"""

from __future__ import annotations

from typing import Any

MOST = 16  # keys; more of them would drive each other out of the processor's nearest cache


def fetch(directory: list[Any], shift: int, keys: list[bytes]) -> None:
    """Have the processor fetch what a look-up of each of *keys* reads, MOST at most.

    *directory* refers to the packed bucket of a key at the key's hash prefix >> *shift*. No-op in
    plain Python.
    """
