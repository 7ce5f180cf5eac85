# cython: boundscheck=False, wraparound=False
"""A directory of packed buckets: what packed tables and the key table have in common."""

from __future__ import annotations

from typing import Final

from storage.chance import Chance
from storage.hash_table import fetching, mark_octets, packed_octets
from storage.hash_table.directory import Directory
from storage.hash_table.packed_bucket import PackedBucket

DRAWS: Final = 64


class PackedDirectory(Directory):
    """A hash table whose items lie in the memory of its buckets (packed_bucket.py)."""

    __slots__ = ("_places", "_places_counted")

    _places: int  # no bucket has more items than this for each slot that it owns
    _places_counted: int  # how many items there were when they were counted last

    def _begin_packed(self, only: PackedBucket) -> None:
        """Start with one bucket, which is empty."""
        self._begin(only)
        self._places = 0
        self._places_counted = 0

    def __contains__(self, key: bytes) -> bool:
        return self.has(key)

    def has(self, key: bytes) -> bool:
        """Whether *key* exists."""
        prefix = mark_octets.prefix_of(key)
        return self._packed_bucket(prefix).find(key, prefix) >= 0

    def fetch(self, keys: list[bytes]) -> None:
        """Have the processor fetch what a look-up of each of *keys* reads; see fetching.py."""
        fetching.fetch(self._directory, self._shift, keys)

    def remove_at(self, bucket: PackedBucket, at: int, prefix: int) -> None:
        """Remove the item number *at* of *bucket*, which has that prefix."""
        bucket.remove(at)
        self.used -= 1
        slots = len(self._directory)
        if slots > 1 and bucket.is_short():
            self._merge(prefix >> self._shift)
            self._places *= slots // len(self._directory)  # of which each bucket owns fewer now

    def _split_if_long(self, bucket: PackedBucket, prefix: int) -> None:
        """Split *bucket*, that of *prefix*, if it has too many items or bytes."""
        self._places = max(self._places, mark_octets.count(bucket.marks))
        if bucket.is_long():
            self._split(prefix >> self._shift)

    def _packed_bucket(self, prefix: int) -> PackedBucket:
        bucket: PackedBucket = self._directory[prefix >> self._shift]
        return bucket

    # ------------------------------------------------------------------ chance

    def random_key(self, chance: Chance) -> bytes | None:
        """Any key, each as likely as any other; None if there are none. O(1) expected."""
        if self.used == 0:
            return None
        place = self.random_place(chance)
        bucket = self._packed_at(place >> mark_octets.AT_BITS)
        return bucket.key_at(place & mark_octets.AT_MASK)

    def random_place(self, chance: Chance) -> int:
        """The place of any key, each as likely as any other; there must be one. O(1) expected.

        A slot is drawn, and a place in its bucket, which has as many for each slot that it owns.
        Where there is no key, both are drawn again: so a key in a full bucket is as likely as one
        in a bucket with few. After many attempts any bucket will do. The place names the first slot
        of its bucket, as place_behind() does.
        """
        self._recount_places()
        slots = len(self._directory)
        for _ in range(DRAWS):
            slot: int = chance.below(slots)
            bucket = self._packed_at(slot)
            packed_octets.prefetch(bucket.data)
            block: int = self._block(slot)
            at: int = chance.below(self._places * block)
            if at < mark_octets.count(bucket.marks):
                return (slot & -block) << mark_octets.AT_BITS | at
        slot = self._slot_with_keys(chance.below(slots))
        bucket = self._packed_at(slot)
        slot &= -self._block(slot)
        return slot << mark_octets.AT_BITS | chance.below(mark_octets.count(bucket.marks))

    def draw_places(self, chance: Chance, items: int) -> list[int]:
        """Some random places, drawn at once; there may be none, even if there are keys.

        They hold while the directory has the same size and is_place() says so. In a large table
        the memory of the *items* from each place on is fetched at once, not one after the other.
        """
        self._recount_places()
        return fetching.draw_places(self._directory, self._shift, self._places, chance, items)

    def is_place(self, place: int) -> bool:
        """Whether there is an item at *place*, of a slot that there is."""
        bucket = self._packed_at(place >> mark_octets.AT_BITS)
        return place & mark_octets.AT_MASK < mark_octets.count(bucket.marks)

    def slots(self) -> int:
        """The size of the directory."""
        return len(self._directory)

    def _recount_places(self) -> None:
        """Find out how full the fullest bucket is, if many items have come or gone.

        O(slots) then. It is worth while if a draw seldom finds an item.
        """
        news = abs(self.used - self._places_counted)
        if 2 * self.used < self._places * len(self._directory) and 8 * news > self.used:
            self._count_places()

    def _count_places(self) -> None:
        places = 1
        slot = 0
        while slot < len(self._directory):
            block = self._block(slot)
            items = mark_octets.count(self._packed_at(slot).marks)
            places = max(places, (items + block - 1) // block)
            slot = self._next_slot(slot)
        self._places = places
        self._places_counted = self.used

    def place_behind(self, place: int) -> int:
        """The place of the next key in the order of hashes; after the last one comes the first.

        From a place past the end of its bucket, it is the first one of the next bucket. A key is
        among n neighbours from a random place on with the same chance as any other.
        """
        slot = place >> mark_octets.AT_BITS
        if (place & mark_octets.AT_MASK) + 1 < mark_octets.count(self._packed_at(slot).marks):
            return place + 1
        slot = self._next_slot(slot) % len(self._directory)
        return self._slot_with_keys(slot) << mark_octets.AT_BITS

    def sample(self, chance: Chance, count: int) -> list[bytes]:
        """Up to *count* different keys, neighbours from a random slot on. O(count)."""
        keys: list[bytes] = []
        slot: int = chance.below(len(self._directory))
        slot = first = slot & -self._block(slot)
        while len(keys) < count:
            bucket = self._packed_at(slot)
            keys += bucket.keys(0, min(mark_octets.count(bucket.marks), count - len(keys)))
            slot = self._next_slot(slot) % len(self._directory)
            if slot == first:
                break
        return keys

    def _slot_with_keys(self, slot: int) -> int:
        """*slot* or, if its bucket is empty, that of the next one with keys; there must be one."""
        while mark_octets.count(self._packed_at(slot).marks) == 0:
            slot = self._next_slot(slot) % len(self._directory)
        return slot

    # ------------------------------------------------------------------ buckets

    def _packed_at(self, slot: int) -> PackedBucket:
        bucket: PackedBucket = self._directory[slot]
        return bucket

    def check(self) -> None:
        """Raise AssertionError if anything does not agree. O(bytes). For tests."""
        self._check_directory()
        for bucket in self.segments():
            bucket.check()
            slots = self._directory.count(bucket)
            assert len(bucket) <= self._places * slots, "a bucket has more items than places"
