"""The reply of XREADGROUP: writes entries, and records that they are delivered."""

from __future__ import annotations

from protocol.encoder import Encoder
from server.commands.streams import stream_reply
from server.commands.streams.stream_reply import EntryWriter
from storage.stream import group_lag, stream_id
from storage.stream import pending as pendings
from storage.stream.consumer_group import Consumer, ConsumerGroup
from storage.stream.pending import Pending
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, StreamId
from storage.stream.stream_iterator import StreamIterator

NEW = MAX  # stands for the ID ``>``: no pending entry has a greater ID


class Delivery:
    """What one XREADGROUP gives a consumer from one stream: entries with IDs beyond *after*."""

    __slots__ = ("after", "given", "group", "key", "stream")

    key: bytes
    stream: Stream
    group: ConsumerGroup
    after: StreamId
    given: list[StreamId]  # the ids of the new entries that were written

    def is_of_new(self) -> bool:
        """Whether it gives entries that the group has not read yet."""
        return stream_id.compare(self.after, NEW) == 0

    def find_new(self) -> StreamIterator | None:
        """A walk that stands at the first entry which the group has not read yet, or None."""
        stream, last_id = self.stream, self.group.last_id
        if stream.length == 0 or stream_id.compare(stream.last_id, last_id) <= 0:
            return None
        entry = stream.range(last_id.next())
        return entry if entry.next() else None

    def write_new(
        self,
        out: Encoder,
        entry: StreamIterator,
        consumer: Consumer,
        count: int,
        pends: bool,
        now_ms: int,
    ) -> None:
        """Write the entry at which *entry* stands and those after it, *count* at most (0: all).

        They become the consumer's pending entries if *pends*.
        """
        stream, group, given = self.stream, self.group, self.given
        writer = EntryWriter(out)
        mark = out.open_array()
        while True:
            writer.write(entry)
            entry_id = entry.current_id()
            group_lag.move_on(stream, group, entry_id)
            if pends:
                group.deliver(entry_id, consumer, now_ms)
            given.append(entry_id)
            if len(given) == count or not entry.next():
                break
        out.close_array(mark, len(given))
        if pends:
            consumer.active_time = now_ms

    def write_history(self, out: Encoder, consumer: Consumer, count: int, now_ms: int) -> None:
        """Write the consumer's pending entries that follow *after*, *count* at most (0: all).

        Each entry that is still in the stream is delivered once more. Of a deleted one only the ID
        is written.
        """
        written = 0
        place = consumer.pel.seek(">", self.after.key())
        mark = out.open_array()
        while place.next():
            delivered: Pending = place.value
            entry_id = pendings.id_of(delivered)
            if stream_reply.write_entry(out, self.stream, entry_id):
                self.group.deliver_again(delivered, now_ms)
            else:
                out.array(2)
                out.bulk(entry_id.encode())
                out.null_array()
            written += 1
            if written == count:
                break
        out.close_array(mark, written)


def new_delivery(key: bytes, stream: Stream, group: ConsumerGroup, after: StreamId) -> Delivery:
    """What is to be delivered from *stream*, which is at *key*."""
    made = Delivery.__new__(Delivery)
    made.key = key
    made.stream = stream
    made.group = group
    made.after = after
    made.given = []
    return made
