# cython: boundscheck=False, wraparound=False
"""A hash table of keys made of many small segments: it grows one at a time, never all at once.

Extendible hashing (Fagin, Nievergelt, Pippenger, Strong 1979). A key's *place* is the 32-bit
number that its hash gives; its top bits are the slot of the directory, and the slot names the
segment, which keeps its keys in the order of their places:

    place   0 1 1 0 1 ...              directory             segments (storage/keyspace/segment.py)
            `-.-'                      000  ----.
            slot 011                   001  ----+----------> [a b]   2 slots: 2 bits tell
                                       010  ---------------> [c]     1 slot:  3 bits tell
                                       011  ---------------> [d e]
                                       100  ----.
                                       ...      +----------> [f g]   4 slots: 1 bit tells
                                       111  ----'

A segment owns an aligned block of 1, 2, 4 .. slots. One that grows too long is split by the next
bit of the place, so its block is halved; if the block was one slot the directory is doubled first.
Two neighbours that are nearly empty become one again, and the directory is halved when no segment
needs its last bit.

So all keys stand in the order of their places, and a key's place never changes. That makes a
scan's cursor a mere place: no insertion, removal, split or merge between two pages can hide a key
or show it twice.

With each key goes a *stamp*, 32 bits that mean nothing here: see Keyspace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from storage import allocation
from storage.keyspace import segment_octets
from storage.keyspace.segment import Segment

NO_STAMP: Final = -1

# keys: longer segments would cost less memory, and more time where keys come and go in their midst
SPLIT_ABOVE: Final = 170
MERGE_UP_TO: Final = 64

# Keys of like places could ask for a directory without end. Hashes of strangers' keys are keyed
# (siphash), so with fewer keys a slot than this something is wrong: the segment outgrows instead.
KEYS_PER_SLOT: Final = 8

# bytes that a key takes in its segment: mark, pair, a share of what is spare
PLACE_BYTES: Final = 32
PLACE = PLACE_BYTES  # the same as a C number
OBJECT: Final = 384  # bytes of a table without keys


class KeyTable:
    """A dict of bytes to objects whose growth never stops the world, and that can be scanned.

    get, set and pop are O(1) and move at most 171 keys (and now and then the directory, 8 bytes
    for some 100 keys). About 30 bytes a key, key and value objects not counted.
    """

    __slots__ = ("_directory", "_forks", "_held", "_shift", "used")

    def __init__(self) -> None:
        self._held = 0  # bytes that the keys and the strings among the values are counted for
        self.clear()
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= OBJECT + self._held

    def __len__(self) -> int:
        return self.used

    def __contains__(self, key: bytes) -> bool:
        return self.stamp_of(key) != NO_STAMP

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
        place = segment_octets.place_of(key)
        segment = self._segment_at(place)
        at = segment.find(key, place)
        return default if at < 0 else segment.pairs[2 * at + 1]

    def use(self, key: bytes, stamp: int) -> Any:
        """The value at *key*, which is stamped with *stamp*, or None."""
        place = segment_octets.place_of(key)
        segment = self._segment_at(place)
        at = segment.find(key, place)
        if at < 0:
            return None
        segment_octets.put_stamp(segment.marks, at, stamp)
        return segment.pairs[2 * at + 1]

    def stamp_of(self, key: bytes) -> int:
        """The stamp of *key*, or NO_STAMP if there is no such key."""
        place = segment_octets.place_of(key)
        segment = self._segment_at(place)
        at = segment.find(key, place)
        return NO_STAMP if at < 0 else segment_octets.stamp_at(segment.marks, at)

    def set(self, key: bytes, value: Any, stamp: int = 0) -> None:
        """Put *value* at *key*, in place of what was there, and stamp it."""
        place = segment_octets.place_of(key)
        segment = self._segment_at(place)
        at = segment.find(key, place)
        if at >= 0:
            old = segment.pairs[2 * at + 1]
            self.grew(allocation.of_string(value) - allocation.of_string(old))
            segment.pairs[2 * at + 1] = value
            segment_octets.put_stamp(segment.marks, at, stamp)
        else:
            segment.insert(-1 - at, key, value, place, stamp)
            self.used += 1
            self.grew(PLACE + allocation.of_bytes(key) + allocation.of_string(value))
            if len(segment) > SPLIT_ABOVE:
                self._split(place >> self._shift)

    def pop(self, key: bytes, default: Any = None) -> Any:
        """Remove *key* and return its value, or *default* if it is not there."""
        place = segment_octets.place_of(key)
        segment = self._segment_at(place)
        at = segment.find(key, place)
        if at < 0:
            return default
        value = segment.remove(at)
        self.used -= 1
        self.grew(-PLACE - allocation.of_bytes(key) - allocation.of_string(value))
        if len(segment) <= MERGE_UP_TO:
            self._merge(place >> self._shift)
        return value

    def grew(self, size: int) -> None:
        """Count *size* bytes more: a string that is stored here has grown in place."""
        self._held += size
        allocation.used += size

    def clear(self) -> None:
        """Forget all keys."""
        self.grew(-self._held)
        self._directory: list[Segment] = [Segment(0)]
        self._shift = segment_octets.PLACE_BITS  # place >> shift = slot
        self.used = 0
        self._forks = 0  # pairs of slots (2i, 2i + 1) that name two segments

    def _segment_at(self, place: int) -> Segment:
        return self._directory[place >> self._shift]

    # ------------------------------------------------------------------ many keys

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """The next *count* keys from place *cursor* on, and the cursor of the page after.

        Cursor 0 starts, and 0 comes back with the last page. A key that is there from the first
        page to the last is returned exactly once, whatever is inserted and removed between the
        pages. Keys of one place come in one page, even if they are more than *count*. O(count).
        """
        page: list[bytes] = []
        if cursor >> segment_octets.PLACE_BITS:
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
                return segment.place_at(end), page
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
        """Up to *count* different keys that lie together at a random place. O(count)."""
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
        """A segment that is not empty, each as likely as its share of the places."""
        slot = below(len(self._directory))
        while not len(self._directory[slot]):
            slot = self._next_slot(slot) % len(self._directory)
        return self._directory[slot]

    def segments(self) -> Iterator[Segment]:
        """All segments in the order of their places: what a snapshot walks."""
        slot = 0
        while slot < len(self._directory):
            yield self._directory[slot]
            slot = self._next_slot(slot)

    # ------------------------------------------------------------------ segments

    def _block(self, slot: int) -> int:
        """How many slots the segment at *slot* owns; its first is ``slot & -block``."""
        return 1 << (segment_octets.PLACE_BITS - self._shift - self._directory[slot].bits)

    def _next_slot(self, slot: int) -> int:
        """The slot where the next segment's block begins."""
        block = self._block(slot)
        return (slot & -block) + block

    def _assign(self, first: int, block: int, segment: Segment) -> None:
        for slot in range(first, first + block):
            self._directory[slot] = segment

    def _split(self, slot: int) -> None:
        """Divide the segment at *slot*, and the greater half again while it is still too long.

        1. A segment with one slot asks for a directory of twice the size; if that is refused the
           segment stays as it is, too long.
        2. Halve its block; the place where the second half begins divides the keys.
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
                self._forks += 1
            slot = low_slot if len(low) > len(high) else high_slot  # 3

    def _merge(self, slot: int) -> None:
        """Make one segment of the one at *slot* and its neighbour if both are nearly empty.

        The neighbour is the other half of the block that both would own, and must not be divided
        further. What comes of it may have such a neighbour again.
        """
        while (block := self._block(slot)) < len(self._directory):
            low = self._directory[slot & -(2 * block)]
            high = self._directory[slot | block]
            if low.bits != high.bits or len(low) + len(high) > MERGE_UP_TO:
                return
            slot &= -(2 * block)
            self._assign(slot, 2 * block, low.joined(high))
            if block == 1:
                self._forks -= 1
                slot >>= self._halve()

    # ------------------------------------------------------------------ directory

    def _double(self) -> bool:
        """Let the directory look at one more bit of the place. False if it has enough slots."""
        slots = len(self._directory)
        if slots * 2 * KEYS_PER_SLOT > self.used:
            return False
        self._directory = [self._directory[slot // 2] for slot in range(2 * slots)]
        self._shift -= 1
        self._forks = 0
        return True

    def _halve(self) -> int:
        """Drop the bits of the place that no segment needs; return how many those were."""
        bits = 0
        while self._forks == 0 and len(self._directory) > 1:
            self._directory = self._directory[::2]
            self._shift += 1
            bits += 1
            for slot in range(0, len(self._directory) - 1, 2):
                self._forks += self._directory[slot] is not self._directory[slot + 1]
        return bits
