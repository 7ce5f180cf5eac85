"""SnapshotWriter and SnapshotReader: whole RDB files."""

from __future__ import annotations

from typing import Any

import pytest

from storage.errors import Corrupt, Truncated
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.lists.quicklist import QuickList
from storage.payload import dump
from storage.rdb import opcodes
from storage.rdb.crc64 import crc64
from storage.rdb.errors import BadSignature, BadVersion, UnknownType
from storage.rdb.options import ReadOptions, WriteOptions
from storage.rdb.writer import RdbWriter
from storage.snapshot.snapshot_reader import Record, SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId


def databases(count: int = 4) -> list[Keyspace]:
    events = KeyEvents()
    return [Keyspace(index, events) for index in range(count)]


def fields(record: Record) -> tuple[Any, ...]:
    return (record.db, record.key, record.expiry_ms, record.idle_s, record.freq)


def rdb_file_of(*parts: int | bytes, version: int = 10) -> bytes:
    """An RDB file of *parts*, where an int is a length and bytes stand as they are."""
    writer = RdbWriter()
    for part in parts:
        if isinstance(part, int):
            writer.length(part)
        else:
            writer.plain(part)
    return sealed(b"REDIS%04d" % version + writer.take())


def sealed(data: bytes) -> bytes:
    data += b"\xff"
    return data + crc64(data).to_bytes(8, "little")


def text(data: bytes) -> bytes:
    writer = RdbWriter(compress=False)
    writer.string(data)
    return writer.take()


KEY = b"\x00" + text(b"key") + text(b"value")

# ---------------------------------------------------------------------- a file that Redis saved


def test_a_file_of_redis_is_read(saved: bytes) -> None:
    reader = SnapshotReader(saved)
    records = {record.key: record for record in reader}
    assert {record.db: key for key, record in records.items() if record.db} == {3: b"z"}
    assert records[b"s"].expiry_ms == 4102444800000
    assert records[b"s"].value == 12
    assert list(records[b"l"].value) == [b"a", b"b"]
    assert records[b"x"].value.last_id == StreamId(1, 1)
    assert records[b"z"].value == b"a" * 40
    assert reader.aux[b"redis-ver"] == b"7.0.15"
    assert reader.aux[b"aof-base"] == b"0"
    assert reader.version == 10
    assert reader.end == reader.position == len(saved)
    assert reader.checksummed


def test_a_file_read_and_written_again_has_the_same_bytes_in_some_order(saved: bytes) -> None:
    dbs = databases()
    reader = SnapshotReader(saved)
    for record in reader:
        dbs[record.db].add(record.key, record.value)
        if record.expiry_ms >= 0:
            dbs[record.db].expire_at(record.key, record.expiry_ms)
    again = b"".join(SnapshotWriter(dbs, reader.aux, WriteOptions(version=10)))
    assert len(again) == len(saved)
    assert sorted(again[:-8]) == sorted(saved[:-8])


def test_any_flipped_bit_is_detected(saved: bytes) -> None:
    for at in range(len(saved) - 8):
        for bit in range(8):
            changed = bytearray(saved)
            changed[at] ^= 1 << bit
            with pytest.raises((Corrupt, BadSignature, BadVersion, UnknownType)):
                list(SnapshotReader(bytes(changed)))


def test_a_file_truncated_at_any_byte_is_refused(saved: bytes) -> None:
    for end in range(len(saved)):
        with pytest.raises((Corrupt, BadSignature, BadVersion)):
            list(SnapshotReader(saved[:end]))


def test_without_checksum_a_damaged_file_is_refused_or_its_values_can_be_dumped(
    saved: bytes,
) -> None:
    """The checks of the structures find the damage that the checksum would have found."""
    for at in range(len(saved) - 8):
        for value in (0, 1, 0x7F, 0x80, 0xC3, 0xFC, 0xFF):
            changed = bytearray(saved)
            changed[at] = value
            try:
                records = list(SnapshotReader(bytes(changed), ReadOptions(checksum=False)))
            except (Corrupt, BadSignature, BadVersion, UnknownType):
                continue
            for record in records:
                dump(record.value)


# ---------------------------------------------------------------------- written and read back


