# cython: boundscheck=False, wraparound=False
"""A segment of the key table: some 100 keys and their values, in one piece of memory.

    item    key | last use | kind | cell        see item_octets.py

So a small string takes no object, and a look-up that finds it reads two places in memory: the mark
and the item. A value of the same length is written in place. storage/hash_table/packed_bucket.py
has the rest: how items are found, moved, packed and divided.

A small hash, set, sorted set or list may be packed: the cell has its bytes, and no object is kept.
When somebody may change it, it becomes an object, whose number is written over the first of these
bytes. The room for them stays: most values are as long when they are packed again.
"""

from __future__ import annotations

from typing import Any

from storage import allocation, octets, types
from storage.hash_table import mark_octets, packed_octets
from storage.hash_table.packed_bucket import PackedBucket
from storage.keyspace import item_octets


class Segment(PackedBucket):
    """Keys whose hash prefixes agree in their first *local_depth* bits, numbered from 0."""

    __slots__ = ()

    def another(self, local_depth: int) -> PackedBucket:
        return Segment(local_depth)

    def end_of(self, offset: int) -> int:
        return packed_octets.behind(self.data, _kind_start(self.data, offset) + 1)

    def drop_far_of(self, offset: int) -> None:
        self.drop_text(offset)
        start = _kind_start(self.data, offset)
        if self.data[start] == item_octets.OBJECT:
            self.drop_far(_object_of(self.data, start + 1))

    def take_far_of(self, source: PackedBucket, offset: int, to: int) -> None:
        self.take_text(source, offset, to)
        start = _kind_start(self.data, to)
        if self.data[start] == item_octets.OBJECT:
            place = _object_place(self.data, start + 1)
            self.take_far(source, octets.u32(source.data, place + offset - to), place)

    # ------------------------------------------------------------------ reading

    def kind_start(self, at: int) -> int:
        """Where the kind of the key number *at* is."""
        return _kind_start(self.data, mark_octets.number_at(self.marks, at))

    def kind_at(self, at: int) -> int:
        """What the cell of the key number *at* holds."""
        return self.data[self.kind_start(at)]

    def value_at(self, at: int) -> Any:
        """The value of the key number *at*. A packed one becomes an object, which is kept here."""
        return self.value_from(self.kind_start(at))

    def value_from(self, start: int) -> Any:
        """The value of the item whose kind is at *start*; as an object, which is kept here."""
        data = self.data
        kind = data[start]
        if kind == item_octets.TEXT:
            return packed_octets.text_at(data, start + 1, self.far)
        if kind == item_octets.OBJECT:
            return self.far_at(_object_of(data, start + 1))
        if kind == item_octets.NUMBER:
            return octets.i64(data, start + 2)
        return self._unpack(start)

    def _unpack(self, start: int) -> Any:
        """Make an object of the packed value whose kind is at *start*."""
        data = self.data
        value = self.unpacked(start)
        octets.put_u32(data, _object_place(data, start + 1), self.add_far(value))
        octets.put_u8(data, start, item_octets.OBJECT)
        return value

    def copy_at(self, at: int) -> Any:
        """The value of the key number *at*. Of a packed one, an object that is not kept."""
        start = self.kind_start(at)
        if self.data[start] >= item_octets.PACKED:
            return self.unpacked(start)
        return self.value_from(start)

    def unpacked(self, start: int) -> Any:
        """An object of the packed value whose kind is at *start*. It is not kept."""
        text = packed_octets.text_at(self.data, start + 1, self.far)
        return types.of_number(self.data[start] - item_octets.PACKED).unpacked(text)

    def number_at(self, at: int) -> int:
        """The value of the key number *at*, which is a number."""
        start = self.kind_start(at)
        return octets.i64(self.data, start + 2)

    def bytes_at(self, at: int) -> int:
        """The bytes that the key number *at* takes: mark and item, and its text if that is far."""
        offset = mark_octets.number_at(self.marks, at)
        size = mark_octets.MARK + self.end_of(offset) - offset
        if packed_octets.is_far(self.data, offset):
            size += allocation.of_bytes(self.key_at(at))
        return size

    def last_use_at(self, at: int) -> int:
        """The last use of the key number *at*."""
        key_at = mark_octets.number_at(self.marks, at)
        return octets.u32(self.data, packed_octets.behind(self.data, key_at))

    # ------------------------------------------------------------------ changing

    def insert(
        self, at: int, key: bytes, kind: int, value: Any, prefix: int, last_use: int
    ) -> None:
        """Insert a key as number *at*, which find() gave as ``-1 - at``.

        *kind*: what kind_of() says of *value*, or that of a type; then *value* is what it is packed
        as.
        """
        size = packed_octets.space_of(len(key)) + item_octets.USE + 1 + self._space_of(kind, value)
        behind = self.put_text(self.add_item(at, prefix, size), key)
        self._put_value(octets.put_u32(self.data, behind, last_use), kind, value)

    def use(self, at: int, last_use: int) -> None:
        """Set the last use of the key number *at*."""
        key_at = mark_octets.number_at(self.marks, at)
        octets.put_u32(self.data, packed_octets.behind(self.data, key_at), last_use)

    def replace(self, at: int, kind: int, value: Any) -> None:
        """Give the key number *at* another value, of which kind_of() says *kind*."""
        start = self.kind_start(at)
        if kind == item_octets.OBJECT and self.data[start] == kind:
            self.replace_far(_object_of(self.data, start + 1), value)
        else:
            self.rewrite(at, start, kind, value)

    def pack(self, at: int) -> None:
        """Keep the value of the key number *at* as bytes, if it is an object that is small."""
        start = self.kind_start(at)
        if self.data[start] == item_octets.OBJECT:
            value = self.far_at(_object_of(self.data, start + 1))
            row = types.of_class(type(value))
            text = row.packed(value)
            if text is not None:
                self.rewrite(at, start, item_octets.PACKED + row.number, text)

    def rewrite(self, at: int, start: int, kind: int, value: Any) -> None:
        """Replace kind and cell at *start*, of the key number *at*."""
        if self.data[start] == item_octets.OBJECT:
            self.drop_far(_object_of(self.data, start + 1))
        space = self._space_of(kind, value)
        old_space = packed_octets.behind(self.data, start + 1) - start - 1
        if kind != item_octets.OBJECT and space == old_space:
            self._put_value(start, kind, value)
        else:
            kept = start - mark_octets.number_at(self.marks, at)
            offset = self.move_item(at, kept, kept + 1 + space)
            self._put_value(offset + kept, kind, value)
            self.pack_if_holey()

    def kind_of(self, value: Any) -> int:
        """What a cell is that holds *value*."""
        kind = type(value)
        if kind is bytes:
            return item_octets.TEXT if len(value) < packed_octets.FAR_FROM else item_octets.OBJECT
        return item_octets.NUMBER if kind is int else item_octets.OBJECT

    def _space_of(self, kind: int, value: Any) -> int:
        """The bytes that a cell of that kind takes."""
        if kind == item_octets.OBJECT:
            return packed_octets.FAR_SIZE
        if kind == item_octets.NUMBER:
            return item_octets.NUMBER_CELL
        text: bytes = value
        return packed_octets.space_of(len(text))

    def _put_value(self, at: int, kind: int, value: Any) -> None:
        """Write *kind* and a cell of that kind at *at*, where there is room."""
        data = self.data
        at = octets.put_u8(data, at, kind)
        if kind == item_octets.OBJECT:
            packed_octets.put_far(data, at, self.add_far(value))
        elif kind == item_octets.NUMBER:
            octets.put_i64(data, octets.put_u8(data, at, item_octets.NUMBER_CELL - 1), value)
        else:
            packed_octets.put_text(data, at, value)

    # ------------------------------------------------------------------ integrity

    def check(self) -> None:
        """Raise AssertionError if marks, items, holes and far objects do not agree. For tests."""
        self.check_items()
        data = self.data
        numbers = []
        for at in range(len(self)):
            offset = mark_octets.number_at(self.marks, at)
            start = _kind_start(self.data, offset)
            if packed_octets.is_far(data, offset):
                numbers.append(packed_octets.number_of(data, offset))
            if data[start] == item_octets.OBJECT:
                numbers.append(_object_of(data, start + 1))
            else:
                assert not packed_octets.is_far(data, start + 1), "a cell that is not of its kind"
        self.check_far(numbers)


# ---------------------------------------------------------------------- items in their bytes


def _kind_start(data: bytearray, offset: int) -> int:
    """Where the kind of the item at *offset* is; the cell is after it."""
    return packed_octets.behind(data, offset) + item_octets.USE


def _object_place(data: bytearray, cell: int) -> int:
    """Where *cell*, the offset of one of the kind OBJECT, has the object's number."""
    if packed_octets.is_far(data, cell):
        return cell + 1
    return packed_octets.start_of(data, cell)


def _object_of(data: bytearray, cell: int) -> int:
    """The number of the object in *cell*, the offset of one of the kind OBJECT."""
    return octets.u32(data, _object_place(data, cell))
