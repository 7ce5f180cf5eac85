"""Released entries beside a stream whose RDB type has no place for them.

Before 8.8 Redis knows no pending entry without a consumer. In a stream that older ones read, those
belong to the consumer ``nacked`` (rdb_groups.py). This record, of which Redis takes no notice, says
which of its entries are nobody's, in the order of their release:

    {group   name  whether the consumer was made for them (a byte)  {id}}

Braces stand for a count, followed by that many of what is in them. An id is 16 bytes.
"""

from __future__ import annotations

from storage.errors import Corrupt
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.stream import pending as pendings
from storage.stream import stream_id
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId

NACKED = b"nacked"
ID_SIZE = 16
LEAST_GROUP = 3  # bytes


def ids_of(group: ConsumerGroup) -> list[StreamId]:
    """The released entries of *group* in the order of their release, those that are held last."""
    return [pendings.id_of(each) for each in (*group.by_time.released(), *group.by_time.held())]


def record_of(stream: Stream) -> bytes:
    """The record for *stream*; b"" if it has no released entries. O(groups and these)."""
    groups = [(name, group) for name, group in stream.sorted_groups() if has_any(group)]
    if not groups:
        return b""
    writer = RdbWriter(compress=False)
    writer.length(len(groups))
    for name, group in groups:
        ids = ids_of(group)
        writer.string(name)
        writer.byte(group.find_consumer(NACKED) is None)
        writer.length(len(ids))
        for entry_id in ids:
            writer.plain(entry_id.key())
    return writer.take()


def has_any(group: ConsumerGroup) -> bool:
    """Whether *group* has released entries. O(1)."""
    return group.by_time.has_released()


def apply(stream: Stream, record: bytes) -> None:
    """Release what *record* names in *stream*, which was just read. Raises Corrupt."""
    reader = RdbReader(record)
    for _ in range(reader.count(LEAST_GROUP)):
        name = reader.string()
        was_made = reader.byte()
        ids = [stream_id.from_key(reader.plain(ID_SIZE)) for _ in range(reader.count(ID_SIZE))]
        group = stream.find_group(name)
        consumer = None if group is None else group.find_consumer(NACKED)
        if group is None or consumer is None:
            raise Corrupt("released entries of a group that has none")
        group.disown(consumer, ids)
        if was_made and not len(consumer.pel):
            group.delete_consumer(NACKED)
    if reader.left():
        raise Corrupt("bytes after the released entries")
