# cython: boundscheck=False, wraparound=False
"""Items of a packed table as bulk strings, copied from buffer to buffer segment by segment."""

from __future__ import annotations

from protocol import octets
from protocol.encoder import Encoder
from storage.hash_table import mark_octets, packed_octets
from storage.hash_table.packed_segment import PackedSegment
from storage.hash_table.packed_table import PackedTable

PER_TEXT = 26  # bytes: more than a bulk string takes besides its text


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
            to = octets.put_bulk_slice(buffer, to, data, start, packed_octets.size_of(data, at))
        if values:
            at = packed_octets.behind(data, at)
            start = packed_octets.start_of(data, at)
            to = octets.put_bulk_slice(buffer, to, data, start, packed_octets.size_of(data, at))
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
