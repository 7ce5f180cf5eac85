"""Checksums on the way through a snapshot: which part is damaged."""

from __future__ import annotations

from random import Random

import pytest

from storage.errors import Corrupt, StorageError
from storage.keyspace.keyspace import Keyspace
from storage.rdb.errors import BadSum
from storage.rdb.options import ReadOptions, WriteOptions
from storage.rdb.reader import RdbReader
from storage.snapshot import part_sums
from storage.snapshot.part_sums import AUX, damaged_parts
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId
from tests.storage.snapshot.test_snapshot import databases
from tests.worth import rounds


def filled() -> list[Keyspace]:
    """Small keys, and a stream of a megabyte among them."""
    random = Random(7)
    dbs = databases(1)
    stream = Stream()
    for number in range(250):
        stream.append(StreamId(1, number), [b"f", random.randbytes(4000)])
    for number in range(4000):
        dbs[0].add(b"key:%d" % number, random.randbytes(50))
        if number == 2000:
            dbs[0].add(b"stream", stream)
    return dbs


def parts_of(data: bytes) -> list[tuple[int, int]]:
    return list(damaged_parts(data))


def test_parts_are_told_of_and_are_right() -> None:
    data = b"".join(SnapshotWriter(filled(), {b"redis-ver": b"7.0.15"}))
    reader = SnapshotReader(data)
    assert len(list(reader)) == 4001
    assert reader.parts >= 3
    assert list(reader.aux) == [b"redis-ver"]
    assert parts_of(data) == []


def fields_of_sums(data: bytes) -> list[range]:
    """Where the fields are that have the sums of the parts before them."""
    found: list[range] = []
    while (at := data.find(AUX, found[-1].stop if found else 0)) >= 0:
        reader = RdbReader(data, at + len(AUX))
        length = len(reader.string())
        reader.close()
        found.append(range(at - 2, at + len(AUX) + 5 + length))
    return found


def test_a_flipped_bit_is_found_in_its_part() -> None:
    """In a field of sums it takes the bounds of the parts before it away: they are one then."""
    data = b"".join(SnapshotWriter(filled(), {}))
    fields = fields_of_sums(data)
    assert len(fields) >= 2
    random = Random(3)
    for _ in range(rounds(40)):
        at = random.randrange(len(data) - 8)
        changed = bytearray(data)
        changed[at] ^= 1 << random.randrange(8)
        with pytest.raises(StorageError):
            list(SnapshotReader(bytes(changed)))
        parts = parts_of(bytes(changed))
        assert any(start <= at < end for start, end in parts), (at, parts)
        if not any(at in field for field in fields):
            assert sum(end - start for start, end in parts) < 300_000


def test_two_damaged_parts_are_both_named() -> None:
    data = bytearray(b"".join(SnapshotWriter(filled(), {})))
    for at in (1000, 900_000):
        data[at] ^= 1
    first, second = parts_of(bytes(data))
    assert first[0] <= 1000 < first[1] <= second[0] <= 900_000 < second[1]


def test_the_part_is_named_before_what_follows_it_is_read() -> None:
    data = b"".join(SnapshotWriter(filled(), {}, WriteOptions(compress=False)))
    at = 6 + data.index(b"key:", 1000, data.index(part_sums.AUX)) + 20  # in a value
    changed = bytearray(data)
    changed[at] ^= 1
    reader = SnapshotReader(bytes(changed))
    with pytest.raises(BadSum, match=r"the bytes 0 to \d+ are not"):
        list(reader)
    assert reader.position < len(data) - 50_000
    assert len(list(SnapshotReader(bytes(changed), ReadOptions(checksum=False)))) == 4001


def test_without_checksums_there_are_none_on_the_way() -> None:
    data = b"".join(SnapshotWriter(filled(), {}, WriteOptions(checksum=False)))
    assert part_sums.AUX not in data
    assert parts_of(data) == []


def test_a_sum_that_is_none_is_refused() -> None:
    for text in (b"1", b"x:1", b"1:z", b"1:2:3"):
        with pytest.raises(Corrupt):
            part_sums.sums_in(text)
