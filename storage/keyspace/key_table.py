# cython: boundscheck=False, wraparound=False
"""A hash table of keys made of many small segments: it grows one at a time, never all at once.

Extendible hashing (Fagin, Nievergelt, Pippenger, Strong 1979). The top bits of a key's 32-bit
*hash prefix* are a slot of the directory, and the slot refers to the segment, which keeps its keys
in the order of their prefixes:

    prefix  0 1 1 0 1 ...     directory         segments (storage/keyspace/segment.py)
            `-.-'             000  ----.
            slot 011          001  ----+------> [a b]   2 slots: local depth 2
                              010  -----------> [c]     1 slot:  local depth 3
                              011  -----------> [d e]
                              100  ----.
                              ...      +------> [f g]   4 slots: local depth 1
                              111  ----'
                              global depth 3

A segment of local depth d owns an aligned block of slots, those that share their first d bits. One
that grows too long is split by the next bit of the prefix, so its block is halved; if the block was
one slot, the directory is doubled first. Two neighbours that are nearly empty become one again, and
the directory is halved when no segment has the global depth.

So all keys stand in the order of their prefixes, and a key's prefix never changes. That is why a
scan's cursor is just a prefix: no insertion, removal, split or merge between two pages can hide a
key or show it twice.

With each key goes the time of its *last use*, a number of 32 bits; Keyspace defines its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from storage import allocation
from storage.keyspace import segment_octets
from storage.keyspace.segment import Segment

NO_KEY: Final = -1

# In keys. Longer segments would take less memory, but inserting and removing would take longer.
SPLIT_ABOVE: Final = 170
MERGE_UP_TO: Final = 64

# With fewer keys a slot than this the directory does not double, and a segment grows beyond its
# limit instead: keys that share a long prefix would make it double again and again. Python's hashes
# are keyed (siphash), so that does not happen by chance.
KEYS_PER_SLOT: Final = 8

# Bytes that a key takes in its segment: its mark, its pair, and a share of the spare room.
PLACE_BYTES: Final = 32
PLACE = PLACE_BYTES  # the same as a C number
OBJECT: Final = 384  # bytes of a table without keys


class KeyTable:
    """A dict of bytes to objects that grows in small steps and can be scanned with a cursor.

    get, set and pop are O(1) and move at most 171 keys (and now and then the directory, 8 bytes
    for some 100 keys). About 30 bytes a key, key and value objects not counted.
    """

    __slots__ = ("_deepest_pairs", "_directory", "_held", "_shift", "used")

    def __init__(self) -> None:
        self._held = 0  # bytes that the keys and the strings among the values are counted for
        self.clear()
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= OBJECT + self._held

    def __len__(self) -> int:
        return self.used

    def __contains__(self, key: bytes) -> bool:
        return self.last_use_of(key) != NO_KEY

    def __iter__(self) -> Iterator[bytes]:
        """All keys in no order. Nothing may be inserted or removed meanwhile."""
        for segment in self.segments():
            yield from segment.keys(0, len(segment))

    def items(self) -> Iterator[tuple[bytes, Any]]:
        """All keys and values in no order. Nothing may be inserted or removed meanwhile."""
        for segment in self.segments():
            yield from segment.items()

    # ------------------------------------------------------------------ one key

    def get(self, key: bytes, default: Any = None) -> Any:
        """The value at *key*, or *default*."""
        prefix = segment_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        return default if at < 0 else segment.pairs[2 * at + 1]

    def use(self, key: bytes, last_use: int) -> Any:
        """The value at *key*, whose last use becomes *last_use*; None if there is no such key."""
        prefix = segment_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at < 0:
            return None
        segment_octets.put_last_use(segment.marks, at, last_use)
        return segment.pairs[2 * at + 1]

    def last_use_of(self, key: bytes) -> int:
        """When *key* was used last, or NO_KEY if there is no such key."""
        prefix = segment_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        return NO_KEY if at < 0 else segment_octets.last_use_at(segment.marks, at)

    def set(self, key: bytes, value: Any, last_use: int = 0) -> None:
        """Put *value* at *key*, replacing what was there; its last use is *last_use*."""
        prefix = segment_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at >= 0:
            old = segment.pairs[2 * at + 1]
            self.grew(allocation.of_string(value) - allocation.of_string(old))
            segment.pairs[2 * at + 1] = value
            segment_octets.put_last_use(segment.marks, at, last_use)
        else:
            segment.insert(-1 - at, key, value, prefix, last_use)
            self.used += 1
            self.grew(PLACE + allocation.of_bytes(key) + allocation.of_string(value))
            if len(segment) > SPLIT_ABOVE:
                self._split(prefix >> self._shift)

    def pop(self, key: bytes, default: Any = None) -> Any:
        """Remove *key* and return its value, or *default* if it is not there."""
        prefix = segment_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at < 0:
            return default
        value = segment.remove(at)
        self.used -= 1
        self.grew(-PLACE - allocation.of_bytes(key) - allocation.of_string(value))
        if len(segment) <= MERGE_UP_TO:
            self._merge(prefix >> self._shift)
        return value

    def grew(self, size: int) -> None:
        """Count *size* bytes more: a string that is stored here has grown in place."""
        self._held += size
        allocation.used += size

    def clear(self) -> None:
        """Forget all keys."""
        self.grew(-self._held)
        self._directory: list[Segment] = [Segment(0)]
        self._shift = segment_octets.PREFIX_BITS  # prefix >> shift = slot
        self.used = 0
        self._deepest_pairs = (
            0  # of segments that have the global depth, each pair in slots 2i, 2i + 1
        )

    def _segment_of(self, prefix: int) -> Segment:
        return self._directory[prefix >> self._shift]

    # ------------------------------------------------------------------ many keys

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """The next *count* keys from the prefix *cursor* on, and the cursor of the next page.

        Cursor 0 starts, and 0 comes back with the last page. A key that is there from the first
        page to the last is returned exactly once, whatever is inserted and removed between the
        pages. Keys of one prefix come in one page, even if that makes it longer. O(count).
        """
        page: list[bytes] = []
        if cursor >> segment_octets.PREFIX_BITS:
            return 0, page
        slot = cursor >> self._shift
        first = self._directory[slot].first_from(cursor)
        while slot < len(self._directory):
            if len(page) >= count:
                return slot << self._shift, page
            segment = self._directory[slot]
            end = segment.end_of_page(first, count - len(page))
            page += segment.keys(first, end)
            if end < len(segment):
                return segment.prefix_at(end), page
            slot = self._next_slot(slot)
            first = 0
        return 0, page

    def random_key(self, below: Callable[[int], int]) -> bytes | None:
        """Any key, each about as likely; None if there are none. *below* (n) gives 0 .. n - 1."""
        if self.used == 0:
            return None
        segment = self._random_segment(below)
        return segment.key_at(below(len(segment)))

    def sample(self, below: Callable[[int], int], count: int) -> list[bytes]:
        """Up to *count* different keys, neighbours from a random slot on. O(count)."""
        keys: list[bytes] = []
        slot = below(len(self._directory))
        slot = first = slot & -self._block(slot)
        while len(keys) < count:
            segment = self._directory[slot]
            keys += segment.keys(0, min(len(segment), count - len(keys)))
            slot = self._next_slot(slot) % len(self._directory)
            if slot == first:
                break
        return keys

    def _random_segment(self, below: Callable[[int], int]) -> Segment:
        """A segment that is not empty, each as likely as its share of the slots."""
        slot = below(len(self._directory))
        while not len(self._directory[slot]):
            slot = self._next_slot(slot) % len(self._directory)
        return self._directory[slot]

    def segments(self) -> Iterator[Segment]:
        """All segments in the order of their prefixes: what a snapshot walks."""
        slot = 0
        while slot < len(self._directory):
            yield self._directory[slot]
            slot = self._next_slot(slot)

    # ------------------------------------------------------------------ segments

    def _block(self, slot: int) -> int:
        """How many slots the segment at *slot* owns; its first is ``slot & -block``."""
        return 1 << (segment_octets.PREFIX_BITS - self._shift - self._directory[slot].local_depth)

    def _next_slot(self, slot: int) -> int:
        """The slot where the next segment's block begins."""
        block = self._block(slot)
        return (slot & -block) + block

    def _assign(self, first: int, block: int, segment: Segment) -> None:
        for slot in range(first, first + block):
            self._directory[slot] = segment

    def _split(self, slot: int) -> None:
        """Divide the segment at *slot*, and the longer half again while it is still too long.

        1. A segment with one slot asks for a directory of twice the size; if that is refused the
           segment stays as it is, too long.
        2. Halve its block; the prefix with which the second half begins divides the keys.
        3. Go on with the half that has more keys: the other has 85 or fewer.
        """
        while len(self._directory[slot]) > SPLIT_ABOVE:
            segment = self._directory[slot]
            block = self._block(slot)
            if block == 1:  # 1
                if not self._double():
                    return
                slot *= 2
                block = 2
            half = block // 2  # 2
            low_slot = slot & -block
            high_slot = low_slot + half
            middle = segment.first_from(high_slot << self._shift)
            low = segment.part(0, middle)
            high = segment.part(middle, len(segment))
            self._assign(low_slot, half, low)
            self._assign(high_slot, half, high)
            if half == 1:
                self._deepest_pairs += 1
            slot = low_slot if len(low) > len(high) else high_slot  # 3

    def _merge(self, slot: int) -> None:
        """Merge the segment at *slot* with its neighbour if both are nearly empty.

        The neighbour (the buddy) owns the other half of the block that both would own. It must
        have the same local depth. The merged segment may have such a neighbour again.
        """
        while (block := self._block(slot)) < len(self._directory):
            low = self._directory[slot & -(2 * block)]
            high = self._directory[slot | block]
            if low.local_depth != high.local_depth or len(low) + len(high) > MERGE_UP_TO:
                return
            slot &= -(2 * block)
            self._assign(slot, 2 * block, low.joined(high))
            if block == 1:
                self._deepest_pairs -= 1
                slot >>= self._halve()

    # ------------------------------------------------------------------ directory

    def _double(self) -> bool:
        """Double the directory: add one to the global depth. False if it has enough slots."""
        slots = len(self._directory)
        if slots * 2 * KEYS_PER_SLOT > self.used:
            return False
        self._directory = [self._directory[slot // 2] for slot in range(2 * slots)]
        self._shift -= 1
        self._deepest_pairs = 0
        return True

    def _halve(self) -> int:
        """Halve the directory while no segment has the global depth; return how many times."""
        times = 0
        while self._deepest_pairs == 0 and len(self._directory) > 1:
            self._directory = self._directory[::2]
            self._shift += 1
            times += 1
            for slot in range(0, len(self._directory) - 1, 2):
                self._deepest_pairs += self._directory[slot] is not self._directory[slot + 1]
        return times
