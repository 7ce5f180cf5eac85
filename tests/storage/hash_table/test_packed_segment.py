"""PackedSegment, as a table of few items uses it: its bytes, its holes and its far texts."""

from __future__ import annotations

import sys

import pytest

from storage.hash_table.mark_octets import prefix_of
from storage.hash_table.packed_segment import PackedSegment
from storage.hash_table.packed_table import PackedTable

FAR = b"f" * 512


def only_segment(table: PackedTable) -> PackedSegment:
    (segment,) = table.segments()
    assert isinstance(segment, PackedSegment)
    segment.check()
    return segment


def filled(items: int) -> PackedTable:
    table = PackedTable()
    for n in range(items):
        table.set(b"key:%02d" % n, b"value:%02d" % n)
    return table


def test_a_mark_has_prefix_and_offset_and_the_data_key_and_value() -> None:
    table = PackedTable()
    table.set(b"k", b"value")
    table.set(b"key", b"")
    segment = only_segment(table)
    assert segment.data == b"\x01k\x05value\x03key\x00"
    offsets = {prefix_of(b"k"): 0, prefix_of(b"key"): 8}
    assert segment.marks == b"".join(
        prefix.to_bytes(4, "little") + offset.to_bytes(4, "little")
        for prefix, offset in sorted(offsets.items())
    )
    assert (segment.far, segment.holes) == (None, 0)


def test_a_value_of_the_same_length_is_written_in_place() -> None:
    table = filled(3)
    before = bytes(only_segment(table).data)
    table.set(b"key:01", b"VALUE:01")
    segment = only_segment(table)
    assert segment.data == before.replace(b"value:01", b"VALUE:01")
    assert segment.holes == 0


def test_an_item_whose_value_changes_its_length_moves_to_the_end_and_leaves_a_hole() -> None:
    table = filled(20)
    before = bytes(only_segment(table).data)
    table.set(b"key:01", b"longer than before")
    segment = only_segment(table)
    assert segment.data == before + b"\x06key:01\x12longer than before"
    assert segment.holes == len(b"\x06key:01\x08value:01")


@pytest.mark.parametrize("value", [b"longer than before", b"", FAR])
def test_the_last_item_changes_its_length_where_it_is(value: bytes) -> None:
    table = filled(3)
    table.set(b"key:02", value)
    segment = only_segment(table)
    assert segment.holes == 0
    assert segment.data.startswith(b"\x06key:00\x08value:00\x06key:01\x08value:01\x06key:02")
    assert table.get(b"key:02") == value


def test_removing_leaves_a_hole_except_at_the_end() -> None:
    table = filled(20)
    table.discard(b"key:19")
    assert (len(only_segment(table).data), only_segment(table).holes) == (19 * 16, 0)
    table.discard(b"key:03")
    assert (len(only_segment(table).data), only_segment(table).holes) == (19 * 16, 16)


def test_more_holes_than_an_eighth_are_packed_in_the_order_of_the_marks() -> None:
    table = filled(16)
    table.discard(b"key:00")
    table.discard(b"key:01")
    assert only_segment(table).holes == 32
    table.discard(b"key:02")
    segment = only_segment(table)
    assert (segment.holes, len(segment.data)) == (0, 13 * 16)
    offsets = [int.from_bytes(segment.marks[at + 4 : at + 8], "little") for at in range(0, 104, 8)]
    assert offsets == list(range(0, 13 * 16, 16))


def test_far_texts_stay_the_objects_that_they_are() -> None:
    table = PackedTable()
    key, value = b"k" * 600, b"v" * 600
    table.set(key, value)
    segment = only_segment(table)
    assert segment.far == [key, value]
    assert segment.data.hex() == "ff00000000ff01000000"
    assert table.get(bytes(bytearray(key))) is value
    assert next(iter(table)) is key


def test_a_far_text_is_let_go_when_its_item_goes_or_changes() -> None:
    table = PackedTable()
    values = [bytes([n]) * 600 for n in range(3)]
    held = sys.getrefcount(values[0])
    table.set(b"k", values[0])
    table.set(b"k", values[1])
    table.set(b"other", values[0])
    table.set(b"other", b"short")
    table.set(b"third", values[0])
    table.discard(b"third")
    table.set(b"fourth", values[0])
    table.clear()
    held_at_last = sys.getrefcount(values[0])
    assert held_at_last == held


def test_the_number_of_a_far_text_that_has_gone_is_used_again() -> None:
    table = filled(40)  # so that few holes are not packed
    for n in range(3):
        table.set(b"%d" % n, bytes([n]) * 600)
    table.set(b"0", b"short")
    assert only_segment(table).far == [None, b"\1" * 600, b"\2" * 600]
    table.set(b"3", FAR)
    assert only_segment(table).far == [FAR, b"\1" * 600, b"\2" * 600]
    table.discard(b"2")
    table.discard(b"1")
    assert only_segment(table).far == [FAR]
    table.discard(b"3")
    assert only_segment(table).far == [None]  # the list is used again
    table.check()


def test_check_finds_what_does_not_agree() -> None:
    segment = only_segment(filled(20))
    segment.marks[4:8] = (7).to_bytes(4, "little")
    with pytest.raises(AssertionError):
        segment.check()
    segment = only_segment(filled(20))
    segment.marks[:4] = b"\xff\xff\xff\xff"
    with pytest.raises(AssertionError, match="out of order"):
        segment.check()
    segment = only_segment(filled(20))
    segment.data.extend(b"hole")
    with pytest.raises(AssertionError, match="holes miscounted"):
        segment.check()


def test_a_segment_s_items_are_sorted_by_prefix_and_share_its_first_bits() -> None:
    table = PackedTable()
    for n in range(2000):
        table.set(b"key:%d" % n, b"")
    for segment in table.segments():
        marks = segment.marks
        prefixes = [int.from_bytes(marks[at : at + 4], "little") for at in range(0, len(marks), 8)]
        assert prefixes == sorted(prefixes)
        assert len({prefix >> 32 - segment.local_depth for prefix in prefixes}) == 1


def test_segments_are_split_by_their_bytes_too() -> None:
    table = PackedTable()
    for n in range(500):
        table.set(b"key:%d" % n, b"v" * 500)
    segments = list(table.segments())
    assert all(len(segment.data) <= 32768 for segment in segments)
    assert len(segments) < 24
    table.check()
