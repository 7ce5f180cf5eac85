"""How much memory a packed table takes, judged by a few of its segments: for MEMORY USAGE."""

from __future__ import annotations

from itertools import islice

from storage import allocation, octets
from storage.hash_table import mark_octets, packed_octets
from storage.hash_table.packed_segment import PackedSegment
from storage.hash_table.packed_table import PackedTable

SEGMENT = 192  # bytes of a segment without what is in it, as packed_bucket.py counts it


def table_bytes(table: PackedTable, samples: int) -> int:
    """The bytes of *table*, as its first *samples* segments have them; 0: all. O(their items)."""
    size = items = 0
    for segment in islice(table.segments(), samples or None):
        size += _segment_bytes(segment)
        items += mark_octets.count(segment.marks)
    return size * len(table) // max(items, 1)


def _segment_bytes(segment: PackedSegment) -> int:
    far = [allocation.of_bytes(text) for text in segment.far or () if text is not None]
    room = octets.capacity(segment.marks) + octets.capacity(segment.data)
    return SEGMENT + room + packed_octets.list_room(segment.far) + sum(far)
