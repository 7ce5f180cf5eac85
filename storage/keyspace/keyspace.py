"""One database: keys, their values and their expiry; it tells what happens to them.

    Keyspace         memory, walks, and what is done to all keys
    KeyChanges       putting values, and telling what has changed        key_changes.py
    KeyLookups       looking up                                          key_lookups.py
    ExpiringKeys     expiry, and removal                                 expiring_keys.py

A string is stored in the form that the last command gave it: ``bytes`` by SET, ``int`` by INCR,
``bytearray`` by APPEND or SETRANGE (redis's "raw": it grows in place). All other values are
objects of their own class.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from storage import types
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.key_changes import KeyChanges
from storage.keyspace.key_table import KeyTable

MANY_ATTEMPTS = 100  # to find a random key that has not expired


class Keyspace(KeyChanges):
    """The keys of one numbered database. All operations are O(1) unless they say otherwise."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self._values)

    # ------------------------------------------------------------------ memory

    @property
    def loose(self) -> int:
        """How many keys have a value that pack() could look at."""
        return self._values.loose

    def pack(self, count: int) -> None:
        """Pack small values that are not in use; see KeyTable.pack."""
        self._values.pack(count)

    def bytes_of(self, key: bytes, samples: int) -> int:
        """How many bytes *key*, which must be there, takes with its value. O(size) at most.

        Of a value with many elements, *samples* parts are looked at; 0: all.
        """
        value = self._values.object_of(key)
        size = self._values.bytes_of(key)
        if key in self.side:
            size += self.side[key].memory()
        noted = self.tended.get(key)
        if noted is not None:
            size += noted.bytes_used()
        return size if value is None else size + types.of(value).memory(value, samples)

    def bytes_of_slots(self) -> int:
        """The memory of the directories of its tables, without what is in them."""
        tables = (self._values, self._expires, self._field_expiries)
        return sum(table.bytes_of_slots() for table in tables)

    # ------------------------------------------------------------------ walking

    @property
    def table(self) -> KeyTable:
        """All keys and values, expired ones included: a snapshot walks them."""
        return self._values

    def keys_to_evict(self, volatile: bool) -> KeyTable:
        """The table of all keys; with *volatile* of those that expire, with the times."""
        return self._expires if volatile else self._values

    def keys(self) -> Iterator[bytes]:
        """All keys that have not expired, in no order. Nothing may be changed meanwhile."""
        now_ms = self._clock.now_ms
        for key in self._values:
            if self.expiry(key) == NO_EXPIRY or self.expiry(key) >= now_ms:
                yield key

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """About *count* keys from *cursor* on, and the next cursor; see KeyTable.scan."""
        return self._values.scan(cursor, count)

    def random_key(self) -> bytes | None:
        """Any key, each as likely as any other; None if there are none.

        While expired keys may not be removed, it returns one of them after many attempts, as redis
        does: there may be no other keys.
        """
        attempts = 0
        while (key := self._values.random_key(self.events.chance)) is not None:
            attempts += 1
            if self.peek(key) is not None or attempts == MANY_ATTEMPTS:
                return key
        return None

    # ------------------------------------------------------------------ all keys

    def clear(self) -> int:
        """Forget all keys; return how many there were. O(N)."""
        keys = len(self._values)
        for key in self.side:
            self.doom(key)
        self._values = KeyTable(self.events.loose_keys)
        self._expires = KeyTable()
        self._field_expiries = KeyTable()
        self.side = {}
        self._forget_asked()
        self.tended = OrderedDict()
        return keys

    def swap(self, other: Keyspace) -> None:
        """Exchange all keys with *other*. The caller wakes the clients that wait in either."""
        self._values, other._values = other._values, self._values
        self._expires, other._expires = other._expires, self._expires
        self._field_expiries, other._field_expiries = other._field_expiries, self._field_expiries
        self.side, other.side = other.side, self.side
        self._forget_asked()
        other._forget_asked()
        self.tended, other.tended = other.tended, self.tended
