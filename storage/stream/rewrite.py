"""The commands that make a stream: its form in an append-only file without an RDB in front.

    XADD k id f v ..                                           for each entry
    XADD k MAXLEN 0 0-1 x y                                    if there are no entries
    XSETID k last ENTRIESADDED n MAXDELETEDID id
    XCFGSET k IDMP-DURATION seconds IDMP-MAXSIZE ids           if it has producers, or had
    XIDMPRECORD k producer name id                             for each entry that they name
    XGROUP CREATE k g last ENTRIESREAD n                       for each group
    XGROUP CREATECONSUMER k g c                                for each consumer of the group
    XCLAIM k g c 0 id TIME t RETRYCOUNT n JUSTID FORCE         for each pending entry
    XNACK k g FAIL IDS .. RETRYCOUNT n FORCE                   for up to 64 of those released
    XNACK k g FAIL IDS 1 .. RETRYCOUNT n FORCE AT t            for each that is held until a time

Pending entries come in the order of their delivery, as a group keeps them: so each is added at the
end of its queue.

As in Redis, this form loses pending entries whose entry was deleted, names of such entries, the
counts of what producers have added, and the times at which consumers were seen.

Source: rewriteStreamObject in aof.c of Redis 7.0
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, islice

from storage.stream import pending as pendings
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.producers import Producers
from storage.stream.stream import Stream
from storage.value_type import Words

IDS_A_COMMAND = 64  # as in Redis


def commands(key: bytes, stream: Stream) -> Iterator[Words]:
    """The commands that make *stream* at *key*. O(size)."""
    entry = stream.range()
    while entry.next():
        yield [b"XADD", key, entry.id.encode(), *entry.read_fields()]
    if not len(stream):
        yield [b"XADD", key, b"MAXLEN", b"0", b"0-1", b"x", b"y"]
    yield [
        b"XSETID", key, stream.last_id.encode(),
        b"ENTRIESADDED", b"%d" % stream.entries_added,
        b"MAXDELETEDID", stream.max_deleted_id.encode(),
    ]  # fmt: skip
    if stream.producers is not None:
        yield from _producers(key, stream, stream.producers)
    for name, group in stream.sorted_groups():
        yield [
            b"XGROUP", b"CREATE", key, name, group.last_id.encode(),
            b"ENTRIESREAD", b"%d" % group.entries_read,
        ]  # fmt: skip
        yield from _consumers(key, name, group)


def _producers(key: bytes, stream: Stream, producers: Producers) -> Iterator[Words]:
    yield [
        b"XCFGSET", key,
        b"IDMP-DURATION", b"%d" % producers.seconds, b"IDMP-MAXSIZE", b"%d" % producers.ids,
    ]  # fmt: skip
    for producer, names in producers.sorted_producers():
        for name, entry_id in names:
            if stream.contains(entry_id):
                yield [b"XIDMPRECORD", key, producer, name, entry_id.encode()]


def _consumers(key: bytes, name: bytes, group: ConsumerGroup) -> Iterator[Words]:
    for consumer in group.sorted_consumers():
        yield [b"XGROUP", b"CREATECONSUMER", key, name, consumer.name]
    for pending in group.by_time:
        owner = group.owner(pending)
        if owner is not None:
            yield [
                b"XCLAIM", key, name, owner.name, b"0", pendings.id_of(pending).encode(),
                b"TIME", b"%d" % pending.delivery_time,
                b"RETRYCOUNT", b"%d" % pendings.count_of(pending),
                b"JUSTID", b"FORCE",
            ]  # fmt: skip
    for count, alike in groupby(group.by_time.released(), pendings.count_of):
        while batch := list(islice(alike, IDS_A_COMMAND)):
            ids = [pendings.id_of(pending).encode() for pending in batch]
            yield [
                b"XNACK", key, name, b"FAIL", b"IDS", b"%d" % len(ids), *ids,
                b"RETRYCOUNT", b"%d" % count, b"FORCE",
            ]  # fmt: skip
    for pending in group.by_time.held():
        yield [
            b"XNACK", key, name, b"FAIL", b"IDS", b"1", pendings.id_of(pending).encode(),
            b"RETRYCOUNT", b"%d" % pendings.count_of(pending), b"FORCE",
            b"AT", b"%d" % pending.delivery_time,
        ]  # fmt: skip
