# cython: boundscheck=False, wraparound=False
"""The directory of a hash table that is made of many small buckets: it grows one at a time.

Extendible hashing (Fagin, Nievergelt, Pippenger, Strong 1979). The top bits of a key's 32-bit
*hash prefix* are a slot of the directory, and the slot refers to the bucket, which keeps its keys
in the order of their prefixes:

    prefix  0 1 1 0 1 ...     directory         buckets (storage/hash_table/bucket.py)
            `-.-'             000  ----.
            slot 011          001  ----+------> [a b]   2 slots: local depth 2
                              010  -----------> [c]     1 slot:  local depth 3
                              011  -----------> [d e]
                              100  ----.
                              ...      +------> [f g]   4 slots: local depth 1
                              111  ----'
                              global depth 3

A bucket of local depth d owns an aligned block of slots, those that share their first d bits. One
that grows too long is split by the next bit of the prefix, so its block is halved; if the block was
one slot, the directory is doubled first. Two neighbours that are nearly empty become one again, and
the directory is halved when no bucket has the global depth.

So all keys stand in the order of their prefixes, and a key's prefix never changes. That is why a
scan's cursor is just a prefix: no insertion, removal, split or merge between two pages can hide a
key or show it twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from storage import allocation
from storage.hash_table import mark_octets
from storage.hash_table.bucket import Bucket

# With fewer keys a slot than this the directory does not double, and a bucket grows beyond its
# limit instead: keys that share a long prefix would make it double again and again. Python's hashes
# are keyed (siphash), so that does not happen by chance.
KEYS_PER_SLOT: Final = 8

OBJECT: Final = 144  # bytes of a table and its list of slots, without what is in it
SLOT: Final = 8  # bytes


class Directory:
    """What hash tables have in common, whatever their buckets store.

    Looking up, adding and removing a key is the table's own; this finds places for buckets, and
    scans. *used* is the number of keys.
    """

    __slots__ = ("_deepest_pairs", "_directory", "_shift", "_slots_held", "used")

    _directory: list[Any]
    _shift: int  # prefix >> shift = slot
    used: int
    _deepest_pairs: int  # of buckets that have the global depth, each pair in slots 2i, 2i + 1

    def __init__(self) -> None:
        """Count the table's own memory. The table begins when _begin() is called."""
        self._slots_held = 0  # how many slots are counted
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= OBJECT + self._slots_held * SLOT

    def _begin(self, only: Bucket) -> None:
        """Start with one bucket, which is empty."""
        self._directory = [only]
        self._shift = mark_octets.PREFIX_BITS
        self.used = 0
        self._deepest_pairs = 0
        self._count_slots()

    def __len__(self) -> int:
        return self.used

    def __iter__(self) -> Iterator[bytes]:
        """All keys in no order. Nothing may be inserted or removed meanwhile."""
        slot = 0
        while slot < len(self._directory):
            yield from self._keys_at(slot)
            slot = self._next_slot(slot)

    def _keys_at(self, slot: int) -> list[bytes]:
        bucket = self._bucket(slot)
        return bucket.keys(0, mark_octets.count(bucket.marks))

    def items(self) -> Iterator[tuple[bytes, Any]]:
        """All keys and values in no order. Nothing may be inserted or removed meanwhile."""
        slot = 0
        while slot < len(self._directory):
            flat = self._flat_items_at(slot)
            yield from zip(flat[::2], flat[1::2], strict=True)
            slot = self._next_slot(slot)

    def _flat_items_at(self, slot: int) -> list[Any]:
        bucket = self._bucket(slot)
        return bucket.flat_items(0, mark_octets.count(bucket.marks))

    # ------------------------------------------------------------------ scans

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """The next *count* keys from the prefix *cursor* on, and the cursor of the next page.

        Cursor 0 starts, and 0 comes back with the last page. A key that is there from the first
        page to the last is returned exactly once, whatever is inserted and removed between the
        pages. Keys of one prefix come in one page, even if that makes it longer. O(count).
        """
        return self._page(cursor, count, False)

    def scan_items(self, cursor: int, count: int) -> tuple[int, list[Any]]:
        """A page as scan() returns it, with each key followed by its value; *count* is of keys."""
        return self._page(cursor, count, True)

    def _page(self, cursor: int, count: int, with_values: bool) -> tuple[int, list[Any]]:
        page: list[Any] = []
        if cursor >> mark_octets.PREFIX_BITS:
            return 0, page
        slot = cursor >> self._shift
        first = self._bucket(slot).first_from(cursor)
        while slot < len(self._directory):
            if count <= 0:
                return slot << self._shift, page
            bucket = self._bucket(slot)
            end = bucket.end_of_page(first, count)
            page += bucket.flat_items(first, end) if with_values else bucket.keys(first, end)
            if end < mark_octets.count(bucket.marks):
                return bucket.prefix_at(end), page
            count -= end - first
            slot = self._next_slot(slot)
            first = 0
        return 0, page

    # ------------------------------------------------------------------ buckets

    def segments(self) -> Iterator[Any]:
        """All buckets in the order of their prefixes."""
        slot = 0
        while slot < len(self._directory):
            yield self._directory[slot]
            slot = self._next_slot(slot)

    def _bucket(self, slot: int) -> Bucket:
        bucket: Bucket = self._directory[slot]
        return bucket

    def _block(self, slot: int) -> int:
        """How many slots the bucket at *slot* owns; its first is ``slot & -block``."""
        return 1 << (mark_octets.PREFIX_BITS - self._shift - self._bucket(slot).local_depth)

    def _next_slot(self, slot: int) -> int:
        """The slot where the next bucket's block begins."""
        block = self._block(slot)
        return (slot & -block) + block

    def _assign(self, first: int, block: int, bucket: Bucket) -> None:
        for slot in range(first, first + block):
            self._directory[slot] = bucket

    def _split(self, slot: int) -> None:
        """Divide the bucket at *slot*, and one of the halves again while it is still too long.

        1. A bucket with one slot asks for a directory of twice the size; if that is refused the
           bucket stays as it is, too long.
        2. Halve its block; the prefix with which the second half begins divides the keys.
        3. Go on with the half that is too long. Rarely both are, after step 1 refused: the other
           waits until a key is added to it.
        """
        while self._bucket(slot).is_long():
            bucket = self._bucket(slot)
            block = self._block(slot)
            if block == 1:  # 1
                if not self._double():
                    return
                slot *= 2
                block = 2
            half = block // 2  # 2
            low_slot = slot & -block
            high_slot = low_slot + half
            middle = bucket.first_from(high_slot << self._shift)
            low = bucket.part(0, middle)
            high = bucket.part(middle, mark_octets.count(bucket.marks))
            self._assign(low_slot, half, low)
            self._assign(high_slot, half, high)
            if half == 1:
                self._deepest_pairs += 1
            slot = low_slot if low.is_long() else high_slot  # 3

    def _merge(self, slot: int) -> None:
        """Merge the bucket at *slot* with its neighbour if both are nearly empty.

        The neighbour (the buddy) owns the other half of the block that both would own. It must
        have the same local depth. The merged bucket may have such a neighbour again.
        """
        while (block := self._block(slot)) < len(self._directory):
            low = self._bucket(slot & -(2 * block))
            high = self._bucket(slot | block)
            if low.local_depth != high.local_depth or not low.may_join(high):
                return
            slot &= -(2 * block)
            self._assign(slot, 2 * block, low.joined(high))
            if block == 1:
                self._deepest_pairs -= 1
                slot >>= self._halve()

    # ------------------------------------------------------------------ slots

    def bytes_of_slots(self) -> int:
        """The memory of the directory itself, without its buckets."""
        return self._slots_held * SLOT

    def _double(self) -> bool:
        """Double the directory: add one to the global depth. False if it has enough slots."""
        slots = len(self._directory)
        if slots * 2 * KEYS_PER_SLOT > self.used:
            return False
        self._directory = [self._directory[slot // 2] for slot in range(2 * slots)]
        self._shift -= 1
        self._deepest_pairs = 0
        self._count_slots()
        return True

    def _halve(self) -> int:
        """Halve the directory while no bucket has the global depth; return how many times."""
        times = 0
        while self._deepest_pairs == 0 and len(self._directory) > 1:
            self._directory = self._directory[::2]
            self._count_slots()
            self._shift += 1
            times += 1
            for slot in range(0, len(self._directory) - 1, 2):
                self._deepest_pairs += self._directory[slot] is not self._directory[slot + 1]
        return times

    def _count_slots(self) -> None:
        """Count the memory of the slots, whose number may have changed."""
        slots = len(self._directory)
        allocation.used += (slots - self._slots_held) * SLOT
        self._slots_held = slots

    def _check_directory(self) -> None:
        """Raise AssertionError if slots, depths and counts do not agree. For tests."""
        slots = len(self._directory)
        depth = mark_octets.PREFIX_BITS - self._shift
        assert slots == 1 << depth, "the directory's size is not its depth's"
        assert slots == self._slots_held, "slots miscounted"
        slot = keys = pairs = 0
        while slot < slots:
            bucket = self._bucket(slot)
            block = self._block(slot)
            owned = self._directory[slot : slot + block]
            assert slot & -block == slot, "a bucket's block is not aligned"
            assert all(other is bucket for other in owned), "a bucket does not own its block"
            keys += mark_octets.count(bucket.marks)
            pairs += block == 1 < slots and slot % 2 == 0
            slot += block
        assert keys == self.used, "keys miscounted"
        assert pairs == self._deepest_pairs, "buckets of the global depth miscounted"
        assert depth == 0 or pairs, "the directory is deeper than any bucket"
