"""Small values: the key table keeps them packed, and as objects while somebody may change them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from storage import allocation, types
from storage.hashes.hash import Hash
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.key_table import FEW, KeyTable
from storage.keyspace.keyspace import Keyspace
from storage.keyspace.settings import LooseKeys
from storage.limits import ListpackLimits, SetLimits
from storage.lists.quicklist import QuickList
from storage.sets.member_set import MemberSet
from storage.sorted_sets.sorted_set import SortedSet
from storage.stream.stream import Stream
from tests.used_memory import used_at_start

LIMITS = ListpackLimits(128, 64)
SET_LIMITS = SetLimits()


def a_hash(fields: int = 3) -> Hash:
    made = Hash()
    for n in range(fields):
        made.set(b"field:%d" % n, b"value:%d" % n, LIMITS)
    return made


def a_set(*members: bytes) -> MemberSet:
    made = MemberSet()
    for member in members:
        made.add(member, SET_LIMITS)
    return made


def a_sorted_set(members: int = 3) -> SortedSet:
    made = SortedSet()
    for n in range(members):
        made.put(b"member:%d" % n, n / 2, LIMITS)
    return made


def a_list(*elements: bytes) -> QuickList:
    made = QuickList()
    for element in elements:
        made.push_right(element)
    return made


SMALL = {
    "hash": a_hash(),
    "intset": a_set(b"1", b"-5", b"70000"),
    "listpack set": a_set(b"one", b"2"),
    "sorted set": a_sorted_set(),
    "list": a_list(b"one", b"2"),
}


def packed_table(value: object, many: int = 1024) -> KeyTable:
    all_loose = LooseKeys()
    all_loose.many = many
    table = KeyTable(all_loose)
    table.set(b"k", value, 7)
    table.pack(1)
    table.check()
    return table


def digest(value: object) -> list[bytes]:
    row = types.of(value)
    return [*row.digest_parts(value), b"|", *sorted(row.digest_members(value))]


@pytest.mark.parametrize("name", SMALL)
def test_a_small_value_is_packed_and_comes_back_as_it_was(name: str) -> None:
    value = SMALL[name]
    table = packed_table(value)
    (segment,) = table.segments()
    assert not any(segment.far or ())
    for found in (table.look(b"k"), table.get(b"k")):
        assert found is not value
        assert types.of(found).encoding(found) == types.of(value).encoding(value)
        assert digest(found) == digest(value)


LARGE = [
    a_hash(200),
    a_hash(60),
    a_set(*(b"%d" % n for n in range(300))),
    a_set(*(b"%d" % n for n in range(1000))),
    a_sorted_set(129),
    a_list(*(b"element" * 10 for _ in range(200))),
    a_list(b"e" * 9000),
]


@pytest.mark.parametrize("value", [*LARGE, bytearray(b"raw"), b"t" * 512])
def test_a_large_value_stays_the_object_that_it_is(value: object) -> None:
    table = packed_table(value)
    assert table.get(b"k") is value


def test_an_object_that_was_looked_up_to_be_changed_is_kept_until_it_is_packed_again() -> None:
    table = packed_table(a_hash())
    found = table.get(b"k")
    found.set(b"field:1", b"another", LIMITS)
    assert table.get(b"k") is found
    table.check()
    table.pack(1)
    assert table.look(b"k").get(b"field:1") == b"another"
    assert table.look(b"k") is not found
    table.check()


def test_a_value_that_has_grown_beyond_the_limit_is_not_packed_again() -> None:
    table = packed_table(a_hash())
    found = table.get(b"k")
    found.set(b"large", b"v" * 600, ListpackLimits(128, 1000))
    table.pack(1)
    assert table.get(b"k") is found
    table.check()


def test_what_is_done_to_a_value_that_was_only_read_is_lost() -> None:
    table = packed_table(a_hash())
    table.look(b"k").set(b"field:1", b"lost", LIMITS)
    assert table.look(b"k").get(b"field:1") == b"value:1"


def test_the_room_of_a_packed_value_is_used_again() -> None:
    table = packed_table(a_hash())
    (segment,) = table.segments()
    size = len(segment.data)
    table.get(b"k").set(b"field:1", b"VALUE:1", LIMITS)
    table.pack(1)
    assert (len(segment.data), segment.holes) == (size, 0)


def test_loose_keys_are_counted_until_they_are_packed_or_forgotten() -> None:
    all_loose = LooseKeys()
    table = KeyTable(all_loose)
    for n in range(10):
        table.set(b"%d" % n, a_hash())
    assert (table.loose, all_loose.count) == (10, 10)
    table.pack(4)
    assert (table.loose, all_loose.count) == (6, 6)
    table.get(b"0")
    assert all_loose.count == 7
    table.clear()
    assert (table.loose, all_loose.count) == (0, 0)
    table.set(b"k", a_hash())
    del table
    assert all_loose.count == 0


def test_a_value_of_a_type_that_never_packs_is_not_loose() -> None:
    all_loose = LooseKeys()
    table = KeyTable(all_loose)
    table.set(b"stream", Stream())
    table.set(b"long", b"v" * 600)
    table.set(b"raw", bytearray(b"v"))
    assert (table.loose, all_loose.count) == (0, 0)


@pytest.mark.parametrize("remove", [KeyTable.discard, KeyTable.pop])
def test_an_empty_table_keeps_no_long_keys(
    remove: Callable[[KeyTable, bytes], object],
) -> None:
    """Once, sixty keys of a MB stayed in memory, and nothing was there to evict."""
    table = KeyTable(LooseKeys())
    used = used_at_start()
    for key in (b"x" * 1_000_000, b"y" * 1_000_000, b"short"):
        table.set(key, a_hash())
    for key in (b"x" * 1_000_000, b"y" * 1_000_000, b"short"):
        remove(table, key)
    assert table.loose == 0
    assert allocation.used_bytes() < used + 1000


@pytest.mark.parametrize("remove", [KeyTable.discard, KeyTable.pop])
def test_an_empty_table_has_few_loose_keys(remove: Callable[[KeyTable, bytes], object]) -> None:
    before = used_at_start()
    all_loose = LooseKeys()
    table = KeyTable(all_loose)
    empty = allocation.used_bytes()
    for count in range(1, FEW + 1):
        table.set(b"k", a_hash())
        remove(table, b"k")
        assert (table.loose, all_loose.count) == (count, count)
    table.check()
    table.set(b"k", a_hash())
    remove(table, b"k")
    assert (table.loose, all_loose.count) == (0, 0)
    assert empty < allocation.used_bytes() < empty + 1000  # some memory is used again
    table.clear()
    assert allocation.used_bytes() == empty
    del table
    assert allocation.used_bytes() == before


@pytest.mark.parametrize("many", [0, 1])
def test_a_lent_value_stays_packed_only_when_many_keys_are_loose(many: int) -> None:
    table = packed_table(a_hash(), many)
    value = table.lend(b"k", 5)
    value.set(b"field:1", b"changed", LIMITS)
    table.give_back(b"k", value)
    assert table.loose == many
    assert table.look(b"k").get(b"field:1") == b"changed"
    table.check()


def test_a_lent_value_that_has_grown_is_kept_as_an_object() -> None:
    table = packed_table(a_hash(), 0)
    value = table.lend(b"k", 5)
    for n in range(30):
        value.set(b"%d" % n, b"v" * 60, LIMITS)
    table.give_back(b"k", value)
    assert table.object_of(b"k") is value
    table.check()


def test_only_the_value_that_was_lent_is_written_where_it_was() -> None:
    """HSET of one hash overwrote another, for which a command of a wrong type had asked before."""
    table = packed_table(a_hash(), 0)
    other = a_hash()
    table.set(b"other", other)
    table.lend(b"k", 5)  # refused, and not given back
    other.set(b"field:1", b"changed", LIMITS)
    table.give_back(b"other", other)
    assert table.look(b"k").get(b"field:1") != b"changed"
    table.check()


def test_what_is_not_given_back_changes_nothing() -> None:
    table = packed_table(a_hash(), 0)
    table.lend(b"k", 5).set(b"field:1", b"changed", LIMITS)
    assert table.lend(b"other", 5) is None
    table.give_back(b"other", a_hash())
    assert table.look(b"k").get(b"field:1") != b"changed"


def test_a_table_without_a_count_keeps_objects_as_they_are() -> None:
    table = KeyTable()
    value = a_hash()
    table.set(b"k", value)
    table.pack(9)
    assert (table.loose, table.get(b"k") is value) == (0, True)


@pytest.mark.parametrize("name", SMALL)
def test_a_new_value_that_nobody_changes_is_packed_at_once(name: str) -> None:
    table = KeyTable(LooseKeys())
    table.keep(b"k", SMALL[name], 9)
    table.check()
    (segment,) = table.segments()
    assert (segment.far, table.loose, table.last_use_of(b"k")) == (None, 0, 9)
    assert digest(table.look(b"k")) == digest(SMALL[name])


@pytest.mark.parametrize("value", LARGE)
def test_a_new_value_that_is_large_is_kept_as_it_is(value: object) -> None:
    table = KeyTable(LooseKeys())
    table.keep(b"k", value, 9)
    assert table.get(b"k") is value
    table.check()


def test_packed_values_survive_splits_merges_and_holes() -> None:
    table = KeyTable(LooseKeys())
    for n in range(2000):
        table.set(b"key:%d" % n, a_hash(n % 5 + 1))
    table.pack(1500)
    for n in range(0, 2000, 3):
        table.get(b"key:%d" % n)
    for n in range(1000):
        assert table.discard(b"key:%d" % n)
    table.pack(table.loose)
    table.check()
    for n in range(1000, 2000):
        assert len(table.get(b"key:%d" % n)) == n % 5 + 1
    table.check()


def test_memory_is_back_where_it_was_when_packed_values_are_gone() -> None:
    before = used_at_start()
    table = KeyTable(LooseKeys())
    for n in range(1000):
        table.set(b"key:%d" % n, a_hash())
        table.set(b"set:%d" % n, a_set(b"1", b"2"))
    table.pack(1200)
    for n in range(0, 1000, 7):
        table.get(b"key:%d" % n)
    del table
    assert allocation.used_bytes() == before


def test_a_packed_hash_takes_less_than_half_of_what_its_objects_take() -> None:
    before = used_at_start()
    table = KeyTable(LooseKeys())
    for n in range(1000):
        table.set(b"key:%d" % n, a_hash())
    loose = allocation.used_bytes() - before
    table.pack(1000)
    assert allocation.used_bytes() - before < loose / 2


def test_a_database_packs_its_values_and_reads_them() -> None:
    db = Keyspace(0, KeyEvents())
    db.add(b"k", a_hash())
    assert db.loose == 1
    db.pack(1)
    assert db.loose == 0
    assert db.read(b"k", Hash).get(b"field:0") == b"value:0"  # type: ignore[union-attr]
    assert (b"k" in db, type(db.peek(b"k")), db.loose) == (True, Hash, 0)
    db.find(b"k", Hash)
    assert db.loose == 1


def test_bytes_of_a_key_have_its_place_and_its_object() -> None:
    db = Keyspace(0, KeyEvents())
    db.add(b"k", a_hash())
    loose = db.bytes_of(b"k", 0)
    db.pack(1)
    packed = db.bytes_of(b"k", 0)
    db.add(b"text", b"12345")
    assert packed == 8 + 4 + 2 + 1 + 1 + len(types.of(a_hash()).packed(a_hash()) or b"")
    assert loose > packed + 100
    assert db.bytes_of(b"text", 0) == 8 + 4 + 5 + 1 + 6
