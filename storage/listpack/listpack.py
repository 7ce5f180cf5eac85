# cython: boundscheck=False, wraparound=False
"""A listpack: strings and integers packed into one run of bytes, byte for byte as in Redis.

    listpack   total | count | element, element, ... | FF
    total      32 bits: the size of the whole in bytes, these and the FF included
    count      16 bits: the number of elements; 65535 means as many or more: walk to count them
    element    encoding, data | backlen; see storage/listpack/element_octets.py

A position is the offset of an element, so it is never 0. The backlen leads from an element to the
one before it.

The bytes are the beginning of a bytearray that may be longer, so appending is O(1). Removing the
first element and adding one before it are O(1) too, since the start of the bytearray can move.

Source: the listpack specification, https://github.com/antirez/listpack
"""

from __future__ import annotations

from collections.abc import Iterator

from octets import buffers
from storage import allocation, octets
from storage.errors import Corrupt, TooLarge
from storage.listpack import element_octets

HEADER = 6  # bytes; so this is the first element's position
END = 0xFF
LONG_STRING = 0xF0  # the encoding with a length of four bytes
EMPTY = b"\x07\x00\x00\x00\x00\x00\xff"
NONE = -1  # the position of no element
UNKNOWN = -1  # the count of a listpack whose elements were not counted yet
MANY = 65535  # in the header: as many elements or more
LIMIT = 1 << 30  # bytes; redis makes no listpack larger than that
MAX_ROOM = 1 << 16  # bytes that are reserved ahead of need, at most
FEW = 64  # bytes; up to this much unused memory is kept
OBJECT = 112  # bytes of the object, of its bytearray, and of the place where it is kept
SPARSE = 4  # memory is given back when less than a quarter of it is in use


class Element:
    """The result of Listpack.read: one object is made and filled many times."""

    __slots__ = ("is_int", "next", "number", "size", "start")

    def __init__(self) -> None:
        self.is_int = False
        self.number = 0  # the integer
        self.start = 0  # a string: where it begins in Listpack.data
        self.size = 0  # and how many bytes it has
        self.next = NONE  # the position of the element that follows


