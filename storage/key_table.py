# cython: boundscheck=False, wraparound=False
"""A hash table of keys made of many small dicts: it grows a segment at a time, never all at once.

Extendible hashing (Fagin, Nievergelt, Pippenger, Strong 1979). A key's *place* is the 63-bit
number that its hash gives; its top bits are the slot of the directory, and the slot names the
segment, a plain dict:

    place   0 1 1 0 1 ...              directory             segments
            `-.-'                      000  ----.
            slot 011                   001  ----+----------> {a: .., b: ..}   2 slots: 2 bits tell
                                       010  ---------------> {c: ..}          1 slot:  3 bits tell
                                       011  ---------------> {d: .., e: ..}
                                       100  ----.
                                       ...      +----------> {f: .., g: ..}   4 slots: 1 bit tells
                                       111  ----'

A segment owns an aligned block of 1, 2, 4 .. slots. One that outgrows its dict's table is split
by the next bit of the place, so its block is halved; if the block was one slot the directory is
doubled first. Two neighbours that are nearly empty become one again, and the directory is halved
when no segment needs its last bit.

Places order the keys, and a key's place never changes. That makes a scan's cursor a mere place:
no insertion, removal, split or merge between two pages can hide a key or show it twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

PLACE_BITS: Final = 63
MIDDLE: Final = 0x4000_0000_0000_0000

# A dict of 256 slots holds 170 keys, and the halves of that fit a dict of 128 slots (85 keys).
SPLIT_ABOVE: Final = 170
MERGE_UP_TO: Final = 64
FULL_SEGMENT_BYTES: Final = dict.fromkeys(range(SPLIT_ABOVE)).__sizeof__()
TIDY_EVERY: Final = 8  # removals

# Keys of like places could ask for a directory without end. Hashes of strangers' keys are keyed
# (siphash), so with fewer keys a slot than this something is wrong: the segment outgrows instead.
KEYS_PER_SLOT: Final = 8

ABSENT: Final = object()


def place_of(key: bytes) -> int:
    """Where *key* stands among all keys: 0 .. 2**63 - 1, ordered as the signed hashes are."""
    return (hash(key) >> 1) + MIDDLE


def with_ties(ordered: list[bytes], count: int) -> int:
    """How many of *ordered* to take so that *count* are taken and no place is divided."""
    count = max(count, 1)
    last = place_of(ordered[count - 1])
    while count < len(ordered) and place_of(ordered[count]) == last:
        count += 1
    return count


def packed(segment: dict[bytes, Any], other: dict[bytes, Any]) -> dict[bytes, Any]:
    """Both in a new dict with a table of the right size (a mere copy may take over the old one)."""
    fresh: dict[bytes, Any] = {}
    fresh.update(segment)
    fresh.update(other)
    return fresh


class KeyTable:
    """A dict of bytes to objects whose growth never stops the world, and that can be scanned.

    get, set and pop are O(1) and move at most 171 keys (and now and then the directory, 8 bytes
    for some 100 keys). About 37 bytes a key, key and value objects not counted.
    """

    __slots__ = ("_directory", "_forks", "_removals", "_shift", "used")

    def __init__(self) -> None:
        self.clear()

    def __len__(self) -> int:
        return self.used

    def __contains__(self, key: bytes) -> bool:
        return key in self._segment_of(key)

    def __iter__(self) -> Iterator[bytes]:
        """All keys in no order. Nothing may be inserted or removed meanwhile."""
        for segment in self.segments():
            yield from segment

    def items(self) -> Iterator[tuple[bytes, Any]]:
        """All keys and values in no order. Nothing may be inserted or removed meanwhile."""
        for segment in self.segments():
            yield from segment.items()

    # ------------------------------------------------------------------ one key

    def get(self, key: bytes, default: Any = None) -> Any:
        """The value at *key*, or *default*."""
        return self._segment_of(key).get(key, default)

    def set(self, key: bytes, value: Any) -> None:
        """Put *value* at *key*, in place of what was there."""
        segment = self._segment_of(key)
        before = len(segment)
        segment[key] = value
        if len(segment) != before:
            self.used += 1
            if before >= SPLIT_ABOVE:
                self._split(place_of(key) >> self._shift)

    def pop(self, key: bytes, default: Any = None) -> Any:
        """Remove *key* and return its value, or *default* if it is not there."""
        segment = self._segment_of(key)
        value = segment.pop(key, ABSENT)
        if value is ABSENT:
            return default
        self.used -= 1
        self._removals += 1
        if len(segment) <= MERGE_UP_TO:
            self._merge(place_of(key) >> self._shift)
        elif self._removals % TIDY_EVERY == 0:
            self._tidy(place_of(key) >> self._shift)
        return value

    def clear(self) -> None:
        """Forget all keys."""
        self._directory: list[dict[bytes, Any]] = [{}]
        self._shift = PLACE_BITS  # place >> shift = slot
        self.used = 0
        self._forks = 0  # pairs of slots (2i, 2i + 1) that name two segments
        self._removals = 0

    def _segment_of(self, key: bytes) -> dict[bytes, Any]:
        return self._directory[place_of(key) >> self._shift]

    # ------------------------------------------------------------------ many keys

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """The next *count* keys from place *cursor* on, and the cursor of the page after.

        Cursor 0 starts, and 0 comes back with the last page. A key that is there from the first
        page to the last is returned exactly once, whatever is inserted and removed between the
        pages. Keys of one place come in one page, even if they are more than *count*. O(count).
        """
        page: list[bytes] = []
        if cursor >> PLACE_BITS:
            return 0, page
        slot = cursor >> self._shift
        while slot < len(self._directory):
            if len(page) >= count:
                return slot << self._shift, page
            ahead = [key for key in self._directory[slot] if place_of(key) >= cursor]
            fitting = count - len(page)
            if len(ahead) > fitting:
                ahead.sort(key=hash)
                fitting = with_ties(ahead, fitting)
            page += ahead[:fitting]
            if fitting < len(ahead):
                return place_of(ahead[fitting]), page
            slot = self._next_slot(slot)
        return 0, page

    def random_key(self, below: Callable[[int], int]) -> bytes | None:
        """Any key, each about as likely; None if there are none. *below* (n) gives 0 .. n - 1."""
        if self.used == 0:
            return None
        segment = self._random_segment(below)
        return next(islice(segment, below(len(segment)), None))

    def sample(self, below: Callable[[int], int], count: int) -> list[bytes]:
        """Up to *count* different keys that lie together at a random place. O(count)."""
        keys: list[bytes] = []
        slot = below(len(self._directory))
        slot = first = slot & -self._block(slot)
        while len(keys) < count:
            keys += islice(self._directory[slot], count - len(keys))
            slot = self._next_slot(slot) % len(self._directory)
            if slot == first:
                break
        return keys

    def _random_segment(self, below: Callable[[int], int]) -> dict[bytes, Any]:
        """A segment that is not empty, each as likely as its share of the places."""
        slot = below(len(self._directory))
        while not self._directory[slot]:
            slot = self._next_slot(slot) % len(self._directory)
        return self._directory[slot]

    def segments(self) -> Iterator[dict[bytes, Any]]:
        """All segments in the order of their places: what a snapshot walks."""
        slot = 0
        while slot < len(self._directory):
            yield self._directory[slot]
            slot = self._next_slot(slot)

    # ------------------------------------------------------------------ segments

    def _block(self, slot: int) -> int:
        """How many slots the segment at *slot* owns; its first is ``slot & -block``."""
        segment = self._directory[slot]
        block = 1
        while block < len(self._directory):
            if self._directory[(slot & -block) ^ block] is not segment:
                break
            block *= 2
        return block

    def _next_slot(self, slot: int) -> int:
        """The slot where the next segment's block begins."""
        block = self._block(slot)
        return (slot & -block) + block

    def _assign(self, first: int, block: int, segment: dict[bytes, Any]) -> None:
        for slot in range(first, first + block):
            self._directory[slot] = segment

    def _split(self, slot: int) -> None:
        """Divide the segment at *slot*, and the greater half again while it is still too big.

        1. A segment with one slot asks for a directory of twice the size; if that is refused the
           segment stays as it is, too big.
        2. Halve its block; the place where the second half begins divides the keys.
        3. Go on with the half that has more keys: the other has 85 or fewer.
        """
        while len(self._directory[slot]) > SPLIT_ABOVE:
            block = self._block(slot)
            if block == 1:  # 1
                if not self._double():
                    return
                slot *= 2
                block = 2
            half = block // 2  # 2
            low_slot = slot & -block
            high_slot = low_slot + half
            boundary = high_slot << self._shift
            low: dict[bytes, Any] = {}
            high: dict[bytes, Any] = {}
            for key, value in self._directory[slot].items():
                if place_of(key) < boundary:
                    low[key] = value
                else:
                    high[key] = value
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
            segment = self._directory[slot]
            other_slot = (slot & -block) ^ block
            other = self._directory[other_slot]
            divided = self._directory[other_slot + block - 1] is not other
            if divided or len(segment) + len(other) > MERGE_UP_TO:
                return
            slot &= -(2 * block)
            self._assign(slot, 2 * block, packed(segment, other))
            if block == 1:
                self._forks -= 1
                slot >>= self._halve()

    def _tidy(self, slot: int) -> None:
        """Give the segment at *slot* a smaller table if removals have let it grow past its size.

        A dict never reuses the slots of removed keys: when they run out it takes a table for
        three times what it holds.
        """
        segment = self._directory[slot]
        if segment.__sizeof__() > FULL_SEGMENT_BYTES and len(segment) <= SPLIT_ABOVE:
            block = self._block(slot)
            self._assign(slot & -block, block, packed(segment, {}))

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
