"""The consumer groups of a stream in an RDB; storage/stream/rdb_stream.py has the rest of it.

                                                                 15  19  21  26  27
    {group   name  last id                                       x   x   x   x   x
             entries read                                            x   x   x   x
             {pending    id  time  deliveries}                   x   x   x   x   x
             {consumer   name  seen time                         x   x   x   x   x
                         active time                                     x   x   x
                         {id}}                                   x   x   x   x   x
             {id} of released entries}                                           x

Ids of pending entries are 16 bytes that sort as ids do; times are unix ms in 8 bytes, any of them.
As entries read, -1 (modulo 2^64) means unknown. So does any other number beyond 63 bits, which
XGROUP SETID could not set again. Before 21 the seen time is taken for the active time, too.

A pending entry must be in the group's list once, and belong to one consumer. From 27 on (Redis 8.8)
it may have no owner: it was released (XNACK). Those are listed in the order of their release; they
have the time 0, or that until which they are held, which Redis does not look at. 27 is written only
if there are any, in an RDB that Redis 8.8 or newer is to read. In others they go to a consumer
named ``nacked``, from which they can be claimed; rdb_released.py has what gives them back.

In a file of Redis before 7.0 a group has no count of entries read: it is computed from the last id
of the group, where that is possible.
"""

from __future__ import annotations

from collections.abc import Iterator

from storage.errors import Corrupt
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.stream import group_lag, rdb_released, stream_id
from storage.stream import pending as pendings
from storage.stream.consumer_group import UNKNOWN, Consumer, ConsumerGroup
from storage.stream.pending import NOBODY, Pending
from storage.stream.rdb_codes import STREAM_1, STREAM_3, STREAM_5
from storage.stream.rdb_released import NACKED
from storage.stream.stream import Stream
from storage.stream.stream_id import U64_MAX, StreamId

I64_MAX = 2**63 - 1
LEAST_GROUP = 5  # bytes
LEAST_PENDING = 25
LEAST_CONSUMER = 10
ID_SIZE = 16
OFTEN = 1024  # pending entries between two steps


def write_groups(writer: RdbWriter, stream: Stream, code: int) -> Iterator[None]:
    """Write all groups as in the type *code*, which is one that is written.

    At each step the caller may take what has been written.
    """
    has_active_times = code >= STREAM_3
    writer.length(len(stream.groups))
    for name, group in stream.sorted_groups():
        released = [entry_id.key() for entry_id in rdb_released.ids_of(group)]
        named = code < STREAM_5 and bool(released)  # they need a consumer
        is_more = named and group.find_consumer(NACKED) is None
        writer.string(name)
        writer.length(group.last_id.ms)
        writer.length(group.last_id.seq)
        writer.length(U64_MAX if group.entries_read == UNKNOWN else group.entries_read)
        yield from _write_pending(writer, group)
        writer.length(len(group.consumers) + is_more)
        for consumer in group.sorted_consumers():
            _write_consumer(writer, consumer, has_active_times)
            if named and consumer.name == NACKED:
                owned = [key for key, _ in consumer.pel]
                yield from _write_keys(writer, sorted([*owned, *released]))
            else:
                yield from _write_owned(writer, consumer)
        if is_more:
            _write_consumer(writer, Consumer(NACKED, NOBODY, 0), has_active_times)
            yield from _write_keys(writer, sorted(released))
        if code >= STREAM_5:
            yield from _write_keys(writer, released)


def _write_pending(writer: RdbWriter, group: ConsumerGroup) -> Iterator[None]:
    writer.length(len(group.pel))
    for index, (_, pending) in enumerate(group.pel):
        write_pending(writer, pending)
        if index % OFTEN == 0:
            yield


def write_pending(writer: RdbWriter, pending: Pending) -> None:
    """Write a pending entry of a group."""
    writer.id(pending.ms, pending.seq)
    writer.i64(pending.delivery_time)
    writer.length(pendings.count_of(pending))


def _write_consumer(writer: RdbWriter, consumer: Consumer, has_active_times: bool) -> None:
    """Write a consumer; its pending entries follow."""
    writer.string(consumer.name)
    writer.i64(consumer.seen_time)
    if has_active_times:
        writer.i64(consumer.active_time)


def _write_keys(writer: RdbWriter, keys: list[bytes]) -> Iterator[None]:
    writer.length(len(keys))
    for index, key in enumerate(keys):
        writer.plain(key)
        if index % OFTEN == 0:
            yield


def _write_owned(writer: RdbWriter, consumer: Consumer) -> Iterator[None]:
    writer.length(len(consumer.pel))
    for index, (key, _) in enumerate(consumer.pel):
        writer.plain(key)
        if index % OFTEN == 0:
            yield


def read(reader: RdbReader, code: int, stream: Stream) -> None:
    """Read all groups of a stream of the RDB type *code*. Raises Corrupt."""
    for _ in range(reader.count(LEAST_GROUP)):
        name = reader.string()
        ms = reader.length()
        last_id = stream_id.make_id(ms, reader.length())
        if stream.find_group(name) is not None:
            raise Corrupt(f"two consumer groups of one name: {name!r}")
        is_old = code == STREAM_1
        number = group_lag.number_of(stream, last_id) if is_old else reader.length()
        group = stream.create_group(name, last_id, UNKNOWN if number > I64_MAX else number)
        for _ in range(reader.count(LEAST_PENDING)):
            restore(reader, group)
        for _ in range(reader.count(LEAST_CONSUMER)):
            _read_consumer(reader, code, group)
        group.settle(_read_released(reader) if code >= STREAM_5 else [])


def restore(reader: RdbReader, group: ConsumerGroup) -> None:
    """Read a pending entry of a group."""
    entry_id = _read_key(reader)
    delivered = reader.i64()
    group.restore(entry_id, delivered, reader.length())


def _read_key(reader: RdbReader) -> StreamId:
    return stream_id.from_key(reader.plain(ID_SIZE))


def _read_consumer(reader: RdbReader, code: int, group: ConsumerGroup) -> None:
    name = reader.string()
    if group.find_consumer(name) is not None:
        raise Corrupt(f"two consumers of one name: {name!r}")
    consumer = group.create_consumer(name, reader.i64())
    consumer.active_time = reader.i64() if code >= STREAM_3 else consumer.seen_time
    for _ in range(reader.count(ID_SIZE)):
        group.assign(_read_key(reader), consumer)


def _read_released(reader: RdbReader) -> list[StreamId]:
    """Read the ids of the entries that nobody owns, in the order of their release."""
    return [_read_key(reader) for _ in range(reader.count(ID_SIZE))]