class Listpack:
    """A sequence of byte strings and signed 64-bit integers.

    Positions must come from the listpack itself and are valid until it changes: compiled, any other
    position reads beyond its memory. A step of a walk is O(1). A change is O(bytes after the
    position), but O(1) at the two ends. If the listpack would become larger than 1 GiB, TooLarge is
    raised and nothing is changed.
    """

    __slots__ = ("_room", "count", "data", "size")

    def __init__(self) -> None:
        self.data = octets.bytearray_of(EMPTY)  # the listpack and perhaps some room after it
        self.size = len(EMPTY)  # of the listpack, in bytes
        self.count = 0  # of elements, or UNKNOWN; see length
        self._room = 0  # bytes of memory that data has, as far as they have been counted
        allocation.used += OBJECT
        self._count_room()

    def __del__(self) -> None:
        allocation.used -= OBJECT + self._room

    # ------------------------------------------------------------------ as a whole

    @staticmethod
    def load(data: bytes) -> Listpack:
        """The listpack whose bytes are *data*. Raises Corrupt if there are too few or too many.

        Bytes from outside must pass ``check`` before anything else is done with them.
        """
        return Listpack.adopt(octets.bytearray_of(data))

    @staticmethod
    def adopt(data: bytearray) -> Listpack:
        """The listpack in *data*, which it owns from now on: nobody else may change it.

        Raises Corrupt if there are too few bytes or too many.
        """
        if not len(EMPTY) <= len(data) <= LIMIT:
            raise Corrupt(f"a listpack of {len(data)} bytes")
        return _of_buffer(data)

    def dump(self) -> bytes:
        """The bytes. O(N)."""
        return buffers.cut(self.data, 0, self.size)

    def copy(self) -> Listpack:
        """Another listpack of the same elements. O(N)."""
        made = Listpack()
        made.data = octets.exact(self.data, self.size)
        made._count_room()
        made.size = self.size
        made.count = self.count
        return made

    def shrink(self) -> None:
        """Give back the memory that is not in use, if it is a 256th or more. O(N), or O(1)."""
        if octets.capacity(self.data) - self.size > self.size >> 8:
            self.data = octets.exact(self.data, self.size)
            self._count_room()

    def reserve(self, size: int) -> None:
        """Make room for *size* more bytes, or for more: see _roomy(). Raises TooLarge."""
        needed = self.size + size
        if needed > LIMIT:
            raise TooLarge(f"a listpack of {needed} bytes")
        if needed > len(self.data):
            buffers.resize(self.data, _roomy(needed, size))
            self._count_room()

    def _count_room(self) -> None:
        """Update the memory count; called when the capacity of *data* may have changed."""
        room = octets.capacity(self.data)
        allocation.used += room - self._room
        self._room = room

    def check(self) -> None:
        """Raise Corrupt unless the bytes are a valid listpack. O(N).

        No byte outside of them is read, whatever they are.
        """
        if octets.u32(self.data, 0) != self.size:
            raise Corrupt("a listpack whose total is not its size")
        end = self.size - 1
        if self.data[end] != END:
            raise Corrupt("a listpack that does not end with FF")
        at = HEADER
        found = 0
        while at < end:
            at = self._checked(at, end)
            found += 1
        count = octets.u16(self.data, 4)
        if count not in (found, MANY):
            raise Corrupt("a listpack that does not have the elements that it counts")
        self.count = found

    def _checked(self, at: int, end: int) -> int:
        """Where the element at *at* ends, if it is one and ends before *end*."""
        if self.data[at] == LONG_STRING and end - at < 5:  # encoded_size will read its length
            raise Corrupt("a listpack's element goes beyond the end")
        size = element_octets.encoded_size(self.data, at)
        if size == 0:
            raise Corrupt("a listpack has an unknown encoding")
        after = at + size + element_octets.backlen_size(size)
        if after > end:
            raise Corrupt("a listpack's element goes beyond the end")
        if element_octets.backlen_before(self.data, after) != size:
            raise Corrupt("a listpack's element has another backlen than size")
        return after

    def __len__(self) -> int:
        return self.length()

    def length(self) -> int:
        """How many elements there are. O(1), but once O(N) if more than 65534 were loaded."""
        if self.count == UNKNOWN:
            self.count = self._distance(HEADER, self.size - 1)
        return self.count

    def _distance(self, start: int, end: int) -> int:
        """How many elements there are from *start* to *end*."""
        found = 0
        while start < end:
            start = self.behind(start)
            found += 1
        return found

    def __iter__(self) -> Iterator[bytes | int]:
        at = self.first()
        while at != NONE:
            yield self.get(at)
            at = self.next(at)

    # ------------------------------------------------------------------ walking

    def first(self) -> int:
        """The position of the first element, or -1."""
        return HEADER if self.data[HEADER] != END else NONE

    def last(self) -> int:
        """The position of the last element, or -1."""
        return self.prev(self.size - 1)

    def behind(self, at: int) -> int:
        """Where the element at *at* ends: the next one's position, or that of the closing FF."""
        size = element_octets.encoded_size(self.data, at)
        return at + size + element_octets.backlen_size(size)

    def next(self, at: int) -> int:
        """The position of the element after that at *at*, or -1."""
        at = self.behind(at)
        return at if self.data[at] != END else NONE

    def prev(self, at: int) -> int:
        """The position of the element before that at *at*, or -1."""
        if at == HEADER:
            return NONE
        size = element_octets.backlen_before(self.data, at)
        return at - element_octets.backlen_size(size) - size

    def seek(self, index: int) -> int:
        """The position of the element of that index, or -1. -1 is the last one's. O(N)."""
        count = self.length()
        if index < 0:
            index += count
        if not 0 <= index < count:
            return NONE
        if index <= count >> 1:
            at = HEADER
            while index > 0:
                at = self.behind(at)
                index -= 1
            return at
        at = self.size - 1
        while index < count:
            at = self.prev(at)
            index += 1
        return at

    # ------------------------------------------------------------------ reading

    def read(self, at: int, element: Element) -> int:
        """Fill *element* with what is at *at*; return the position of the next one, or -1.

        Makes no object.
        """
        data = self.data
        size = element_octets.encoded_size(data, at)
        if element_octets.is_string(data, at):
            head = element_octets.head_size(data, at)
            element.is_int = False
            element.start = at + head
            element.size = size - head
        else:
            element.is_int = True
            element.number = element_octets.number_at(data, at)
        after = at + size + element_octets.backlen_size(size)
        element.next = after if data[after] != END else NONE
        return element.next

    def get(self, at: int) -> bytes | int:
        """The element at *at*."""
        if element_octets.is_string(self.data, at):
            return self.get_bytes(at)
        return element_octets.number_at(self.data, at)

    def get_bytes(self, at: int) -> bytes:
        """The element at *at*; an integer as its decimal text."""
        if element_octets.is_string(self.data, at):
            head = element_octets.head_size(self.data, at)
            end = at + element_octets.encoded_size(self.data, at)
            return buffers.cut(self.data, at + head, end)
        return octets.decimal(element_octets.number_at(self.data, at))

    def get_int(self, at: int) -> int:
        """The integer at *at*. Raises Corrupt if it is a string."""
        if element_octets.is_string(self.data, at):
            raise Corrupt("a listpack has a string where an integer belongs")
        return element_octets.number_at(self.data, at)

    def matches(self, at: int, value: bytes) -> bool:
        """Whether ``get_bytes(at)`` is *value*. Makes no object."""
        if element_octets.is_string(self.data, at):
            head = element_octets.head_size(self.data, at)
            size = element_octets.encoded_size(self.data, at) - head
            return size == len(value) and octets.holds(self.data, at + head, value)
        return octets.is_int64(value) and octets.int64_of(value) == element_octets.number_at(
            self.data, at
        )

    def find(self, value: bytes, skip: int = 0) -> int:
        """The position of the first element whose ``get_bytes`` is *value*, or -1. O(N).

        After each element that is compared *skip* elements are passed over: in a listpack of names
        and values, 1 finds names only.
        """
        data = self.data
        is_number = octets.is_int64(value)
        number = octets.int64_of(value) if is_number else 0
        at = HEADER
        to_pass = 0
        while data[at] != END:
            size = element_octets.encoded_size(data, at)
            if to_pass > 0:
                to_pass -= 1
            else:
                if element_octets.is_string(data, at):
                    head = element_octets.head_size(data, at)
                    if size - head == len(value) and octets.holds(data, at + head, value):
                        return at
                elif is_number and element_octets.number_at(data, at) == number:
                    return at
                to_pass = skip
            at += size + element_octets.backlen_size(size)
        return NONE

    # ------------------------------------------------------------------ adding

    def append(self, value: bytes) -> None:
        """Add *value* at the end."""
        self.reserve(element_octets.most_bytes(len(value)))
        self.end_at(element_octets.put(self.data, self.size - 1, value), 1)

    def append_int(self, number: int) -> None:
        """Add a signed 64-bit *number* at the end."""
        self.reserve(element_octets.int_size(number) + 1)
        self.end_at(element_octets.put_int(self.data, self.size - 1, number), 1)

    def prepend(self, value: bytes) -> None:
        """Add *value* before the first element."""
        self.insert(HEADER, value)

    def insert(self, at: int, value: bytes) -> None:
        """Add *value* before the element at *at*, or at the end if that is the closing FF."""
        self._write(at, at, value, 1)

    def replace(self, at: int, value: bytes) -> int:
        """Put *value* in place of the element at *at*; return its position, which is the same."""
        self._write(at, self.behind(at), value, 0)
        return at

    def replace_int(self, at: int, number: int) -> int:
        """Put *number* in place of the element at *at*; return its position, which is the same.

        O(1) if it takes as many bytes.
        """
        self._open(at, self.behind(at), element_octets.int_size(number) + 1, 0)
        element_octets.put_int(self.data, at, number)
        return at

    def extend(self, other: Listpack) -> None:
        """Add all elements of *other*, another listpack, at the end."""
        size = other.size - len(EMPTY)
        self.reserve(size)
        count = self.length() + other.length()
        end = buffers.put_slice(self.data, self.size - 1, other.data, HEADER, size)
        self.end_at(end, 0)
        self.count = count
        self._write_header()

    def _write(self, at: int, end: int, value: bytes, more: int) -> None:
        """Put *value* in place of the bytes from *at* to *end*: *more* elements than before."""
        if octets.is_int64(value):
            number = octets.int64_of(value)
            self._open(at, end, element_octets.int_size(number) + 1, more)
            element_octets.put_int(self.data, at, number)
        else:
            size = element_octets.string_size(len(value))
            self._open(at, end, size + element_octets.backlen_size(size), more)
            element_octets.put_string(self.data, at, value)

    def _open(self, at: int, end: int, size: int, more: int) -> None:
        """Resize the bytes from *at* to *end* to *size*; the count changes by *more*."""
        growth = size - (end - at)
        if growth > 0:
            self._grow(at, end, growth)
        elif growth < 0:
            self._close(at, end, -growth)
        self.size += growth
        if self.count != UNKNOWN:
            self.count += more
        self._write_header()

    def _close(self, at: int, end: int, size: int) -> None:
        """Take *size* bytes away between *at* and *end*."""
        if at == HEADER:
            octets.drop_front(self.data, size)
        else:
            buffers.move(self.data, end - size, end, self.size - end)
        if SPARSE * (self.size - size) < octets.capacity(self.data) - FEW:
            self.data = octets.exact(self.data, self.size - size)
            self._count_room()

    def _grow(self, at: int, end: int, growth: int) -> None:
        """Make room for *growth* bytes more between *at* and *end*."""
        if self.size + growth > LIMIT:
            raise TooLarge(f"a listpack of {self.size + growth} bytes")
        if at == end == HEADER:
            octets.open_front(self.data, self.size, growth)
            self._count_room()
        else:
            self.reserve(growth)
            buffers.move(self.data, end + growth, end, self.size - end)

    def end_at(self, end: int, more: int) -> None:
        """Close the listpack at *end*, after *more* elements that were added.

        The caller has written them from the closing FF on, into room that it had reserved.
        """
        self.size = octets.put_u8(self.data, end, END)
        if self.count != UNKNOWN:
            self.count += more
        self._write_header()

    def _write_header(self) -> None:
        """Write total and count."""
        octets.put_u32(self.data, 0, self.size)
        octets.put_u16(self.data, 4, self.count if 0 <= self.count < MANY else MANY)

    # ------------------------------------------------------------------ removing

    def delete(self, at: int) -> int:
        """Remove the element at *at*; return the position of the next one, or -1."""
        self._open(at, self.behind(at), 0, -1)
        return at if self.data[at] != END else NONE

    def delete_range(self, index: int, count: int) -> None:
        """Remove *count* elements, or as many as there are, from that of *index* on. O(N)."""
        start = self.seek(index)
        if start != NONE:
            end = start
            removed = 0
            while removed < count and self.data[end] != END:
                end = self.behind(end)
                removed += 1
            self._open(start, end, 0, -removed)

    def take_first(self) -> bytes:
        """Remove the first element, which there must be, and return it as get_bytes does."""
        value = self.get_bytes(HEADER)
        self._open(HEADER, self.behind(HEADER), 0, -1)
        return value

    def take_last(self) -> bytes:
        """Remove the last element, which there must be, and return it as get_bytes does."""
        at = self.last()
        value = self.get_bytes(at)
        self._open(at, self.size - 1, 0, -1)
        return value

    def split(self, at: int) -> Listpack:
        """Move the element at *at* and all after it to a new listpack. O(N)."""
        moved = Listpack()
        size = self.size - 1 - at
        count = self._distance(at, self.size - 1)
        moved.reserve(size)
        moved.end_at(buffers.put_slice(moved.data, HEADER, self.data, at, size), count)
        self._open(at, self.size - 1, 0, -count)
        return moved


