"""The payloads of DUMP and RESTORE."""

from __future__ import annotations

from typing import Any

import pytest

from storage.errors import Corrupt
from storage.lists.quicklist import QuickList
from storage.payload import dump, restore
from storage.rdb.crc64 import crc64
from storage.rdb.errors import BadPayload, UnknownType
from storage.rdb.options import ReadOptions, WriteOptions
from storage.stream.stream import Stream
from storage.stream.stream_id import U64_MAX, StreamId


def payload_of(body: bytes, version: int = 10) -> bytes:
    """The payload of *body*, which is a type and a value."""
    body += version.to_bytes(2, "little")
    return body + crc64(body).to_bytes(8, "little")


def test_payloads_of_redis_are_restored_and_dumped_as_the_same_bytes(dumped: bytes) -> None:
    assert dump(restore(dumped), WriteOptions(version=10)) == dumped


STRINGS: dict[str, Any] = {
    "empty": b"",
    "text": b"hello",
    "int8": -128,
    "int32": 2**31 - 1,
    "int64": b"%d" % (2**63 - 1),
    "no number": b"007",
    "compressed": b"abc" * 30,
    "14 bits": bytes(range(100)),
    "incremented": b"2147483649",
}


@pytest.mark.parametrize(("name", "value"), STRINGS.items())
def test_strings_are_restored_and_dumped(name: str, value: Any, payloads: dict[str, bytes]) -> None:
    assert restore(payloads[name]) == value
    assert dump(value) == payloads[name]


def test_every_form_of_a_string_is_dumped_as_the_same_bytes(
    payloads: dict[str, bytes],
) -> None:
    assert dump(bytearray(b"hello")) == payloads["text"]
    assert dump(b"-128") == dump(-128) == payloads["int8"]
    assert dump(2**63 - 1) == payloads["int64"]
    assert dump(2**31 + 1) == payloads["incremented"]


def test_lists_are_restored(payloads: dict[str, bytes]) -> None:
    made: QuickList = restore(payloads["list"])
    assert list(made) == [b"a", b"12", b"-70000", b"b" * 70]
    made = restore(payloads["list with a plain node"])
    assert list(made) == [b"a", b"x" * 30, b"b"]
    made = restore(payloads["list of three nodes"], ReadOptions(list_fill=2))
    assert made.node_count == 3
    assert made.fill == 2


def test_streams_are_restored_with_their_groups(payloads: dict[str, bytes]) -> None:
    stream: Stream = restore(payloads["stream with groups"])
    assert stream.max_deleted_id == StreamId(1, 2)
    assert list(stream.groups) == [b"g", b"h"]
    group = stream.groups[b"g"]
    assert [(p.ms, p.delivery_count) for _, p in group.pel] == [(1, 1), (70000, 300)]
    assert [p.ms for p in group.by_time] == [70000, 1]  # the other was delivered later
    assert sorted(group.consumers) == [b"alice", b"bob", b"idle"]
    assert [p.ms for _, p in group.consumers[b"bob"].pel] == [70000]
    top: Stream = restore(payloads["stream of the greatest id"])
    assert top.last_id == StreamId(U64_MAX, U64_MAX)
    assert top.entries_added == 2**63 - 1


def test_an_uncompressed_payload_is_restored() -> None:
    plain = dump(b"a" * 100, WriteOptions(compress=False))
    assert b"a" * 100 in plain
    assert restore(plain) == b"a" * 100


def test_any_changed_byte_is_detected(dumped: bytes) -> None:
    for at in range(len(dumped)):
        changed = bytearray(dumped)
        changed[at] ^= 0x10
        with pytest.raises(BadPayload):
            restore(bytes(changed))


def test_any_truncated_payload_is_refused(dumped: bytes) -> None:
    for end in range(len(dumped)):
        with pytest.raises(BadPayload):
            restore(dumped[:end])
        if 0 < end < len(dumped) - 10:
            with pytest.raises(Corrupt):
                restore(payload_of(dumped[:end]))


@pytest.mark.parametrize("version", [1, 9, 10, 11, 12, 14, 80])
def test_payloads_of_redis_and_valkey_versions_are_read(version: int) -> None:
    assert restore(payload_of(b"\x00\x01a", version)) == b"a"


@pytest.mark.parametrize("version", [0, 15, 79, 82, 65535])
def test_payloads_of_other_versions_are_refused(version: int) -> None:
    with pytest.raises(BadPayload, match="version"):
        restore(payload_of(b"\x00\x01a", version))


def test_a_zero_checksum_is_accepted_only_with_checksums_off() -> None:
    payload = b"\x00\x01a\x0a\x00" + bytes(8)
    assert restore(payload, ReadOptions(checksum=False)) == b"a"
    with pytest.raises(BadPayload):
        restore(payload)
    with pytest.raises(BadPayload):
        restore(payload[:-1] + b"\x01", ReadOptions(checksum=False))


def test_bytes_after_the_value_are_refused() -> None:
    with pytest.raises(Corrupt, match="after the value"):
        restore(payload_of(b"\x00\x01ab"))


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(Corrupt, match="without elements"):
        restore(payload_of(b"\x12\x00"))


def test_an_unsupported_type_is_named() -> None:
    with pytest.raises(UnknownType, match="not served: array, RDB type 28"):
        restore(payload_of(b"\x1c\x01a"))
    with pytest.raises(UnknownType, match="unknown, RDB type 200"):
        restore(payload_of(b"\xc8\x01a"))
