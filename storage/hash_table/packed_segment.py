# cython: boundscheck=False, wraparound=False
"""A segment of a packed table: some 100 items, keys and values, in one piece of memory.

    item    key | value     the value is a text as the key is

packed_bucket.py has the rest: how items are found, moved, packed and divided. A value of the same
length is written in place.
"""

from __future__ import annotations

from typing import Any

from storage.hash_table import mark_octets, packed_octets
from storage.hash_table.packed_bucket import PackedBucket


class PackedSegment(PackedBucket):
    """Items whose hash prefixes agree in their first *local_depth* bits, numbered from 0."""

    __slots__ = ()

    def another(self, local_depth: int) -> PackedBucket:
        return PackedSegment(local_depth)

    def end_of(self, offset: int) -> int:
        return packed_octets.behind(self.data, packed_octets.behind(self.data, offset))

    def drop_far_of(self, offset: int) -> None:
        self.drop_text(offset)
        self.drop_text(packed_octets.behind(self.data, offset))

    def take_far_of(self, source: PackedBucket, offset: int, to: int) -> None:
        self.take_text(source, offset, to)
        start = packed_octets.behind(source.data, offset)
        self.take_text(source, start, to + start - offset)

    def copy_at(self, at: int) -> Any:
        return self.value_at(at)

    def value_at(self, at: int) -> bytes:
        """The value of the item number *at*."""
        return packed_octets.text_at(self.data, self._value_start(at), self.far)

    def _value_start(self, at: int) -> int:
        """The offset of that value."""
        return packed_octets.behind(self.data, mark_octets.number_at(self.marks, at))

    # ------------------------------------------------------------------ changing

    def insert(self, at: int, key: bytes, value: bytes, prefix: int) -> None:
        """Insert an item as number *at*, which find() gave as ``-1 - at``."""
        space = packed_octets.space_of(len(key)) + packed_octets.space_of(len(value))
        offset = self.add_item(at, prefix, space)
        self.put_text(self.put_text(offset, key), value)

    def replace(self, at: int, value: bytes) -> None:
        """Give the item number *at* another value."""
        start = self._value_start(at)
        data = self.data
        size = len(value)
        was_far = packed_octets.is_far(data, start)
        if was_far and size >= packed_octets.FAR_FROM:
            self.replace_far(packed_octets.number_of(data, start), value)
        elif not was_far and packed_octets.size_of(data, start) == size:
            packed_octets.put_text(data, start, value)
        else:
            self._renew(at, start, value)

    def _renew(self, at: int, start: int, value: bytes) -> None:
        """Replace the value at *start*, of the item number *at*, by one of another length."""
        self.drop_text(start)
        kept = start - mark_octets.number_at(self.marks, at)
        offset = self.move_item(at, kept, kept + packed_octets.space_of(len(value)))
        self.put_text(offset + kept, value)
        self.pack_if_holey()

    # ------------------------------------------------------------------ integrity

    def check(self) -> None:
        """Raise AssertionError if marks, data, holes and far texts do not agree. For tests."""
        self.check_items()
        texts = []
        for at in range(len(self)):
            texts += [mark_octets.number_at(self.marks, at), self._value_start(at)]
        far = [text for text in texts if packed_octets.is_far(self.data, text)]
        self.check_far([packed_octets.number_of(self.data, text) for text in far])
