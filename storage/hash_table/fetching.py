"""Fetching what look-ups will read, before they need it: the plain versions of the C functions.

A look-up in a large table reads four places in memory, one after the other: the bucket, its two
bytearrays, the marks, and the item. Each is likely to be in no cache. For many keys at once these
waits overlap: all buckets first, then all bytearrays, and so on.
"""

from __future__ import annotations

from typing import Any

from storage.chance import Chance
from storage.hash_table import mark_octets

MOST = 16  # keys; more of them would drive each other out of the processor's nearest cache


def fetch(directory: list[Any], shift: int, keys: list[bytes]) -> None:
    """Have the processor fetch what a look-up of each of *keys* reads, MOST at most.

    *directory* refers to the packed bucket of a key at the key's hash prefix >> *shift*. No-op in
    plain Python.
    """


def draw_places(
    directory: list[Any], shift: int, most: int, chance: Chance, items: int
) -> list[int]:
    """Draw MOST places, and return those where there is an item; each item is as likely.

    A slot of *directory* is drawn, and one of *most* places for each slot that its bucket owns: no
    bucket has more items. Compiled, the *items* from each place on are fetched.
    """
    places = []
    slots = [chance.below(len(directory)) for _ in range(MOST)]
    for slot in slots:
        bucket = directory[slot]
        block = 1 << (mark_octets.PREFIX_BITS - shift - bucket.local_depth)
        at = chance.below(most * block)
        if at < mark_octets.count(bucket.marks):
            places.append(slot << mark_octets.AT_BITS | at)
    return places
