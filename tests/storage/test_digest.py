"""DEBUG DIGEST: the same digests as redis-server 7.0, and what makes them differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage import digest, digest_sums
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.key_lookups import ANY
from storage.keyspace.keyspace import Keyspace
from storage.lists.quicklist import QuickList
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId


def make_list(*elements):
    made = QuickList()
    for element in elements:
        made.push_right(element)
    return made


def make_stream(*entries):
    made = Stream()
    for entry_id, fields in entries:
        made.append(StreamId.parse(entry_id), fields)
    return made


@pytest.fixture
def databases():
    events = KeyEvents()
    return [Keyspace(index, events) for index in range(3)]


@pytest.fixture
def db(databases):
    return databases[0]


def fill(databases):
    db = databases[0]
    db.add(b"k", b"hello")
    db.add(b"n", 12)
    db.add(b"l", make_list(b"a", b"b"))
    db.add(b"s", make_stream((b"1-1", [b"a", b"b"]), (b"2-2", [b"c", b"d", b"c", b"7"])))
    databases[2].add(b"k", b"hello")


# ---------------------------------------------------------------------- the same digests as Redis


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"k", "36b23a1456b2dce2c3ed252c456761301dba8060"),
        (b"n", "655ac46b180ad2f61a3cee25f0b1780fa2ec879a"),
        (b"l", "62f55a532623cf6c3d81081db480b6fd8461eb3f"),
        (b"s", "bcde285be644ac87e061033405deb5a4349b49d2"),
        (b"nosuch", "0" * 40),
    ],
)
def test_each_type_has_the_same_digest_as_in_redis(databases, db, key, expected):
    fill(databases)
    assert digest.of_key(db, key).hex() == expected


def test_an_expiry_changes_the_digest_whatever_its_time(databases, db):
    fill(databases)
    db.expire_at(b"k", 99_999_999_999_999)
    assert digest.of_key(db, b"k").hex() == "d037c4eb8a8b36b602fbced4000daeab0714c1e3"
    db.expire_at(b"k", 1)
    assert digest.of_key(db, b"k").hex() == "d037c4eb8a8b36b602fbced4000daeab0714c1e3"


def test_all_data_have_the_same_digest_as_in_redis(databases, db):
    fill(databases)
    db.expire_at(b"k", 99_999_999_999_999)
    assert digest.of_data(databases).hex() == "dab6b90a0cd0bd574b3b7868eec6756514bddf1f"


def test_the_digest_of_no_data_is_zero(databases):
    assert digest.of_data(databases) == digest_sums.NOTHING


# ---------------------------------------------------------------------- what makes digests differ


def test_the_form_of_a_string_does_not_matter(db):
    for key, value in ((b"a", b"12"), (b"b", 12), (b"c", bytearray(b"12"))):
        db.add(key, value)
    assert len({digest.of_key(db, key) for key in (b"a", b"b", b"c")}) == 1


def test_a_list_and_a_string_of_the_same_bytes_differ(db):
    db.add(b"a", b"x")
    db.add(b"b", make_list(b"x"))
    assert digest.of_key(db, b"a") != digest.of_key(db, b"b")


def test_deleted_entries_do_not_matter(db):
    whole = make_stream((b"1-1", [b"a", b"b"]), (b"2-1", [b"a", b"b"]))
    whole.delete(StreamId(2, 1))
    db.add(b"a", whole)
    db.add(b"b", make_stream((b"1-1", [b"a", b"b"])))
    assert digest.of_key(db, b"a") == digest.of_key(db, b"b")


def test_consumer_groups_do_not_matter(db):
    db.add(b"a", make_stream((b"1-1", [b"a", b"b"])))
    db.add(b"b", make_stream((b"1-1", [b"a", b"b"])))
    db.find(b"b", ANY).create_group(b"g", StreamId(1, 1))
    assert digest.of_key(db, b"a") == digest.of_key(db, b"b")


def test_an_expired_key_matters_until_it_is_removed(db):
    db.add(b"a", b"x")
    db.expire_at(b"a", 5)
    db.events.clock.now_ms = 10
    assert digest.of_key(db, b"a") != digest_sums.NOTHING
    assert digest.of_data([db]) != digest_sums.NOTHING
    assert db.find(b"a", ANY) is None
    assert digest.of_data([db]) == digest_sums.NOTHING


@given(st.dictionaries(st.binary(max_size=3), st.binary(max_size=3), max_size=8), st.randoms())
def test_the_order_and_history_of_keys_do_not_matter(pairs, random):
    """Keys that were added and removed in between do not matter either."""
    one, other = (Keyspace(0, KeyEvents()) for _ in range(2))
    for key, value in pairs.items():
        one.put(key, value)
    shuffled = list(pairs.items())
    random.shuffle(shuffled)
    for key, value in shuffled:
        other.put(b"-" + key, value)
        other.put(key, value)
    for key in pairs:
        if b"-" + key not in pairs:
            other.remove(b"-" + key)
    for key, value in pairs.items():
        other.put(key, value)
    assert digest.of_data([one]) == digest.of_data([other])


@given(st.lists(st.binary(max_size=3), min_size=2, max_size=5, unique=True))
def test_the_order_of_elements_matters(elements):
    db = Keyspace(0, KeyEvents())
    db.add(b"a", make_list(*elements))
    db.add(b"b", make_list(*reversed(elements)))
    assert digest.of_key(db, b"a") != digest.of_key(db, b"b")


def test_the_database_of_a_key_matters(databases):
    databases[0].add(b"a", b"x")
    here = digest.of_data(databases)
    databases[0].swap(databases[1])
    assert digest.of_data(databases) != here
