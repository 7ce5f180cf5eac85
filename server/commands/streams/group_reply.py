"""The reply of XREADGROUP: writes entries, and records that they are delivered."""

from __future__ import annotations

from protocol.encoder import Encoder
from server.commands.streams import stream_reply
from server.commands.streams.stream_reply import EntryWriter
from storage.stream import group_lag
from storage.stream import pending as pendings
from storage.stream.consumer_group import Consumer, ConsumerGroup
from storage.stream.pending import Pending
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, StreamId
from storage.stream.stream_iterator import StreamIterator


class Delivery:
    """What one XREADGROUP gives one consumer from one stream."""

    __slots__ = ("consumer", "group", "now_ms", "out", "stream")

    def __init__(
        self, out: Encoder, stream: Stream, group: ConsumerGroup, consumer: Consumer, now_ms: int
    ) -> None:
        self.out = out
        self.stream = stream
        self.group = group
        self.consumer = consumer
        self.now_ms = now_ms

    def write_new(self, count: int, pends: bool) -> list[StreamId]:
        """Write the entries that the group has not read yet, *count* at most (0: all).

        They become the consumer's pending entries if *pends*; return their ids.
        """
        out, group = self.out, self.group
        given: list[StreamId] = []
        entry = StreamIterator(self.stream.rax, group.last_id.next(), MAX)
        writer = EntryWriter(out)
        mark = out.open_array()
        while entry.next():
            writer.write(entry)
            entry_id = entry.current_id()
            group_lag.move_on(self.stream, group, entry_id)
            if pends:
                group.deliver(entry_id, self.consumer, self.now_ms)
            given.append(entry_id)
            if len(given) == count:
                break
        out.close_array(mark, len(given))
        if given and pends:
            self.consumer.active_time = self.now_ms
        return given

    def write_history(self, after: StreamId, count: int) -> None:
        """Write the consumer's pending entries behind *after*, *count* at most (0: all).

        Each entry that is still in the stream is delivered once more. Of a deleted one only the ID
        is written.
        """
        out = self.out
        written = 0
        place = self.consumer.pel.seek(">", after.key())
        mark = out.open_array()
        while place.next():
            self._write_again(place.value)
            written += 1
            if written == count:
                break
        out.close_array(mark, written)

    def _write_again(self, delivered: Pending) -> None:
        entry_id = pendings.id_of(delivered)
        if stream_reply.write_entry(self.out, self.stream, entry_id):
            self.group.deliver_again(delivered, self.now_ms)
        else:
            self.out.array(2)
            self.out.bulk(entry_id.encode())
            self.out.null_array()
