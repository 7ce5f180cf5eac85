# cython: boundscheck=False, wraparound=False
"""What listpacks and packed tables hold as bulk strings, copied from buffer to buffer in runs."""

from __future__ import annotations

from protocol import wire
from protocol.encoder import Encoder
from storage.hash_table import mark_octets, packed_octets
from storage.hash_table.packed_segment import PackedSegment
from storage.hash_table.packed_table import PackedTable
from storage.listpack import element_octets
from storage.listpack.listpack import Element, Listpack

NONE = -1
END = 0xFF  # the last byte of a listpack
PER_ELEMENT = 28  # bytes: more than a bulk string takes besides its text, or with a number
PER_TEXT = 26  # bytes: more than a text of a table takes besides itself
MUCH = 16384  # bytes: for more of a listpack, room is made element by element

# ---------------------------------------------------------------------- listpacks


def write_elements(out: Encoder, pack: Listpack, at: int, most: int) -> int:
    """Write the elements from position *at* on, *most* or as many as there are; return how many."""
    left = pack.size - at
    if left > MUCH:
        return _write_one_by_one(out, pack, at, most)
    out.reserve(left + min(most, left >> 1) * PER_ELEMENT)
    buffer = out.buffer
    to = out.end
    data = pack.data
    count = 0
    while count < most and data[at] != END:
        size = element_octets.encoded_size(data, at)
        if element_octets.is_string(data, at):
            head = element_octets.head_size(data, at)
            to = wire.put_bulk_slice(buffer, to, data, at + head, size - head)
        else:
            to = wire.put_bulk_number(buffer, to, element_octets.number_at(data, at))
        at += size + element_octets.backlen_size(size)
        count += 1
    out.end = to
    return count


def _write_one_by_one(out: Encoder, pack: Listpack, at: int, most: int) -> int:
    element = Element()
    count = 0
    while count < most and at != NONE:
        at = pack.read(at, element)
        write_element(out, pack, element)
        count += 1
    return count


def write_element(out: Encoder, pack: Listpack, element: Element) -> None:
    """Write what was read into *element*."""
    if element.is_int:
        out.bulk_int(element.number)
    else:
        out.bulk_slice(pack.data, element.start, element.size)


# ---------------------------------------------------------------------- packed tables


def write_items(out: Encoder, table: PackedTable, keys: bool, values: bool) -> None:
    """Write all *keys*, all *values*, or both in turns."""
    for item in table.segments():
        segment: PackedSegment = item
        if segment.far is None:
            _write_segment(out, segment, keys, values)
        else:
            _write_far(out, segment, keys, values)


def _write_segment(out: Encoder, segment: PackedSegment, keys: bool, values: bool) -> None:
    """Write the items of a segment whose texts are all in its data."""
    marks = segment.marks
    data = segment.data
    items = mark_octets.count(marks)
    out.reserve(len(data) + 2 * items * PER_TEXT)
    buffer = out.buffer
    to = out.end
    for number in range(items):
        at = mark_octets.number_at(marks, number)
        if keys:
            start = packed_octets.start_of(data, at)
            to = wire.put_bulk_slice(buffer, to, data, start, packed_octets.size_of(data, at))
        if values:
            at = packed_octets.behind(data, at)
            start = packed_octets.start_of(data, at)
            to = wire.put_bulk_slice(buffer, to, data, start, packed_octets.size_of(data, at))
    out.end = to


def _write_far(out: Encoder, segment: PackedSegment, keys: bool, values: bool) -> None:
    """Write the items of a segment with texts in objects of their own: huge ones are not copied."""
    for number in range(mark_octets.count(segment.marks)):
        at = mark_octets.number_at(segment.marks, number)
        if keys:
            out.bulk(packed_octets.text_at(segment.data, at, segment.far))
        if values:
            at = packed_octets.behind(segment.data, at)
            out.bulk(packed_octets.text_at(segment.data, at, segment.far))
