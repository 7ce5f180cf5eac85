"""Segment: keys are sorted by hash prefix; keys of one prefix differ by their bytes."""

from __future__ import annotations

from itertools import count

import pytest

from storage.hash_table.mark_octets import prefix_of
from storage.keyspace import segment_octets
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
    assert (len(segment), segment.first_from(7), segment.pairs) == (0, 0, [])


def test_a_segment_s_keys_are_sorted_by_prefix_and_share_its_first_bits() -> None:
    table = KeyTable()
    for n in range(2000):
        table.set(b"key:%d" % n, n, n)
    for segment in table.segments():
        prefixes = [prefix_of(key) for key in segment.pairs[::2]]
        assert prefixes == sorted(prefixes)
        assert len({prefix >> 32 - segment.local_depth for prefix in prefixes}) == 1


def test_a_mark_holds_prefix_and_last_use_and_a_pair_key_and_value() -> None:
    table = KeyTable()
    table.set(b"k", "value", 0x01020304)
    (segment,) = table.segments()
    assert segment.marks == prefix_of(b"k").to_bytes(4, "little") + b"\x04\x03\x02\x01"
    assert segment.pairs == [b"k", "value"]


def test_first_from_returns_a_key_s_number_or_where_it_would_be_inserted() -> None:
    table = KeyTable()
    for n in range(100):
        table.set(b"key:%d" % n, n)
    (segment,) = table.segments()
    keys = segment.pairs[::2]
    for number, key in enumerate(keys):
        assert segment.first_from(prefix_of(key)) == number
    for n in range(100):
        prefix = prefix_of(b"none:%d" % n)
        at = segment.first_from(prefix)
        assert all(prefix_of(key) < prefix for key in keys[:at])
        assert all(prefix_of(key) >= prefix for key in keys[at:])


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


def test_the_plain_python_functions_edit_pairs() -> None:
    pairs: list[object] = []
    for at, key in ((0, b"5"), (1, b"9"), (1, b"7")):
        segment_octets.insert_pair(pairs, at, key, key + b"!")
    assert pairs == [b"5", b"5!", b"7", b"7!", b"9", b"9!"]
    segment_octets.remove_pair(pairs, 0)
    assert pairs == [b"7", b"7!", b"9", b"9!"]
    assert segment_octets.is_key(pairs, 1, b"9")
    assert not segment_octets.is_key(pairs, 1, b"7")
