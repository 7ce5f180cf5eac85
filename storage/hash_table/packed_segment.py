# cython: boundscheck=False, wraparound=False
"""A segment of a packed table: some 100 items, keys and values, in one piece of memory.

    marks   prefix offset | prefix offset | ...     bytearray, 4 + 4 bytes an item, little-endian,
                                                    ordered by prefix: see bucket.py
    data    key value | (hole) | key value | ...    bytearray; an item begins at its offset
    far     [text, None, text, ...]                 list of bytes, or None if there are none

Texts, which are keys and values, are written as packed_octets.py shows. New items go to the end of
the data. An item that is removed leaves a hole, and so does one whose value changes its length: it
moves to the end. A value of the same length is written in place. *holes* counts the bytes of all
holes, and when they are more than an eighth of the data, the items are packed anew.

A far text is one of FAR_FROM bytes or more. It stays the object that it is, and the item has its
number in *far*, so that packing and splitting move few bytes, whatever the values are. As an object
it takes 9 to 11 % more memory than its text, which packing could save no better: an eighth may be
holes. Shorter texts cost more: a text of 20 bytes would take 80. A number whose text has gone is
None, and is used again.

A snapshot, written by a forked child, must not touch reference counts: see borrowed_packed.py.
"""

from __future__ import annotations

from typing import Any, Final

from storage import allocation, octets
from storage.hash_table import mark_octets, packed_octets
from storage.hash_table.bucket import Bucket

# In items. Longer segments would take less memory, but inserting and removing would take longer.
SPLIT_ABOVE: Final = 170
MERGE_UP_TO: Final = 64

# In bytes of data: what packing a segment anew may have to copy. The longest item has 1026 bytes.
SPLIT_ABOVE_BYTES: Final = 32768
MERGE_UP_TO_BYTES: Final = 12288

HOLES_SHARE: Final = 8  # holes may be one in so many bytes of data
OBJECT: Final = 208  # bytes of a segment and its two bytearrays, without what is in them


