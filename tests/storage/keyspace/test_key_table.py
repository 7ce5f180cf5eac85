"""KeyTable: reads and writes, last use, scans, and random keys."""

from __future__ import annotations

from collections import Counter
from itertools import count, islice

import pytest

from storage.chance import Chance
from storage.keyspace.key_table import KeyTable


def filled(keys: int) -> KeyTable:
    table = KeyTable()
    for n in range(keys):
        table.set(b"key:%d" % n, n)
    return table


def scanned(table: KeyTable, page: int) -> list[bytes]:
    keys: list[bytes] = []
    cursor = -1
    while cursor != 0:
        cursor, found = table.scan(max(cursor, 0), page)
        keys += found
    return keys


def keys_of_equal_prefix(keys: int, bits: int) -> list[bytes]:
    """Keys whose hashes share their top *bits*: a directory of that depth cannot separate them."""
    names = (b"alike:%d" % n for n in count())
    return list(islice((name for name in names if hash(name) % 2**64 >> 64 - bits == 5), keys))


def test_get_set_and_pop() -> None:
    table = KeyTable()
    assert table.get(b"k") is None
    assert table.get(b"k", 7) == 7
    table.set(b"k", 1)
    table.set(b"k", 2)
    assert (len(table), table.get(b"k"), b"k" in table) == (1, 2, True)
    assert table.pop(b"k", 3) == 2
    assert table.pop(b"k", 3) == 3
    assert (len(table), b"k" in table) == (0, False)


def test_a_value_may_be_none() -> None:
    table = KeyTable()
    table.set(b"k", None)
    assert (len(table), b"k" in table) == (1, True)
    assert table.pop(b"k", 1) is None


def test_set_and_use_record_when_a_key_was_last_used() -> None:
    table = KeyTable()
    table.set(b"k", 1, 7)
    assert table.last_use_of(b"k") == 7
    assert table.use(b"k", 8) == 1
    assert table.last_use_of(b"k") == 8
    table.set(b"k", 2, 2**32 - 1)
    assert (table.get(b"k"), table.last_use_of(b"k")) == (2, 2**32 - 1)
    assert (table.use(b"none", 9), table.last_use_of(b"none")) == (None, -1)


def test_last_uses_stay_with_their_keys_when_segments_split_and_merge() -> None:
    table = KeyTable()
    for n in range(5000):
        table.set(b"key:%d" % n, n, n)
    assert all(table.last_use_of(b"key:%d" % n) == n for n in range(5000))
    for n in range(4900):
        table.pop(b"key:%d" % n)
    assert [table.last_use_of(b"key:%d" % n) for n in range(4900, 5000)] == list(range(4900, 5000))


def test_all_keys_survive_growth_and_shrinking() -> None:
    table = filled(20_000)
    assert len(table) == 20_000
    assert dict(table.items()) == {b"key:%d" % n: n for n in range(20_000)}
    for n in range(0, 20_000, 2):
        assert table.pop(b"key:%d" % n) == n
    assert sorted(table) == sorted(b"key:%d" % n for n in range(1, 20_000, 2))
    for n in range(1, 20_000, 2):
        assert table.pop(b"key:%d" % n) == n
    assert (len(table), list(table)) == (0, [])


def test_clear_removes_all_keys() -> None:
    table = filled(1000)
    table.clear()
    assert (len(table), list(table), table.scan(0, 10)) == (0, [], (0, []))
    table.set(b"k", 1)
    assert list(table) == [b"k"]


@pytest.mark.parametrize("page", [1, 10, 170, 171, 100_000])
def test_a_scan_gives_each_key_once(page: int) -> None:
    table = filled(3000)
    assert sorted(scanned(table, page)) == sorted(table)


def test_a_scan_page_holds_as_many_keys_as_asked_for() -> None:
    table = filled(1000)
    for wanted in (1, 10, 400):
        cursor, page = table.scan(0, wanted)
        assert cursor
        assert len(page) == wanted


def test_the_cursor_of_the_last_page_is_zero() -> None:
    assert filled(0).scan(0, 10) == (0, [])
    cursor, page = filled(10).scan(0, 10)
    assert (cursor, len(page)) == (0, 10)


def test_a_cursor_past_all_keys_ends_the_scan() -> None:
    table = filled(100)
    for cursor in (2**63, 2**64 - 1):
        assert table.scan(cursor, 10) == (0, [])


def test_a_scan_after_a_mass_deletion_has_few_pages() -> None:
    table = filled(50_000)
    for n in range(50_000):
        if n % 1000:
            table.pop(b"key:%d" % n)
    pages = 1
    cursor, _ = table.scan(0, 10)
    while cursor:
        cursor, _ = table.scan(cursor, 10)
        pages += 1
    assert pages <= 6


def test_keys_whose_prefixes_cannot_be_split_share_a_segment() -> None:
    table = KeyTable()
    keys = keys_of_equal_prefix(400, bits=7)
    for key in keys:
        table.set(key, key)
    assert all(table.get(key) == key for key in keys)
    assert sorted(scanned(table, 9)) == sorted(keys)
    for key in keys:
        assert table.pop(key) == key
    assert list(table) == []


def test_keys_of_equal_prefix_are_kept_when_the_table_grows() -> None:
    keys = keys_of_equal_prefix(400, bits=5)
    table = KeyTable()
    for key in keys:
        table.set(key, 0)
    for n in range(5000):
        table.set(b"key:%d" % n, n)
    assert len(table) == 5400
    assert sorted(scanned(table, 50)) == sorted([*keys, *(b"key:%d" % n for n in range(5000))])


def test_every_key_can_be_the_random_key() -> None:
    table = filled(300)
    chance = Chance(1)
    drawn = {table.random_key(chance) for _ in range(10_000)}
    assert drawn == set(table)
    assert KeyTable().random_key(chance) is None


def test_places_are_drawn_evenly_and_only_where_keys_are() -> None:
    table = KeyTable()
    for n in range(1000):
        table.set(b"%d" % n, b"")
    for n in range(0, 1000, 2):
        table.discard(b"%d" % n)
    chance = Chance(2)
    drawn = [place for _ in range(2000) for place in table.draw_places(chance, 5)]
    keys = Counter(table.key_at(place) for place in drawn)
    assert set(keys) == set(table)
    expected = len(drawn) / 500
    assert all(expected / 3 < times < expected * 3 for times in keys.values())
    assert all(map(table.is_place, drawn))


def test_a_sample_holds_distinct_keys() -> None:
    table = filled(1000)
    chance = Chance(1)
    for wanted in (0, 1, 20, 500, 1000):
        keys = table.sample(chance, wanted)
        assert len(keys) == len(set(keys)) == wanted
    assert sorted(table.sample(chance, 2000)) == sorted(table)
    assert KeyTable().sample(chance, 5) == []


def test_each_key_has_one_place_and_the_places_follow_each_other_in_a_circle() -> None:
    table = filled(700)
    for n in range(0, 700, 3):
        table.pop(b"key:%d" % n)
    first = place = table.random_place(Chance(1))
    found = []
    for _ in range(len(table)):
        found.append(table.key_at(place))
        place = table.place_behind(place)
    assert place == first
    assert sorted(found) == sorted(table)
