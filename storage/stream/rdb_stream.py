"""A stream in an RDB, in the five forms that it has had since Redis 5.0.

                                                                 15  19  21  26  27
    nodes    {id of 16 bytes as a string  listpack as a string}  x   x   x   x   x
    length   last id                                             x   x   x   x   x
             first id  max deleted id  entries added                 x   x   x   x
    groups   see storage/stream/rdb_groups.py                           x   x   x   x   x
    idmp     duration  max size  {producers}  added  duplicates              x   x
             producer: name  {iid  id}

Numbers and counts are RDB lengths. Braces stand for a count, followed by that many of what is in
them. An id is two lengths, ms and seq, where nothing else is said. 21 is what is written, or 19
in an RDB of version 10; but 26 if the stream has producers that add each entry once, or had, and 27
if entries were released (XNACK), in an RDB of version 14; in others see rdb_released.py.

Each listpack and each node must be valid. Besides, the ids of living entries must grow from node to
node, none may be above the last id, and there must be as many as the stream's length says.

Source: rdb.c of Redis 7.0 and https://github.com/redis/librdb
"""

from __future__ import annotations

from collections.abc import Iterator

from storage.errors import Corrupt
from storage.listpack.listpack import Listpack
from storage.rdb import raw
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.stream import rdb_groups, rdb_producers, rdb_released, stream_id
from storage.stream.producers import Limits, Producers
from storage.stream.rdb_codes import SINCE, STREAM_1, STREAM_2, STREAM_3, STREAM_4, STREAM_5
from storage.stream.rdb_nodes import NodeCheck
from storage.stream.stream import Stream
from storage.stream.stream_id import ZERO, StreamId

KEY_SIZE = 16
I64_MAX = 2**63 - 1
LEAST_NODE = 2 + KEY_SIZE  # bytes


def code_of(stream: Stream, version: int) -> int:
    """The type that a stream is written as in an RDB of *version*. O(groups)."""
    if version >= SINCE[STREAM_5] and any(map(rdb_released.has_any, stream.groups.values())):
        return STREAM_5
    if stream.producers is not None:
        return STREAM_4
    return STREAM_3 if version >= SINCE[STREAM_3] else STREAM_2


def write_stream(writer: RdbWriter, stream: Stream) -> Iterator[None]:
    """Write a stream; at each step the caller may take what has been written."""
    code = code_of(stream, writer.version)
    writer.length(len(stream.rax))
    for key, node in stream.rax:
        write_node(writer, key, node)
        yield
    write_counters(writer, stream)
    yield from rdb_groups.write_groups(writer, stream, code)
    if code >= STREAM_4:
        yield from rdb_producers.write_producers(writer, stream.producers or Producers(Limits()))


def write_node(writer: RdbWriter, key: bytes, node: Listpack) -> None:
    """Write the node at *key*."""
    writer.string(key)
    writer.text(raw.of_bytearray(node.data), node.size)


def write_counters(writer: RdbWriter, stream: Stream) -> None:
    """Write the length, ids and counts of a stream."""
    writer.length(stream.length)
    write_id(writer, stream.last_id)
    write_id(writer, stream.first_id)
    write_id(writer, stream.max_deleted_id)
    writer.length(stream.entries_added)


def write_id(writer: RdbWriter, entry_id: StreamId) -> None:
    """Write an id as two lengths."""
    writer.length(entry_id.ms)
    writer.length(entry_id.seq)


def read(reader: RdbReader, code: int) -> Stream:
    """Read a stream of the RDB type *code*. Raises Corrupt."""
    stream = Stream()
    top = _read_nodes(reader, stream)
    if reader.length() != stream.length:
        raise Corrupt("a stream does not have the entries that it counts")
    stream.last_id = read_id(reader)
    if top > stream.last_id:
        raise Corrupt("a stream has an entry above its last id")
    stream.first_id = stream.first_entry_id()
    if code == STREAM_1:
        stream.entries_added = stream.length
    else:
        _read_counters(reader, stream)
    rdb_groups.read(reader, code, stream)
    if code >= STREAM_4:
        stream.producers = rdb_producers.read(reader)
    return stream


def read_id(reader: RdbReader) -> StreamId:
    """Read an id of two lengths."""
    ms = reader.length()
    return stream_id.make_id(ms, reader.length())


def _read_nodes(reader: RdbReader, stream: Stream) -> StreamId:
    """Read all nodes; return the greatest id of a living entry."""
    top = ZERO
    last_key = b""
    for _ in range(reader.count(LEAST_NODE)):
        key = reader.string()
        if len(key) != KEY_SIZE:
            raise Corrupt("a stream node's key is not an id")
        if key <= last_key or (stream.length and stream_id.from_key(key) <= top):
            raise Corrupt("a stream's nodes are out of order")
        node = Listpack.adopt(reader.owned_string())
        check = NodeCheck(node.data, key)
        check.run()
        stream.add_node(key, node)
        if check.alive:
            stream.length += check.alive
            top = check.top()
        last_key = key
    return top


def _read_counters(reader: RdbReader, stream: Stream) -> None:
    """Read what Redis 7.0 added. The first id is ignored: it follows from the entries."""
    read_id(reader)
    stream.max_deleted_id = read_id(reader)
    added = reader.length()
    if added < stream.length:
        raise Corrupt("a stream has had fewer entries added than it holds")
    stream.entries_added = min(added, I64_MAX)
