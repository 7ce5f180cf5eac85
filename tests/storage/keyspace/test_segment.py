"""Segment: keys in the order of their prefixes, and told apart by their bytes."""

from __future__ import annotations

from itertools import count

import pytest

from storage.keyspace import segment_octets
from storage.keyspace.key_table import KeyTable
from storage.keyspace.segment import Segment
from storage.keyspace.segment_octets import prefix_of


@pytest.fixture(scope="module")
def twins() -> tuple[bytes, bytes]:
    """Two keys of one prefix: among 80,000 keys there are such, as with birthdays."""
    seen: dict[int, bytes] = {}
    for n in count():
        key = b"twin:%d" % n
        other = seen.setdefault(prefix_of(key), key)
        if other != key:
            return other, key
    raise AssertionError


def test_a_segment_of_no_keys_has_none() -> None:
    segment = Segment(0)
    assert (len(segment), segment.first_from(7), segment.find(b"k", 7)) == (0, 0, -1)
    assert (segment.keys(0, 0), segment.items()) == ([], [])


def test_keys_stand_in_the_order_of_their_places_and_share_their_first_bits() -> None:
    table = KeyTable()
    for n in range(2000):
        table.set(b"key:%d" % n, n, n)
    for segment in table.segments():
        prefixes = [prefix_of(key) for key in segment.keys(0, len(segment))]
        assert prefixes == sorted(prefixes)
        assert len({prefix >> 32 - segment.local_depth for prefix in prefixes}) == 1


def test_a_mark_is_a_place_and_a_stamp_and_a_pair_a_key_and_its_value() -> None:
    table = KeyTable()
    table.set(b"k", "value", 0x01020304)
    (segment,) = table.segments()
    assert segment.marks == prefix_of(b"k").to_bytes(4, "little") + b"\x04\x03\x02\x01"
    assert segment.pairs == [b"k", "value"]


def test_a_key_is_found_at_its_number_or_the_number_it_would_have() -> None:
    table = KeyTable()
    for n in range(100):
        table.set(b"key:%d" % n, n)
    (segment,) = table.segments()
    for number, key in enumerate(segment.keys(0, 100)):
        assert segment.find(key, prefix_of(key)) == number
        assert segment.first_from(prefix_of(key)) == number
    for n in range(100):
        at = -1 - segment.find(b"none:%d" % n, prefix_of(b"none:%d" % n))
        assert all(prefix_of(key) <= prefix_of(b"none:%d" % n) for key in segment.keys(0, at))
        assert all(prefix_of(key) >= prefix_of(b"none:%d" % n) for key in segment.keys(at, 100))


def test_keys_of_one_place_are_told_apart(twins: tuple[bytes, bytes]) -> None:
    one, other = twins
    table = KeyTable()
    table.set(one, 1, 10)
    assert table.get(other) is None
    table.set(other, 2, 20)
    assert (table.get(one), table.get(other)) == (1, 2)
    assert (table.last_use_of(one), table.last_use_of(other)) == (10, 20)
    assert table.pop(one) == 1
    assert (table.get(one), table.get(other)) == (None, 2)


def test_keys_of_one_place_come_in_one_page_of_a_scan(twins: tuple[bytes, bytes]) -> None:
    table = KeyTable()
    for key in (*twins, *(b"key:%d" % n for n in range(1000))):
        table.set(key, 0)
    cursor, page = table.scan(0, 1)
    pages = [page]
    while cursor:
        cursor, page = table.scan(cursor, 1)
        pages.append(page)
    assert [set(page) for page in pages if len(page) > 1] == [set(twins)]
    assert sum(map(len, pages)) == 1002


def test_the_plain_functions_agree_on_marks_and_pairs() -> None:
    marks = bytearray()
    pairs: list[object] = segment_octets.untracked([])
    for number, prefix in enumerate((5, 9, 7)):
        at = segment_octets.first_from(marks, number // 2, prefix)
        segment_octets.insert_mark(marks, at, prefix, 2**32 + number)
        segment_octets.insert_pair(pairs, at, b"%d" % prefix, number)
    assert pairs == [b"5", 0, b"7", 2, b"9", 1]
    assert [segment_octets.prefix_at(marks, at) for at in range(3)] == [5, 7, 9]
    assert [segment_octets.last_use_at(marks, at) for at in range(3)] == [0, 2, 1]
    segment_octets.put_last_use(marks, 1, 77)
    segment_octets.remove_mark(marks, 0)
    segment_octets.remove_pair(pairs, 0)
    assert (segment_octets.last_use_at(marks, 0), pairs) == (77, [b"7", 2, b"9", 1])
    assert segment_octets.is_key(pairs, 1, b"9")
    assert not segment_octets.is_key(pairs, 1, b"7")
