"""The producers of a stream in an RDB."""

from __future__ import annotations

import pytest

from storage.errors import Corrupt
from storage.payload import dump, restore
from storage.rdb.options import WriteOptions
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.stream import rdb_producers
from storage.stream.producers import Limits, Producers
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId

OLD, OF_8_6 = b"\x15", b"\x1a"


def reader_of(*parts: int | bytes) -> RdbReader:
    """A reader of *parts*, where an int is a length and bytes are a string."""
    writer = RdbWriter()
    for part in parts:
        if isinstance(part, int):
            writer.length(part)
        else:
            writer.string(part)
    return RdbReader(writer.take())


def stream_of(producers: Producers | None) -> Stream:
    stream = Stream()
    stream.append(StreamId(5, 1), [b"f", b"v"])
    stream.create_group(b"g", StreamId(5, 0)).create_consumer(b"c", 70).active_time = 60
    stream.producers = producers
    return stream


@pytest.mark.parametrize("version", [10, 11])
def test_a_stream_with_producers_is_written_as_in_redis_8_6_and_read_back(version: int) -> None:
    producers = Producers(Limits(7, 3))
    producers.record(b"p", b"b", StreamId(5, 1))
    producers.record(b"p", b"a", StreamId(6, 2))
    producers.record(b"q", b"a", StreamId(2**64 - 1, 2**64 - 1))
    producers.duplicates = 9
    payload = dump(stream_of(producers), WriteOptions(version=version))
    assert payload[:1] == OF_8_6
    assert payload[-10:-8] == b"\x0d\x00"  # the version of Redis 8.6
    back = restore(payload)
    assert back.producers.sorted_producers() == producers.sorted_producers()
    assert (back.producers.seconds, back.producers.ids) == (7, 3)
    assert (back.producers.added, back.producers.duplicates) == (3, 9)
    assert back.find_group(b"g").find_consumer(b"c").active_time == 60


def test_a_stream_without_producers_is_written_as_before() -> None:
    assert dump(stream_of(None))[:1] == OLD
    assert restore(dump(stream_of(None))).producers is None


GOOD = (7, 3, 1, b"p", 2, b"a", 5, 1, b"b", 5, 2, 2, 0)


def test_the_good_one_of_the_next_test_is_good() -> None:
    assert rdb_producers.read(reader_of(*GOOD)).tracked == 2


@pytest.mark.parametrize(
    ("at", "part"),
    [(0, 0), (0, 86_401), (1, 0), (1, 10_001), (8, b"a"), (2, 1000), (4, 1000)],
    ids=["no time", "too long", "no ids", "too many", "twice", "producers", "ids"],
)
def test_what_cannot_be_is_corrupt(at: int, part: int | bytes) -> None:
    parts: list[int | bytes] = list(GOOD)
    parts[at] = part
    with pytest.raises(Corrupt):
        rdb_producers.read(reader_of(*parts))