def test_values_of_every_type_are_read_back() -> None:
    dbs = databases()
    values: dict[bytes, Any] = {b"bytes": b"text", b"int": 2**40, b"appended": bytearray(b"more")}
    several = QuickList(2)
    for number in range(5):
        several.push_right(b"%d" % number)
    several.push_right(b"x" * 10000)
    alone = QuickList()
    alone.push_right(b"only")
    stream = Stream()
    stream.append(StreamId(1, 1), [b"f", b"v"])
    values |= {b"several": several, b"alone": alone, b"stream": stream, b"": b"of the empty key"}
    for key, value in values.items():
        dbs[1].add(key, value)
    dbs[1].expire_at(b"int", 1)  # expired long ago, but written
    dbs[3].add(b"far", b"away")
    writer = SnapshotWriter(dbs, {b"redis-ver": b"7.0.15", b"redis-bits": b"64"})
    assert writer.keys_total == 8
    data = b"".join(writer)
    assert writer.keys_written == 8
    reader = SnapshotReader(data)
    back = {record.key: record for record in reader}
    assert sorted(back) == sorted([*values, b"far"])
    for key, value in values.items():
        assert dump(back[key].value) == dump(value)
        assert fields(back[key]) == (1, key, 1 if key == b"int" else -1, -1, -1)
    assert back[b"far"].db == 3
    assert reader.aux == {b"redis-ver": b"7.0.15", b"redis-bits": b"64"}


def test_an_empty_server_has_an_empty_snapshot() -> None:
    for version, head in ((10, b"REDIS0010"), (11, b"REDIS0011")):
        data = b"".join(SnapshotWriter(databases(), {}, WriteOptions(version=version)))
        assert data == sealed(head)
        assert list(SnapshotReader(data)) == []


def test_a_snapshot_is_written_in_pieces_of_bounded_size() -> None:
    dbs = databases(1)
    for number in range(5000):
        dbs[0].add(b"key:%d" % number, b"%050d" % (number * 7919 % 5000))
    large = Stream()
    for number in range(100):
        large.append(StreamId(1, number), [b"f", b"v" * 4000])
    dbs[0].add(b"large", large)
    writer = SnapshotWriter(dbs, {}, WriteOptions(compress=False))
    progress = []
    sizes = []
    for piece in writer:
        sizes.append(len(piece))
        progress.append(writer.keys_written)
    assert len(sizes) > 10
    assert max(sizes) < 80_000
    assert min(sizes[:-2]) >= 65536
    assert progress == sorted(progress)
    assert progress[-1] == 5001


def test_every_key_is_written_once_however_the_table_has_grown() -> None:
    dbs = databases(1)
    for number in range(3000):
        dbs[0].add(b"%d" % number, number)
        if number % 3 == 0:
            dbs[0].expire_at(b"%d" % number, number)
    for number in range(0, 3000, 4):
        dbs[0].remove(b"%d" % number)
    found = {
        int(record.key): (record.value, record.expiry_ms)
        for record in SnapshotReader(b"".join(SnapshotWriter(dbs, {})))
    }
    assert found == {n: (n, -1 if n % 3 else n) for n in range(3000) if n % 4}


def test_without_checksum_a_zero_is_written_in_its_place() -> None:
    dbs = databases(1)
    dbs[0].add(b"key", b"value")
    data = b"".join(SnapshotWriter(dbs, {}, WriteOptions(checksum=False)))
    assert data.endswith(b"\xff" + bytes(8))
    reader = SnapshotReader(data)
    assert [record.key for record in reader] == [b"key"]
    assert not reader.checksummed


# ---------------------------------------------------------------------- what else a file can hold


def test_expiry_idle_time_and_frequency_apply_to_one_key_only() -> None:
    data = rdb_file_of(
        *(b"\xfe", 2, b"\xfb", 2, 1),
        *(b"\xfc", (5000).to_bytes(8, "little"), b"\xf8", 300, KEY),
        *(b"\xf9", b"\x07", b"\x00" + text(b"other") + text(b"v")),
        *(b"\xfd", (9).to_bytes(4, "little"), b"\x00" + text(b"old") + text(b"v")),
        b"\x00" + text(b"bare") + text(b"v"),
    )
    assert [fields(record) for record in SnapshotReader(data)] == [
        (2, b"key", 5000, 300, -1),
        (2, b"other", -1, -1, 7),
        (2, b"old", 9000, -1, -1),
        (2, b"bare", -1, -1, -1),
    ]


