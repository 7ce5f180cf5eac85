# cython: boundscheck=False, wraparound=False
"""A bucket whose items lie in one piece of memory: what packed tables and the key table consist of.

    marks   prefix offset | prefix offset | ...     bytearray, 4 + 4 bytes an item, little-endian,
                                                    ordered by prefix: see bucket.py
    data    item | (hole) | item | ...              bytearray; an item begins at its offset
    far     [object, None, object, ...]             list, or None if there have been none

    item    key | ...       the key is a text, written as packed_octets.py shows

Each kind of bucket says what is after the key. New items go to the end of the data. An item that
is removed leaves a hole, and so does one whose length changes: it moves to the end. *holes* counts
the bytes of all holes, and when they are more than an eighth of the data, the items are packed
again.

What is large is far: it stays the object that it is, and the item has its number in *far*, so that
packing and splitting move few bytes. A text is far from FAR_FROM bytes on (packed_octets.py): such
an object takes 11 % more memory than its text at most, no more than holes may take. A text of 20
bytes would take 72. A number whose object has gone is None, and is used again.

A snapshot, written by a forked child, must not touch reference counts: see borrowed_packed.py and
storage/snapshot/borrowed_table.py.
"""

from __future__ import annotations

from typing import Any, Final

from octets import buffers
from storage import allocation, octets
from storage.hash_table import mark_octets, packed_octets
from storage.hash_table.bucket import Bucket

# In items. Longer buckets would take less memory, but inserting and removing would take longer.
SPLIT_ABOVE: Final = 170
MERGE_UP_TO: Final = 64

# In bytes of data: what packing a bucket again may have to copy. The longest item has 1032 bytes.
SPLIT_ABOVE_BYTES: Final = 32768
MERGE_UP_TO_BYTES: Final = 12288

HOLES_SHARE: Final = 8  # holes may be one in so many bytes of data
OBJECT: Final = 192  # bytes of a bucket and its two bytearrays, without what is in them


