"""A snapshot as commands: what begins an append-only file with ``aof-use-rdb-preamble no``.

    a string   SET k v
    a list     RPUSH k e e ..                                                      64 at a time
    a stream   XADD k id f v ..                                           one for each entry
               XADD k MAXLEN 0 0-1 x y                                    if there are none
               XSETID k last ENTRIESADDED n MAXDELETEDID id
               XGROUP CREATE k g last ENTRIESREAD n                       for each group
               XGROUP CREATECONSUMER k g c                                for each of its consumers
               XCLAIM k g c 0 id TIME t RETRYCOUNT n JUSTID FORCE         for each pending entry
    an expiry  PEXPIREAT k ms

Pending entries whose entry was deleted are lost by this way, as in redis, and so are the times at
which consumers were seen.

Source: rewriteStreamObject and its like in aof.c of Redis 7.0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from protocol.encoder import Encoder
from storage.keyspace.keyspace import NO_EXPIRY, Keyspace
from storage.lists.quicklist import QuickList
from storage.stream import stream_id
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.stream import Stream

ELEMENTS_A_COMMAND = 64
PIECE = 1 << 16  # bytes

Words = Sequence[bytes]


class CommandPieces:
    """Iterates over the bytes of the commands that make *databases*, in pieces of 64 KB."""

    def __init__(self, databases: Sequence[Keyspace]) -> None:
        self.keys_written = 0
        self._databases = databases
        self._out = Encoder(2)

    def __iter__(self) -> Iterator[bytes]:
        for argv in self._commands():
            self._out.write(list(argv))
            if len(self._out) >= PIECE:
                yield self._out.take()
        yield self._out.take()

    def _commands(self) -> Iterator[Words]:
        for db in self._databases:
            if len(db):
                yield [b"SELECT", b"%d" % db.index]
            for key, value in db.table.items():
                yield from commands_of(key, value)
                expiry = db.expiry(key)
                if expiry != NO_EXPIRY:
                    yield [b"PEXPIREAT", key, b"%d" % expiry]
                self.keys_written += 1


def commands_of(key: bytes, value: Any) -> Iterator[Words]:
    """The commands that make *value* at *key*."""
    if isinstance(value, Stream):
        yield from _stream(key, value)
    elif isinstance(value, QuickList):
        yield from _list(key, value)
    else:
        yield [b"SET", key, b"%d" % value if isinstance(value, int) else bytes(value)]


def _list(key: bytes, values: QuickList) -> Iterator[Words]:
    batch: list[bytes] = []
    for element in values:
        batch.append(element)
        if len(batch) == ELEMENTS_A_COMMAND:
            yield [b"RPUSH", key, *batch]
            batch.clear()
    if batch:
        yield [b"RPUSH", key, *batch]


def _stream(key: bytes, stream: Stream) -> Iterator[Words]:
    walk = stream.range()
    while walk.next():
        yield [b"XADD", key, walk.id.encode(), *walk.read_fields()]
    if not len(stream):
        yield [b"XADD", key, b"MAXLEN", b"0", b"0-1", b"x", b"y"]
    yield [
        b"XSETID", key, stream.last_id.encode(),
        b"ENTRIESADDED", b"%d" % stream.entries_added,
        b"MAXDELETEDID", stream.max_deleted_id.encode(),
    ]  # fmt: skip
    for name, group in stream.sorted_groups():
        yield [
            b"XGROUP", b"CREATE", key, name, group.last_id.encode(),
            b"ENTRIESREAD", b"%d" % group.entries_read,
        ]  # fmt: skip
        yield from _group(key, name, group)


def _group(key: bytes, name: bytes, group: ConsumerGroup) -> Iterator[Words]:
    for consumer in group.sorted_consumers():
        yield [b"XGROUP", b"CREATECONSUMER", key, name, consumer.name]
        for entry, pending in consumer.pel:
            yield [
                b"XCLAIM", key, name, consumer.name, b"0", stream_id.from_key(entry).encode(),
                b"TIME", b"%d" % pending.delivery_time,
                b"RETRYCOUNT", b"%d" % pending.delivery_count,
                b"JUSTID", b"FORCE",
            ]  # fmt: skip