def test_opcodes_of_later_versions_are_skipped() -> None:
    module = (b"\xf7", 2**40, 2, 1, 5, text(b"text"), 1, 7, 3, bytes(4), 4, bytes(8), 0)
    data = rdb_file_of(*module, b"\xf4", 5, 1, 0, KEY, version=12)
    reader = SnapshotReader(data)
    assert [record.key for record in reader] == [b"key"]
    assert reader.modules == 1


def test_function_libraries_are_kept_apart_from_the_keys() -> None:
    reader = SnapshotReader(rdb_file_of(b"\xf5" + text(b"#!lua name=lib"), KEY))
    assert [record.key for record in reader] == [b"key"]
    assert reader.functions == [b"#!lua name=lib"]


def test_empty_lists_are_skipped_and_counted() -> None:
    reader = SnapshotReader(rdb_file_of(b"\x12" + text(b"list"), 0, KEY))
    assert [record.key for record in reader] == [b"key"]
    assert reader.empty_keys == 1


def test_bytes_after_the_snapshot_are_not_read() -> None:
    data = rdb_file_of(KEY)
    reader = SnapshotReader(data + b"*1\r\n$4\r\nPING\r\n")
    assert len(list(reader)) == 1
    assert reader.end == len(data)


@pytest.mark.parametrize("version", [5, 6, 9, 10, 11, 12, 13, 14])
def test_files_of_all_versions_are_read(version: int) -> None:
    assert len(list(SnapshotReader(rdb_file_of(KEY, version=version)))) == 1


def test_files_of_valkey_are_read() -> None:
    reader = SnapshotReader(sealed(b"VALKEY080" + KEY))
    assert [record.value for record in reader] == [b"value"]
    assert reader.version == 80


def test_files_before_version_5_have_no_checksum() -> None:
    reader = SnapshotReader(b"REDIS0004" + KEY + b"\xff")
    assert len(list(reader)) == 1
    assert not reader.checksummed


@pytest.mark.parametrize(
    ("head", "error"),
    [
        (b"", Truncated),
        (b"REDIS", Truncated),
        (b"REDIS001", Truncated),
        (b"*3\r\n$3\r\nSET", BadSignature),
        (b"REDIS0000", BadVersion),
        (b"REDIS0015", BadVersion),
        (b"VALKEY011", BadVersion),
    ],
)
def test_other_files_are_refused(head: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        SnapshotReader(head + b"\xff" if len(head) >= 9 else head)


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ((b"\xf6",), "release candidate"),
        ((b"\xf3",), "metadata of a module"),
        ((b"\xf7", 1, 9), "unknown kind"),
        (
            (b"\x00" + text(b"key") + b"\xc5",),
            "in the value of the key b'key', in what begins at",
        ),
        ((b"\xfe\xc0\x01",), "offset 9 and was read up to 11"),
    ],
)
def test_an_error_names_the_key_or_the_offset(parts: tuple[int | bytes, ...], reason: str) -> None:
    with pytest.raises(Corrupt, match=reason):
        list(SnapshotReader(rdb_file_of(*parts)))


def test_an_unsupported_type_is_named_with_its_key() -> None:
    with pytest.raises(
        UnknownType, match="b'key' is of a type that is not served: array"
    ) as caught:
        list(SnapshotReader(rdb_file_of(b"\x1c" + text(b"key") + b"\x00")))
    assert caught.value.key == b"key"


@pytest.mark.parametrize("kind", sorted(opcodes.NOT_SERVED))
def test_every_unsupported_type_of_redis_has_a_name(kind: int) -> None:
    with pytest.raises(UnknownType) as caught:
        list(SnapshotReader(rdb_file_of(bytes([kind]) + text(b"key"))))
    assert "unknown" not in str(caught.value)


def test_a_closed_reader_releases_the_file(saved: bytes) -> None:
    data = bytearray(saved)
    reader = SnapshotReader(data)
    next(reader)
    reader.close()
    data.append(0)
