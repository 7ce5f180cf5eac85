"""Segment: keys are sorted by hash prefix; keys of one prefix differ by their bytes."""

from __future__ import annotations

from itertools import count

import pytest

from storage.hash_table import mark_octets
from storage.hash_table.mark_octets import prefix_of
from storage.keyspace.key_table import KeyTable
from storage.keyspace.segment import Segment


@pytest.fixture(scope="module")
def colliding() -> tuple[bytes, bytes]:
    """Two keys of one prefix; about 80,000 keys have such a pair, as in the birthday paradox."""
    seen: dict[int, bytes] = {}
    for n in count():
        key = b"twin:%d" % n
        other = seen.setdefault(prefix_of(key), key)
        if other != key:
            return other, key
    raise AssertionError


def test_an_empty_segment_has_no_keys() -> None:
    segment = Segment(0)
    assert (len(segment), segment.first_from(7), segment.far) == (0, 0, None)


def test_a_segment_s_keys_are_sorted_by_prefix_and_share_its_first_bits() -> None:
    table = KeyTable()
    for n in range(2000):
        table.set(b"key:%d" % n, n, n)
    for segment in table.segments():
        marks = segment.marks
        prefixes = [mark_octets.prefix_at(marks, at) for at in range(len(segment))]
        assert prefixes == sorted(prefixes)
        assert len({prefix >> 32 - segment.local_depth for prefix in prefixes}) == 1


def test_an_item_has_key_last_use_kind_and_value() -> None:
    table = KeyTable()
    table.set(b"text", b"value", 0x01020304)
    table.set(b"n", 258, 7)
    value = bytearray(b"raw")
    table.set(b"object", value)
    (segment,) = table.segments()
    assert segment.data == (
        b"\x04text" + b"\x04\x03\x02\x01" + b"\x00" + b"\x05value"
        b"\x01n" + b"\x07\x00\x00\x00" + b"\x01" + b"\x08\x02\x01\x00\x00\x00\x00\x00\x00"
        b"\x06object" + b"\x00\x00\x00\x00" + b"\x02" + b"\xff\x00\x00\x00\x00"
    )
    assert segment.far == [value]


def test_a_value_of_the_same_length_is_written_in_place_whatever_its_kind() -> None:
    table = KeyTable()
    table.set(b"k", b"12345678")
    table.set(b"other", b"")
    (segment,) = table.segments()
    size = len(segment.data)
    table.set(b"k", 5)
    assert (len(segment.data), segment.holes, table.get(b"k")) == (size, 0, 5)
    table.set(b"k", b"abcdefgh")
    assert (len(segment.data), segment.holes, table.get(b"k")) == (size, 0, b"abcdefgh")


def test_a_value_of_another_length_moves_its_item_to_the_end() -> None:
    table = KeyTable()
    for n in range(20):
        table.set(b"key:%02d" % n, b"v")
    (segment,) = table.segments()
    size = len(segment.data)
    table.set(b"key:00", b"longer")
    assert len(segment.data) == size + 4 + 7 + 1 + 7
    assert segment.holes == 4 + 7 + 1 + 2
    assert table.get(b"key:00") == b"longer"
    table.check()


def test_an_object_s_number_is_used_again() -> None:
    table = KeyTable()
    for n in range(99):
        table.set(b"so that holes are few:%d" % n, b"")
    for n in range(5):
        table.set(b"%d" % n, bytearray(b"%d" % n))
    table.discard(b"1")
    table.set(b"3", b"no object")
    (segment,) = table.segments()
    assert (segment.far, segment.free) == ([b"0", None, b"2", None, b"4"], 2)
    table.set(b"new", bytearray(b"new"))
    assert (segment.far, segment.free) == ([b"0", b"new", b"2", None, b"4"], 1)
    table.discard(b"4")
    assert (segment.far, segment.free) == ([b"0", b"new", b"2"], 0)
    table.check()


def test_keys_of_one_prefix_are_distinct(colliding: tuple[bytes, bytes]) -> None:
    one, other = colliding
    table = KeyTable()
    table.set(one, 1, 10)
    assert table.get(other) is None
    table.set(other, 2, 20)
    assert (table.get(one), table.get(other)) == (1, 2)
    assert (table.last_use_of(one), table.last_use_of(other)) == (10, 20)
    assert table.pop(one) == 1
    assert (table.get(one), table.get(other)) == (None, 2)


def test_keys_of_one_prefix_come_in_one_page_of_a_scan(colliding: tuple[bytes, bytes]) -> None:
    table = KeyTable()
    for key in (*colliding, *(b"key:%d" % n for n in range(1000))):
        table.set(key, 0)
    cursor, page = table.scan(0, 1)
    pages = [page]
    while cursor:
        cursor, page = table.scan(cursor, 1)
        pages.append(page)
    assert [set(page) for page in pages if len(page) > 1] == [set(colliding)]
    assert sum(map(len, pages)) == 1002