class PackedBucket(Bucket):
    """Items whose hash prefixes agree in their first *local_depth* bits, numbered from 0.

    The methods that raise NotImplementedError are those that each kind has to define.
    """

    __slots__ = ("data", "far", "free", "holes")

    def __init__(self, local_depth: int) -> None:
        self.local_depth = local_depth
        self.marks = bytearray()
        self.data = bytearray()
        self.far: list[Any] | None = None
        self.free = 0  # how many numbers of *far* may be used again
        self.holes = 0
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= OBJECT + self._room() + packed_octets.list_room(self.far)
        for thing in self.far or ():
            allocation.used -= allocation.of_string(thing)

    def _room(self) -> int:
        """The bytes of marks and data; far objects are counted when they come and go."""
        return octets.capacity(self.marks) + octets.capacity(self.data)

    # ------------------------------------------------------------------ what each kind defines

    def another(self, local_depth: int) -> PackedBucket:
        """An empty bucket of the same kind."""
        raise NotImplementedError

    def end_of(self, offset: int) -> int:
        """Where the item ends that begins at *offset*."""
        raise NotImplementedError

    def drop_far_of(self, offset: int) -> None:
        """Forget the far objects of the item at *offset*."""
        raise NotImplementedError

    def take_far_of(self, source: PackedBucket, offset: int, to: int) -> None:
        """Give the item at *to* numbers of its own: it was copied from *offset* of *source*."""
        raise NotImplementedError

    def copy_at(self, at: int) -> Any:
        """The value of the item number *at*, for reading only."""
        raise NotImplementedError

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

    def keys(self, first: int, end: int) -> list[bytes]:
        keys = []
        for at in range(first, end):
            keys.append(self.key_at(at))  # noqa: PERF401  compiled, a list comprehension is slower
        return keys

    def flat_items(self, first: int, end: int) -> list[Any]:
        items = []
        for at in range(first, end):
            items.append(self.key_at(at))
            items.append(self.copy_at(at))
        return items

    # ------------------------------------------------------------------ items

    def add_item(self, at: int, prefix: int, size: int) -> int:
        """Make room for an item of *size* bytes as number *at*; return its offset. O(N)."""
        before = self._room()
        offset = len(self.data)
        buffers.resize(self.data, offset + size)
        mark_octets.insert_mark(self.marks, at, prefix, offset)
        allocation.used += self._room() - before
        return offset

    def move_item(self, at: int, kept: int, size: int) -> int:
        """Give the item number *at*, of which *kept* bytes stay, another size; return its offset.

        1. The last item of the data stays where it is.
        2. Any other moves to the end and leaves a hole. The caller packs the bucket if that makes
           too many holes, when it has written the item.
        """
        before = self._room()
        data = self.data
        offset = mark_octets.number_at(self.marks, at)
        old_end = self.end_of(offset)
        end = len(data)
        if old_end == end:  # 1
            buffers.resize(data, offset + size)
        else:  # 2
            buffers.resize(data, end + size)
            buffers.move(data, end, offset, kept)
            mark_octets.put_number(self.marks, at, end)
            self.holes += old_end - offset
            offset = end
        allocation.used += self._room() - before
        return offset

    def remove(self, at: int) -> None:
        """Remove the item number *at*."""
        before = self._room()
        offset = mark_octets.number_at(self.marks, at)
        end = self.end_of(offset)
        if self.far is not None:
            self.drop_far_of(offset)
        mark_octets.remove_mark(self.marks, at)
        if mark_octets.count(self.marks) == 0:
            octets.shorten(self.data, 0)
            self.holes = 0
        elif end == len(self.data):
            octets.shorten(self.data, offset)
        else:
            self.holes += end - offset
        allocation.used += self._room() - before
        self.pack_if_holey()

    # ------------------------------------------------------------------ texts

    def put_text(self, at: int, text: bytes) -> int:
        """Write *text* at *at*, where there is room; return the offset after it."""
        if len(text) < packed_octets.FAR_FROM:
            return packed_octets.put_text(self.data, at, text)
        return packed_octets.put_far(self.data, at, self.add_far(text))

    def drop_text(self, at: int) -> None:
        """Forget the text at *at* if it is far."""
        if packed_octets.is_far(self.data, at):
            self.drop_far(packed_octets.number_of(self.data, at))

    def take_text(self, source: PackedBucket, at: int, to: int) -> None:
        """Give the text at *to*, copied from *at* in *source*, a number of its own if it is far."""
        if packed_octets.is_far(source.data, at):
            self.take_far(source, packed_octets.number_of(source.data, at), to + 1)

    # ------------------------------------------------------------------ far objects

    def far_at(self, number: int) -> Any:
        """The far object of that number."""
        far = self.far
        assert far is not None
        return far[number]

    def add_far(self, thing: Any) -> int:
        """Keep a far object; return its number."""
        allocation.used += allocation.of_string(thing)
        far = self.far
        if far is None:
            self.far = far = mark_octets.untracked([thing])
            allocation.used += packed_octets.list_room(far)
            return 0
        if self.free:
            return self._add_far_again(thing)
        before = packed_octets.list_room(far)
        far.append(thing)
        allocation.used += packed_octets.list_room(far) - before
        return len(far) - 1

    def _add_far_again(self, thing: Any) -> int:
        """Keep a far object under a number that is free; return the number."""
        far = self.far
        assert far is not None
        number = 0
        while far[number] is not None:
            number += 1
        far[number] = thing
        self.free -= 1
        return number

    def replace_far(self, number: int, thing: Any) -> None:
        """Keep *thing* in place of the far object of that number."""
        far = self.far
        assert far is not None
        allocation.used += allocation.of_string(thing) - allocation.of_string(far[number])
        far[number] = thing

    def drop_far(self, number: int) -> None:
        """Forget a far object."""
        far = self.far
        assert far is not None
        allocation.used -= allocation.of_string(far[number]) + packed_octets.list_room(far)
        far[number] = None
        self.free += 1
        while len(far) > 1 and far[len(far) - 1] is None:  # the list stays: others may follow
            far.pop()
            self.free -= 1
        allocation.used += packed_octets.list_room(far)

    def take_far(self, source: PackedBucket, number: int, to: int) -> None:
        """Keep the far object of that number of *source*, and write its number here at *to*."""
        octets.put_u32(self.data, to, self.add_far(source.far_at(number)))

    # ------------------------------------------------------------------ packing

    def pack_if_holey(self) -> None:
        """Pack the items again if there are many holes."""
        if self.holes * HOLES_SHARE > len(self.data):
            self._pack()

    def _pack(self) -> None:
        """Write all items again, in order and without holes. O(bytes).

        They go to a new bucket, which then exchanges its memory with this one and is freed.
        """
        packed = self.another(self.local_depth)
        packed.take_items(self, 0, mark_octets.count(self.marks), self._live())
        self.marks, packed.marks = packed.marks, self.marks
        self.data, packed.data = packed.data, self.data
        self.far, packed.far = packed.far, self.far
        self.free = 0
        self.holes = 0

    def take_items(self, source: PackedBucket, first: int, end: int, size: int) -> None:
        """Copy items number *first* to before *end* of *source*, after those that are here.

        They have *size* bytes. Their prefixes must be greater than those here, or as great. Far
        objects are shared.
        """
        packed_octets.prefetch_all(source.far)
        before = self._room()
        marks = self.marks
        at = mark_octets.count(marks)
        offset = len(self.data)
        buffers.resize(self.data, offset + size)
        buffers.resize(marks, (at + end - first) * mark_octets.MARK)
        buffers.put_slice(
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
        allocation.used += self._room() - before

    def _take_item(self, source: PackedBucket, at: int, to: int) -> int:
        """Copy the item that begins at *at* in *source* to *to*; return the offset after it."""
        size = source.end_of(at) - at
        buffers.put_slice(self.data, to, source.data, at, size)
        if source.far is not None:
            self.take_far_of(source, at, to)
        return to + size

    def _size_of(self, first: int, end: int) -> int:
        """The bytes of the items number *first* to before *end*."""
        size = 0
        for at in range(first, end):
            offset = mark_octets.number_at(self.marks, at)
            size += self.end_of(offset) - offset
        return size

    # ------------------------------------------------------------------ splits and merges

    def _live(self) -> int:
        """The bytes of all items."""
        return len(self.data) - self.holes

    def is_long(self) -> bool:
        return mark_octets.count(self.marks) > SPLIT_ABOVE or self._live() > SPLIT_ABOVE_BYTES

    def is_short(self) -> bool:
        """Whether it may be worth while to join this bucket with a neighbour."""
        return mark_octets.count(self.marks) <= MERGE_UP_TO and self._live() <= MERGE_UP_TO_BYTES

    def may_join(self, after: Bucket) -> bool:
        other: PackedBucket = after  # type: ignore[assignment]  # a directory has one kind
        items = mark_octets.count(self.marks) + mark_octets.count(other.marks)
        return items <= MERGE_UP_TO and self._live() + other._live() <= MERGE_UP_TO_BYTES

    def part(self, first: int, end: int) -> Bucket:
        part = self.another(self.local_depth + 1)
        part.take_items(self, first, end, self._size_of(first, end))
        return part

    def joined(self, after: Bucket) -> Bucket:
        joined = self.another(self.local_depth - 1)
        other: PackedBucket = after  # type: ignore[assignment]
        joined.take_items(self, 0, mark_octets.count(self.marks), self._live())
        joined.take_items(other, 0, mark_octets.count(other.marks), other._live())
        return joined

    def copy(self) -> PackedBucket:
        """A bucket with the same items. O(bytes)."""
        copy = self.another(self.local_depth)
        copy.take_items(self, 0, mark_octets.count(self.marks), self._live())
        return copy

    # ------------------------------------------------------------------ integrity

    def check_items(self) -> None:
        """Raise AssertionError if marks, data and holes do not agree. For tests."""
        marks = self.marks
        prefixes = [mark_octets.prefix_at(marks, at) for at in range(len(self))]
        assert prefixes == sorted(prefixes), "marks out of order"
        assert prefixes == [mark_octets.prefix_of(key) for key in self.keys(0, len(self))]
        offsets = [mark_octets.number_at(marks, at) for at in range(len(self))]
        runs = sorted((offset, self.end_of(offset)) for offset in offsets)
        end = 0
        for start, next_end in runs:
            assert end <= start, "items overlap"
            end = next_end
        assert end <= len(self.data), "an item goes beyond the end"
        live = sum(end - start for start, end in runs)
        assert live + self.holes == len(self.data), "holes miscounted"

    def check_far(self, numbers: list[int]) -> None:
        """Raise AssertionError if *numbers* are not those of all far objects. For tests."""
        far = self.far
        kept = [] if far is None else [at for at, thing in enumerate(far) if thing is not None]
        assert sorted(numbers) == kept, "far objects without an item, or of several"
        assert self.free == (0 if far is None else len(far) - len(kept)), "free numbers miscounted"
