"""Access to the pairs of a segment: the plain versions of the C functions.

*pairs* holds keys and values by turns: see storage/keyspace/segment.py. Compiled, no function
checks bounds: callers do.
"""

from __future__ import annotations

from typing import Any


def prefetch_pair(pairs: list[Any], at: int) -> None:
    """Have the processor fetch the place of number *at* meanwhile. No-op in plain Python.

    *at* may be beyond the end. A segment is seldom in the processor's cache, and each look-up would
    wait for one line of it after the other.
    """


def is_key(pairs: list[Any], at: int, key: bytes) -> bool:
    """Whether the key number *at* is *key*. Its value is prefetched: it will be asked for next."""
    return bool(pairs[2 * at] == key)


def insert_pair(pairs: list[Any], at: int, key: bytes, value: Any) -> None:
    """Insert *key* and *value* as number *at*."""
    pairs[2 * at : 2 * at] = (key, value)


def remove_pair(pairs: list[Any], at: int) -> None:
    """Remove the key number *at* and its value."""
    del pairs[2 * at : 2 * at + 2]
