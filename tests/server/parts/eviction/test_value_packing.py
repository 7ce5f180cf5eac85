"""ValuePacking: small values are packed when many keys are loose."""

from __future__ import annotations

from server.parts.eviction.value_packing import MOST_LOOSE, ValuePacking
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.sets.member_set import MemberSet


def filled(events: KeyEvents, keys: int) -> Keyspace:
    db = Keyspace(0, events)
    for n in range(keys):
        db.add(b"%d" % n, MemberSet())
    return db


def test_nothing_is_packed_while_few_keys_are_loose() -> None:
    events = KeyEvents()
    db = filled(events, MOST_LOOSE)
    ValuePacking([db], events.loose_keys).pack_some()
    assert (db.loose, events.loose_keys.count) == (MOST_LOOSE, MOST_LOOSE)


def test_half_is_packed_when_too_many_are_loose() -> None:
    events = KeyEvents()
    dbs = [filled(events, MOST_LOOSE), filled(events, 11)]
    ValuePacking(dbs, events.loose_keys).pack_some()
    assert [db.loose for db in dbs] == [MOST_LOOSE // 2, 5]
    assert events.loose_keys.count == MOST_LOOSE // 2 + 5


def test_cron_goes_on_where_a_turn_has_left_too_many() -> None:
    events = KeyEvents()
    db = filled(events, 20_000)
    packing = ValuePacking([db], events.loose_keys)
    packing.pack_some()
    assert db.loose == 20_000 - 4096
    for _ in range(20):
        packing.tick(0)
    assert db.loose <= MOST_LOOSE