class PackedSegment(Bucket):
    """Items whose hash prefixes agree in their first *local_depth* bits, numbered from 0."""

    __slots__ = ("_held", "data", "far", "holes")

    def __init__(self, local_depth: int) -> None:
        self.local_depth = local_depth
        self.marks = bytearray()
        self.data = bytearray()
        self.far: list[Any] | None = None
        self.holes = 0
        self._held = 0  # bytes that are counted as used
        self._grew(OBJECT)

    def __del__(self) -> None:
        allocation.used -= self._held

    def _grew(self, size: int) -> None:
        self._held += size
        allocation.used += size

    def _room(self) -> int:
        """The bytes of all buffers; far texts are counted when they come and go."""
        return (
            octets.capacity(self.marks)
            + octets.capacity(self.data)
            + packed_octets.list_room(self.far)
        )

    # ------------------------------------------------------------------ finding

    def find(self, key: bytes, prefix: int) -> int:
        """The number of *key*, which has that prefix; ``-1 - n`` if it would be inserted at n."""
        marks = self.marks
        data = self.data
        packed_octets.prefetch(data)
        guess = mark_octets.guess(marks, self.local_depth, prefix)
        at = mark_octets.first_from(marks, guess, prefix)
        end = mark_octets.count(marks)
        while at < end and mark_octets.prefix_at(marks, at) == prefix:
            if packed_octets.is_text(data, mark_octets.number_at(marks, at), self.far, key):
                return at
            at += 1
        return -1 - at

    def key_at(self, at: int) -> bytes:
        """The key of the item number *at*."""
        return packed_octets.text_at(self.data, mark_octets.number_at(self.marks, at), self.far)

    def value_at(self, at: int) -> bytes:
        """The value of the item number *at*."""
        return packed_octets.text_at(self.data, self._value_start(at), self.far)

    def _value_start(self, at: int) -> int:
        """The offset of that value."""
        return packed_octets.behind(self.data, mark_octets.number_at(self.marks, at))

    def keys(self, first: int, end: int) -> list[bytes]:
        keys = []
        for at in range(first, end):
            keys.append(self.key_at(at))  # noqa: PERF401  compiled, a list comprehension is slower
        return keys

    def flat_items(self, first: int, end: int) -> list[Any]:
        items = []
        for at in range(first, end):
            items.append(self.key_at(at))
            items.append(self.value_at(at))
        return items

    # ------------------------------------------------------------------ changing

    def insert(self, at: int, key: bytes, value: bytes, prefix: int) -> None:
        """Insert an item as number *at*, which find() gave as ``-1 - at``."""
        before = self._room()
        data = self.data
        offset = len(data)
        space = packed_octets.space_of(len(key)) + packed_octets.space_of(len(value))
        octets.resize(data, offset + space)
        self._put(self._put(offset, key), value)
        mark_octets.insert_mark(self.marks, at, prefix, offset)
        self._grew(self._room() - before)

    def replace(self, at: int, value: bytes) -> None:
        """Give the item number *at* another value."""
        start = self._value_start(at)
        data = self.data
        size = len(value)
        was_far = packed_octets.is_far(data, start)
        if was_far and size >= packed_octets.FAR_FROM:
            self._replace_far(packed_octets.number_of(data, start), value)
        elif not was_far and packed_octets.size_of(data, start) == size:
            packed_octets.put_text(data, start, value)
        else:
            self._renew(at, start, value)

    def _renew(self, at: int, start: int, value: bytes) -> None:
        """Replace the value at *start*, of the item number *at*, by one of another length.

        1. The last item of the data stays where it is.
        2. Any other moves to the end and leaves a hole.
        """
        before = self._room()
        data = self.data
        offset = mark_octets.number_at(self.marks, at)
        old_end = packed_octets.behind(data, start)
        size = len(data)
        space = packed_octets.space_of(len(value))
        if packed_octets.is_far(data, start):
            self._drop_far(packed_octets.number_of(data, start))
        if old_end == size:  # 1
            octets.resize(data, start + space)
            self._put(start, value)
        else:  # 2
            octets.resize(data, size + start - offset + space)
            octets.move(data, size, offset, start - offset)
            self._put(size + start - offset, value)
            mark_octets.put_number(self.marks, at, size)
            self.holes += old_end - offset
        self._grew(self._room() - before)
        self._pack_if_holey()

    def remove(self, at: int) -> None:
        """Remove the item number *at*."""
        before = self._room()
        data = self.data
        offset = mark_octets.number_at(self.marks, at)
        start = packed_octets.behind(data, offset)
        end = packed_octets.behind(data, start)
        if self.far is not None:
            self._drop_text(offset)
            self._drop_text(start)
        mark_octets.remove_mark(self.marks, at)
        if end == len(data):
            octets.resize(data, offset)
        else:
            self.holes += end - offset
        self._grew(self._room() - before)
        self._pack_if_holey()

    def _put(self, at: int, text: bytes) -> int:
        """Write *text* at *at*, where there is room; return the offset behind it."""
        if len(text) < packed_octets.FAR_FROM:
            return packed_octets.put_text(self.data, at, text)
        return packed_octets.put_far(self.data, at, self._add_far(text))

    # ------------------------------------------------------------------ far texts

    def _add_far(self, text: bytes) -> int:
        """Keep a far text; return its number. The caller counts the list's memory."""
        self._grew(allocation.of_bytes(text))
        far = self.far
        if far is None:
            self.far = mark_octets.untracked([text])
            return 0
        for number in range(len(far)):
            if far[number] is None:
                far[number] = text
                return number
        far.append(text)
        return len(far) - 1

    def _replace_far(self, number: int, text: bytes) -> None:
        far = self.far
        assert far is not None
        self._grew(allocation.of_bytes(text) - allocation.of_bytes(far[number]))
        far[number] = text

    def _drop_far(self, number: int) -> None:
        """Forget a far text. The caller counts the list's memory."""
        far = self.far
        assert far is not None
        self._grew(-allocation.of_bytes(far[number]))
        far[number] = None
        while far and far[len(far) - 1] is None:
            far.pop()
        if not far:
            self.far = None

    def _drop_text(self, at: int) -> None:
        """Forget the text at *at* if it is far."""
        if packed_octets.is_far(self.data, at):
            self._drop_far(packed_octets.number_of(self.data, at))

    # ------------------------------------------------------------------ packing

    def _pack_if_holey(self) -> None:
        if self.holes * HOLES_SHARE > len(self.data):
            self._pack()

    def _pack(self) -> None:
        """Write all items anew, in order and without holes. O(bytes).

        They go to a new segment, which then exchanges its memory with this one.
        """
        packed = PackedSegment(self.local_depth)
        packed._take(self, 0, mark_octets.count(self.marks))
        self.marks, packed.marks = packed.marks, self.marks
        self.data, packed.data = packed.data, self.data
        self.far, packed.far = packed.far, self.far
        self._held, packed._held = packed._held, self._held
        self.holes = 0

    def _take(self, source: PackedSegment, first: int, end: int) -> None:
        """Copy items number *first* to before *end* of *source*, behind those that are here.

        Their prefixes must be greater than those here, or as great. Far texts are shared.
        """
        before = self._room()
        marks = self.marks
        at = mark_octets.count(marks)
        offset = len(self.data)
        octets.resize(self.data, offset + source._size_of(first, end))
        octets.resize(marks, (at + end - first) * mark_octets.MARK)
        octets.put_slice(
            marks,
            at * mark_octets.MARK,
            source.marks,
            first * mark_octets.MARK,
            (end - first) * mark_octets.MARK,
        )
        for number in range(first, end):
            mark_octets.put_number(marks, at, offset)
            at += 1
            offset = self._take_item(source, mark_octets.number_at(source.marks, number), offset)
        self._grew(self._room() - before)

    def _take_item(self, source: PackedSegment, at: int, to: int) -> int:
        """Copy the item that begins at *at* in *source* to *to*; return the offset behind it."""
        data = source.data
        start = packed_octets.behind(data, at)
        end = packed_octets.behind(data, start)
        octets.put_slice(self.data, to, data, at, end - at)
        if source.far is not None:
            self._take_far(source, at, to)
            self._take_far(source, start, to + start - at)
        return to + end - at

    def _take_far(self, source: PackedSegment, at: int, to: int) -> None:
        """Give the text at *to*, copied from *at* in *source*, a number of its own if it is far."""
        if packed_octets.is_far(source.data, at):
            text = packed_octets.text_at(source.data, at, source.far)
            packed_octets.put_far(self.data, to, self._add_far(text))

    def _size_of(self, first: int, end: int) -> int:
        """The bytes of the items number *first* to before *end*."""
        size = 0
        for at in range(first, end):
            size += packed_octets.behind(self.data, self._value_start(at))
            size -= mark_octets.number_at(self.marks, at)
        return size

    # ------------------------------------------------------------------ splits and merges

    def _live(self) -> int:
        """The bytes of all items."""
        return len(self.data) - self.holes

    def is_long(self) -> bool:
        return mark_octets.count(self.marks) > SPLIT_ABOVE or self._live() > SPLIT_ABOVE_BYTES

    def is_short(self) -> bool:
        """Whether it may be worth while to join this segment with a neighbour."""
        return mark_octets.count(self.marks) <= MERGE_UP_TO and self._live() <= MERGE_UP_TO_BYTES

    def may_join(self, after: Bucket) -> bool:
        other: PackedSegment = after  # type: ignore[assignment]  # a directory has one kind
        items = mark_octets.count(self.marks) + mark_octets.count(other.marks)
        return items <= MERGE_UP_TO and self._live() + other._live() <= MERGE_UP_TO_BYTES

    def part(self, first: int, end: int) -> Bucket:
        part = PackedSegment(self.local_depth + 1)
        part._take(self, first, end)
        return part

    def joined(self, after: Bucket) -> Bucket:
        joined = PackedSegment(self.local_depth - 1)
        other: PackedSegment = after  # type: ignore[assignment]
        joined._take(self, 0, mark_octets.count(self.marks))
        joined._take(other, 0, mark_octets.count(other.marks))
        return joined

    def copy(self) -> PackedSegment:
        """A segment with the same items. O(bytes)."""
        copy = PackedSegment(self.local_depth)
        copy._take(self, 0, mark_octets.count(self.marks))
        return copy

    # ------------------------------------------------------------------ integrity

    def check(self) -> None:
        """Raise AssertionError if marks, data, holes and far texts do not agree. For tests."""
        marks, data = self.marks, self.data
        prefixes = [mark_octets.prefix_at(marks, at) for at in range(len(self))]
        assert prefixes == sorted(prefixes), "marks out of order"
        assert prefixes == [mark_octets.prefix_of(key) for key in self.keys(0, len(self))]
        numbers: list[int] = []
        runs = []
        for at in range(len(self)):
            offset = mark_octets.number_at(marks, at)
            start = packed_octets.behind(data, offset)
            runs.append((offset, packed_octets.behind(data, start)))
            numbers += [
                packed_octets.number_of(data, text)
                for text in (offset, start)
                if packed_octets.is_far(data, text)
            ]
        end = 0
        for start, next_end in sorted(runs):
            assert end <= start, "items overlap"
            end = next_end
        assert end <= len(data), "an item goes beyond the end"
        assert sum(end - start for start, end in runs) + self.holes == len(data), "holes miscounted"
        assert self.holes * HOLES_SHARE <= len(data), "too many holes"
        self._check_far(numbers)

    def _check_far(self, numbers: list[int]) -> None:
        far = self.far or []
        kept = [number for number, text in enumerate(far) if text is not None]
        assert sorted(numbers) == kept, "a far text without an item, or with two"
        assert self.far is None or far[len(far) - 1] is not None, "far texts end with none"
        assert all(len(far[number]) >= packed_octets.FAR_FROM for number in kept)
        texts = sum(allocation.of_bytes(far[number]) for number in kept)
        assert self._held == OBJECT + self._room() + texts, "memory miscounted"
