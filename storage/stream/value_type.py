"""The row of the type "stream"."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from storage.rdb.options import ReadOptions
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.stream import rdb_codes, rdb_released, rdb_stream, rewrite
from storage.stream.stream import Stream
from storage.value_type import ValueType, Words

NODE_BYTES = 64  # of a node without its entries, with its place in the tree
PENDING_BYTES = 83  # of a pending entry, with its place in the tree and in the order of time
CONSUMER_BYTES = 224  # of a consumer, with its name
GROUP_BYTES = 352
LARGE = 1000  # parts for each sample; one with fewer is copied and measured


class StreamType(ValueType):
    """Streams. One without entries still has its last id and its groups."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(
            b"stream",
            6,
            (Stream,),
            rdb_codes.STREAM_3,
            rdb_codes.STREAMS,
            rdb_versions=rdb_codes.SINCE,
        )

    def encoding(self, value: Stream) -> bytes:
        return b"stream"

    def copy(self, value: Stream) -> Stream:
        return value.copy()

    def length(self, value: Stream) -> int:
        return len(value)

    def memory(self, value: Stream, samples: int) -> int:
        """Of a large stream nodes, pending entries and consumers are counted. O(groups)."""
        if not 0 < samples * LARGE < value.node_bytes() + self.parts(value):
            return super().memory(value, samples)
        size = value.node_bytes() + int(value.rax.node_count) * NODE_BYTES
        for group in value.groups.values():
            size += GROUP_BYTES + len(group.consumers) * CONSUMER_BYTES
            size += len(group.pel) * PENDING_BYTES
        return size

    def parts(self, value: Stream) -> int:
        groups = value.groups
        first = next(iter(groups.values()), None)
        each = 0 if first is None else 1 + len(first.pel)
        return int(value.rax.node_count + len(groups) * each)

    def digest_parts(self, value: Stream) -> Iterator[bytes]:
        """The entries. Redis leaves out groups, counters and ids: XINFO STREAM FULL shows those."""
        entry = value.range()
        while entry.next():
            yield b"%d.%d" % (entry.ms, entry.seq)
            yield from entry.read_fields()

    def check_lines(self, value: Stream, shown: Callable[[bytes], str]) -> Iterator[str]:
        first, last = value.first_entry_id().encode(), value.last_id.encode()
        yield f"{len(value):,} entries, {first.decode()} .. {last.decode()}"
        for name, group in value.sorted_groups():
            yield (
                f"group {shown(name)}: delivered up to {group.last_id.encode().decode()},"
                f" {len(group.consumers):,} consumers, {len(group.pel):,} pending"
            )

    def commands(self, key: bytes, value: Stream) -> Iterator[Words]:
        return rewrite.commands(key, value)

    def rdb_code_in(self, value: Stream, version: int) -> int:
        return rdb_stream.code_of(value, version)

    def write_value(self, writer: RdbWriter, value: Stream) -> Iterator[None]:
        return rdb_stream.write_stream(writer, value)

    def beside(self, value: Stream, version: int) -> bytes:
        if rdb_stream.code_of(value, version) == rdb_codes.STREAM_5:
            return b""
        return rdb_released.record_of(value)

    def add_beside(self, value: Stream, record: bytes) -> None:
        rdb_released.apply(value, record)

    def read(self, reader: RdbReader, code: int, options: ReadOptions) -> Any:
        return rdb_stream.read(reader, code)


STREAM = StreamType()
