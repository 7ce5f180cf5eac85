"""PackedTable: reads and writes, scans, random keys, copies, and the memory that is counted."""

from __future__ import annotations

from itertools import count, islice

import pytest

from storage import allocation
from storage.chance import Chance
from storage.hash_table.mark_octets import prefix_of
from storage.hash_table.packed_table import PackedTable
from tests.used_memory import used_at_start


def filled(items: int) -> PackedTable:
    table = PackedTable()
    for n in range(items):
        table.set(b"key:%d" % n, b"%d" % n)
    return table


def scanned(table: PackedTable, page: int) -> list[bytes]:
    keys: list[bytes] = []
    cursor = -1
    while cursor != 0:
        cursor, found = table.scan(max(cursor, 0), page)
        keys += found
    return keys


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


def test_get_set_and_pop() -> None:
    table = PackedTable()
    assert table.get(b"k") is None
    assert table.get(b"k", b"default") == b"default"
    assert table.set(b"k", b"1")
    assert not table.set(b"k", b"2")
    assert (len(table), table.used, table.get(b"k"), b"k" in table) == (1, 1, b"2", True)
    assert table.pop(b"k", b"3") == b"2"
    assert table.pop(b"k", b"3") == b"3"
    assert (len(table), b"k" in table) == (0, False)


def test_keys_and_values_may_be_empty() -> None:
    table = PackedTable()
    assert table.set(b"", b"")
    assert (len(table), b"" in table, table.get(b"")) == (1, True, b"")
    assert table.discard(b"")
    assert not table.discard(b"")


def test_all_items_survive_growth_and_shrinking() -> None:
    table = filled(20_000)
    table.check()
    assert dict(table.items()) == {b"key:%d" % n: b"%d" % n for n in range(20_000)}
    for n in range(0, 20_000, 2):
        assert table.pop(b"key:%d" % n) == b"%d" % n
    table.check()
    assert sorted(table) == sorted(b"key:%d" % n for n in range(1, 20_000, 2))
    for n in range(1, 20_000, 2):
        assert table.discard(b"key:%d" % n)
    table.check()
    assert (len(table), list(table)) == (0, [])
    assert len(list(table.segments())) == 1


def test_clear_removes_all_items() -> None:
    table = filled(1000)
    table.clear()
    assert (len(table), list(table), table.scan(0, 10)) == (0, [], (0, []))
    table.set(b"k", b"1")
    assert list(table.items()) == [(b"k", b"1")]


def test_a_copy_has_the_same_items_and_a_life_of_its_own() -> None:
    table = filled(3000)
    table.set(b"far", b"f" * 600)
    copy = table.copy()
    copy.check()
    assert dict(copy.items()) == dict(table.items())
    assert copy.get(b"far") is table.get(b"far")
    for n in range(3000):
        table.discard(b"key:%d" % n)
    assert len(copy) == 3001
    assert copy.get(b"key:7") == b"7"
    assert list(table) == [b"far"]


def test_keys_of_one_prefix_are_distinct(colliding: tuple[bytes, bytes]) -> None:
    one, other = colliding
    table = PackedTable()
    table.set(one, b"1")
    assert table.get(other) is None
    table.set(other, b"2")
    assert (table.get(one), table.get(other)) == (b"1", b"2")
    assert table.pop(one) == b"1"
    assert (table.get(one), table.get(other)) == (None, b"2")


def test_keys_of_one_prefix_come_in_one_page_of_a_scan(colliding: tuple[bytes, bytes]) -> None:
    table = filled(1000)
    for key in colliding:
        table.set(key, b"")
    cursor, page = table.scan(0, 1)
    pages = [page]
    while cursor:
        cursor, page = table.scan(cursor, 1)
        pages.append(page)
    assert [set(page) for page in pages if len(page) > 1] == [set(colliding)]
    assert sum(map(len, pages)) == 1002


@pytest.mark.parametrize("page", [1, 10, 170, 171, 100_000])
def test_a_scan_gives_each_key_once(page: int) -> None:
    table = filled(3000)
    assert sorted(scanned(table, page)) == sorted(table)


@pytest.mark.parametrize("wanted", [1, 10, 400])
def test_a_page_with_values_has_as_many_items_as_one_without(wanted: int) -> None:
    table = filled(1000)
    cursor, keys = table.scan(0, wanted)
    assert len(keys) == wanted
    flat = [part for key in keys for part in (key, table.get(key))]
    assert table.scan_items(0, wanted) == (cursor, flat)


def test_a_cursor_past_all_keys_ends_the_scan() -> None:
    table = filled(100)
    for cursor in (2**63, 2**64 - 1):
        assert table.scan(cursor, 10) == (0, [])


def test_keys_whose_prefixes_cannot_be_split_share_a_segment() -> None:
    names = (b"alike:%d" % n for n in count())
    keys = list(islice((name for name in names if hash(name) % 2**64 >> 57 == 5), 400))
    table = PackedTable()
    for key in keys:
        table.set(key, key)
    table.check()
    assert all(table.get(key) == key for key in keys)
    assert sorted(scanned(table, 9)) == sorted(keys)
    for key in keys:
        assert table.pop(key) == key
    assert list(table) == []


def test_every_key_can_be_the_random_key() -> None:
    table = filled(300)
    chance = Chance(1)
    drawn = {table.random_key(chance) for _ in range(10_000)}
    assert drawn == set(table)
    assert PackedTable().random_key(chance) is None


def test_a_sample_holds_distinct_keys() -> None:
    table = filled(1000)
    chance = Chance(1)
    for wanted in (0, 1, 20, 500, 1000):
        keys = table.sample(chance, wanted)
        assert len(keys) == len(set(keys)) == wanted
    assert sorted(table.sample(chance, 2000)) == sorted(table)
    assert PackedTable().sample(chance, 5) == []


def test_the_memory_that_is_counted_comes_back() -> None:
    start = used_at_start()
    table = PackedTable()
    empty = allocation.used_bytes()
    for n in range(5000):
        table.set(b"key:%d" % n, b"v" * (n % 1000))
    full = allocation.used_bytes()
    copy = table.copy()
    assert allocation.used_bytes() > full
    del copy
    assert allocation.used_bytes() == full
    for n in range(5000):
        table.discard(b"key:%d" % n)
    table.check()
    assert empty <= allocation.used_bytes() < empty + 2000  # marks keep some spare room
    table.clear()
    assert allocation.used_bytes() == empty > start
    del table
    assert allocation.used_bytes() == start


def test_small_items_take_little_more_memory_than_their_texts() -> None:
    start = used_at_start()
    table = PackedTable()
    for n in range(50_000):
        table.set(b"field:%06d" % n, b"%08d" % n)
    beside = (allocation.used_bytes() - start) / 50_000 - 20
    assert beside < 16
