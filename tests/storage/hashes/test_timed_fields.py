"""Fields that expire: their two forms, what Triplets refuse to load, and memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from storage import allocation
from storage.errors import Corrupt
from storage.hash_table.packed_table import PackedTable
from storage.hashes.timed_fields import NO_EXPIRY, TimedFields
from storage.hashes.timed_table import TimedTable
from storage.hashes.triplets import Triplets
from storage.listpack.listpack import Listpack
from tests.used_memory import used_at_start

EVERY = 1000


def triplets() -> TimedFields:
    return Triplets.of_pairs(iter([]))


def table() -> TimedFields:
    return TimedTable.of_table(PackedTable())


BOTH = pytest.mark.parametrize("make", [triplets, table])


def filled(make: Callable[[], TimedFields], times: dict[bytes, int]) -> TimedFields:
    fields = make()
    for field, when_ms in times.items():
        fields.set(field, b"value of " + field, False)
        if when_ms != NO_EXPIRY:
            fields.expire_at(field, when_ms)
    return fields


@BOTH
def test_due_fields_come_oldest_first(make: Callable[[], TimedFields]) -> None:
    fields = filled(make, {b"a": 30, b"b": 10, b"c": NO_EXPIRY, b"d": 20})
    assert fields.next_expiry() == 10
    assert fields.due(10, EVERY) == []
    assert fields.due(25, EVERY) == [b"b", b"d"]
    assert fields.due(99, EVERY) == [b"b", b"d", b"a"]
    assert fields.due(99, 1) == [b"b"]


@BOTH
def test_a_new_value_has_no_time_unless_it_keeps_it(make: Callable[[], TimedFields]) -> None:
    fields = filled(make, {b"a": 30, b"b": 10})
    assert not fields.set(b"a", b"new", True)
    assert not fields.set(b"b", b"newer", False)
    assert fields.set(b"c", b"newest", True)
    assert [fields.expiry(field) for field in (b"a", b"b", b"c", b"d")] == [30, -1, -1, -1]
    assert [fields.get(field) for field in (b"a", b"b", b"d")] == [b"new", b"newer", None]
    assert fields.next_expiry() == 30


@BOTH
def test_a_copy_shares_nothing(make: Callable[[], TimedFields]) -> None:
    fields = filled(make, {b"a": 30, b"b": 10, b"c": NO_EXPIRY})
    copy = fields.copy()
    fields.remove(b"b")
    fields.expire_at(b"c", 5)
    assert (len(copy), copy.next_expiry(), copy.expiry(b"c")) == (3, 10, NO_EXPIRY)


def test_triplets_are_in_the_order_of_their_times() -> None:
    fields = filled(triplets, {b"a": 30, b"b": NO_EXPIRY, b"c": 10, b"d": 30})
    assert [field for field, *_ in fields.items()] == [b"c", b"d", b"a", b"b"]
    fields.expire_at(b"c", NO_EXPIRY)
    assert [field for field, *_ in fields.items()] == [b"d", b"a", b"b", b"c"]


def pack_of(*items: bytes | int) -> Triplets:
    pack = Listpack()
    for item in items:
        if isinstance(item, int):
            pack.append_int(item)
        else:
            pack.append(item)
    return Triplets(pack)


@pytest.mark.parametrize(
    "items",
    [
        (b"a",),
        (b"a", b"x"),
        (b"a", b"x", 5, b"b"),
        (b"a", b"x", 5, b"a", b"y", 6),
        (b"a", b"x", b"soon"),
        (b"a", b"x", -5),
        (b"a", b"x", 6, b"b", b"y", 5),
        (b"a", b"x", 0, b"b", b"y", 5),
    ],
)
def test_other_triplets_are_refused(items: tuple[bytes | int, ...]) -> None:
    with pytest.raises(Corrupt):
        pack_of(*items).check()


def test_well_formed_triplets_are_accepted() -> None:
    pack_of().check()
    pack_of(b"a", b"x", 5, b"b", b"y", 5, b"c", b"z", 9, b"d", b"", 0, b"e", b"", 0).check()


@BOTH
def test_memory_is_counted_and_given_back(make: Callable[[], TimedFields]) -> None:
    at_start = used_at_start()
    fields = make()
    for number in range(300):
        fields.set(b"field %d" % number, b"value", False)
        fields.expire_at(b"field %d" % number, 1_700_000_000_000 + number % 7)
    assert allocation.used_bytes() - at_start > 300 * 20
    assert fields.copy().next_expiry() == fields.next_expiry()
    for number in range(300):
        fields.remove(b"field %d" % number)
    assert fields.next_expiry() == NO_EXPIRY
    del fields
    assert allocation.used_bytes() == at_start
