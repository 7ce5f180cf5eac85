"""RESTORE of damaged and random payloads: they are refused, or the value is consistent."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage import types
from storage.errors import Corrupt
from storage.hashes.hash import Hash
from storage.limits import ListpackLimits
from storage.listpack.listpack import Listpack
from storage.lists.quicklist import QuickList
from storage.payload import dump, restore
from storage.rdb.crc64 import crc64
from storage.rdb.errors import UnknownType
from storage.sets.member_set import MemberSet
from storage.sorted_sets.sorted_set import SortedSet
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.rdb_nodes import NodeCheck
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId
from tests.worth import rounds

VALUES = (0, 1, 2, 0x40, 0x7F, 0x80, 0x81, 0xC0, 0xC3, 0xFF)
LATER_MS = 2**62
LIMITS = ListpackLimits(10, 100)
CODES = sorted(code for row in types.ROWS for code in row.rdb_codes)


def payload_of(body: bytes) -> bytes:
    body += (10).to_bytes(2, "little")
    return body + crc64(body).to_bytes(8, "little")


def try_restore(body: bytes) -> Any:
    """The value, checked for consistency, or None if the payload is refused."""
    try:
        value = restore(payload_of(body))
    except (Corrupt, UnknownType):
        return None
    assert_consistent(value)
    return value


def assert_consistent(value: Any) -> None:
    if isinstance(value, QuickList):
        assert_consistent_list(value)
    elif isinstance(value, MemberSet):
        assert len(set(value)) == len(value) > 0
        assert all(member in value for member in value)
    elif isinstance(value, Hash):
        assert_consistent_hash(value)
    elif isinstance(value, SortedSet):
        assert_consistent_sorted_set(value)
    elif isinstance(value, Stream):
        assert_consistent_stream(value)
    again = restore(dump(value))
    assert dump(again) == dump(value)


def assert_consistent_list(value: QuickList) -> None:
    assert len(list(value)) == len(value) > 0
    for node in value.nodes():
        if isinstance(node, Listpack):
            node.check()
            assert node.length() > 0
    while len(value) > 1:
        value.pop_left()
        value.push_right(b"x")
        value.pop_right()


def assert_consistent_hash(value: Hash) -> None:
    fields = dict(value)
    assert len(fields) == len(list(value)) == len(value) > 0
    for field, text in fields.items():
        assert value.get(field) == text
        value.set(field, text + b"!", LIMITS)
    assert dict(value) == {field: text + b"!" for field, text in fields.items()}
    for field, text in fields.items():
        value.set(field, text, LIMITS)


def assert_consistent_sorted_set(value: SortedSet) -> None:
    pairs = [(score, member) for member, score in value]
    assert pairs == sorted(pairs)
    assert len({member for _, member in pairs}) == len(pairs) == len(value) > 0
    for rank, (score, member) in enumerate(pairs):
        assert value.score_of(member) == score
        assert value.rank_of(member) == rank
    for score, member in pairs:
        value.put(member, score + 1, LIMITS)
        value.put(member, score, LIMITS)
    assert [(score, member) for member, score in value] == pairs


def assert_consistent_stream(stream: Stream) -> None:
    for key, node in stream.rax:
        node.check()
        NodeCheck(bytearray(node.dump()), key).run()
    ids = []
    entry = stream.range()
    while entry.next():
        ids.append(entry.id)
        entry.read_fields()
    assert ids == sorted(set(ids))
    assert len(ids) == len(stream) <= stream.entries_added
    assert stream.first_id == (ids[0] if ids else StreamId(0, 0))
    assert not ids or ids[-1] <= stream.last_id
    for group in stream.groups.values():
        assert_consistent_group(group)


def assert_consistent_group(group: ConsumerGroup) -> None:
    pending = dict(group.pel)
    owned: dict[bytes, Any] = {}
    for consumer in group.consumers.values():
        for key, entry in consumer.pel:
            assert group.owner(entry) is consumer
            assert key not in owned
            owned[key] = entry
    assert owned == pending
    times = [entry.delivery_time for entry in group.by_time]
    assert times == sorted(times)
    assert len(times) == len(pending)
    thief = group.find_consumer(b"thief") or group.create_consumer(b"thief", 0)
    for entry in pending.values():
        group.claim(entry, thief, LATER_MS)
    assert len(thief.pel) == len(pending)


def test_payloads_of_redis_are_restored(dumped: bytes) -> None:
    assert try_restore(dumped[:-10]) is not None


def test_a_changed_byte_is_refused_or_gives_a_consistent_value(dumped: bytes) -> None:
    body = dumped[:-10]
    for at in range(len(body)):
        for value in {*VALUES, body[at] ^ 1, body[at] ^ 8}:
            try_restore(body[:at] + bytes([value]) + body[at + 1 :])


def test_a_removed_or_inserted_byte_is_refused_or_gives_a_consistent_value(dumped: bytes) -> None:
    body = dumped[:-10]
    for at in range(len(body)):
        try_restore(body[:at] + body[at + 1 :])
        for value in (0, 1, 0x7F, 0xFF):
            try_restore(body[:at] + bytes([value]) + body[at:])


@settings(max_examples=rounds(300))
@given(st.sampled_from(CODES), st.binary(max_size=60))
def test_random_bytes_are_refused_or_give_a_consistent_value(kind: int, data: bytes) -> None:
    try_restore(bytes([kind]) + data)


HUGE = b"\x81" + (2**40).to_bytes(8, "big")
ANNOUNCED = {
    "a string": b"\x00" + HUGE,
    "a compressed string": b"\x00\xc3" + HUGE + HUGE,
    "what a compressed string makes": b"\x00\xc3\x03" + HUGE + b"\xe0\xff\x00",
    "elements": b"\x01" + HUGE,
    "nodes of a list": b"\x12" + HUGE,
    "ziplists": b"\x0e" + HUGE,
    "fields of a hash": b"\x04" + HUGE,
    "a text of a zipmap": b"\x09\x09\x01\xfe\xff\xff\xff\x7f" + b"a\0\xff",
    "members of a sorted set": b"\x05" + HUGE,
    "members of a sorted set as texts": b"\x03" + HUGE,
    "nodes of a stream": b"\x13" + HUGE,
    "groups": b"\x13\x00\x00" + 8 * b"\x00" + HUGE,
    "pending entries": b"\x13\x00\x00" + 8 * b"\x00" + b"\x01\x01g\x00\x00\x00" + HUGE,
    "consumers": b"\x13\x00\x00" + 8 * b"\x00" + b"\x01\x01g\x00\x00\x00\x00" + HUGE,
}


@pytest.mark.parametrize("body", ANNOUNCED.values(), ids=ANNOUNCED)
def test_no_memory_is_allocated_for_an_announced_length(body: bytes) -> None:
    tracemalloc.start()
    try:
        assert try_restore(body + bytes(100)) is None
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