def of_one(value: bytes) -> Listpack:
    """A listpack of *value* alone, with room for another like it. Raises TooLarge."""
    size = len(EMPTY) + element_octets.most_bytes(len(value))
    if size > LIMIT:
        raise TooLarge(f"a listpack of {size} bytes")
    data = buffers.make(_roomy(size, len(value)))
    buffers.put(data, 0, EMPTY)
    made = Listpack.__new__(Listpack)
    made.data = data
    made.size = len(EMPTY)
    made.count = 0
    made._room = octets.capacity(data)  # noqa: SLF001  made here
    allocation.used += OBJECT + made._room  # noqa: SLF001
    made.end_at(element_octets.put(data, made.size - 1, value), 1)
    return made


def _roomy(needed: int, size: int) -> int:
    """How long the data is where *needed* bytes have to be, after *size* were added.

    More than is needed now, unless another addition as large would not fit into that.
    """
    room = min(needed >> 1, MAX_ROOM) if size < MAX_ROOM else 0
    return (needed + room) | 15  # one more is taken: blocks of 16


def of_dump(data: bytes) -> Listpack:
    """The listpack that has the bytes *data*, which its dump() gave. O(N)."""
    return _of_buffer(octets.bytearray_of(data))


def _of_buffer(data: bytearray) -> Listpack:
    """The listpack that has the bytes *data*, and *data* itself."""
    made = Listpack.__new__(Listpack)
    made.data = data
    made.size = len(data)
    count = octets.u16(data, 4)
    made.count = count if count < MANY else UNKNOWN
    made._room = octets.capacity(data)  # noqa: SLF001  made here
    allocation.used += OBJECT + made._room  # noqa: SLF001
    return made
