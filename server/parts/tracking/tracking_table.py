"""Which clients have read which keys: the table of CLIENT TRACKING.

    key                 readers
    user:7              41                      one client: its id
    user:8              {41: None, 52: None}    several: an ordered set of ids

A key is the same in all databases, as in Redis. Clients are in the table by their ids: one that
leaves stays in it, and is not found when a key changes. Most keys have one reader, so that a key
takes about 40 bytes besides its text; storage/allocation.py counts them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from storage import allocation
from storage.chance import Chance
from storage.keyspace.key_table import KeyTable

SET_BYTES = 184  # of a set of readers, empty
READER_BYTES = 64  # of each reader in it


class TrackingTable:
    """Keys and their readers. *items* is how many readers all keys have together."""

    __slots__ = ("_held", "_readers", "items")

    def __init__(self) -> None:
        self._readers = KeyTable()
        self._held = 0  # bytes of the sets of readers
        self.items = 0

    def __del__(self) -> None:
        allocation.used -= self._held

    def __len__(self) -> int:
        return self._readers.used

    def remember(self, key: bytes, client_id: int) -> None:
        """The client has read *key*. O(1)."""
        held: Any = self._readers.get(key)
        if held is None:
            self._readers.set(key, client_id)
        elif type(held) is dict:
            if client_id in held:
                return
            held[client_id] = None
            self._grew(READER_BYTES)
        else:
            if held == client_id:
                return
            self._readers.set(key, {held: None, client_id: None})
            self._grew(SET_BYTES + 2 * READER_BYTES)
        self.items += 1

    def take(self, key: bytes) -> Iterable[int]:
        """Forget *key*; the ids of its readers. O(1)."""
        held: Any = self._readers.pop(key)
        if held is None:
            return ()
        if type(held) is not dict:
            self.items -= 1
            return (held,)
        self.items -= len(held)
        self._grew(-SET_BYTES - READER_BYTES * len(held))
        return held

    def random_key(self, chance: Chance) -> bytes | None:
        """Any of the keys; *below* (n) gives a random number from 0 to n - 1. O(1)."""
        return self._readers.random_key(chance)

    def clear(self) -> None:
        """Forget all keys."""
        self._readers.clear()
        self._grew(-self._held)
        self.items = 0

    def _grew(self, size: int) -> None:
        """Count *size* bytes more."""
        self._held += size
        allocation.used += size
