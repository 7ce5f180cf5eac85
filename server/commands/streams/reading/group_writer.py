"""Writes entries for a consumer, and records that they are delivered."""

from __future__ import annotations

from protocol.encoder import Encoder
from server.commands.streams import stream_reply
from server.commands.streams.reading.delivery import Delivery
from server.commands.streams.reading.stream_request import NO_LIMIT
from server.commands.streams.stream_reply import EntryWriter
from storage.stream import group_lag
from storage.stream import pending as pendings
from storage.stream.consumer_group import Consumer
from storage.stream.pending import Pending
from storage.stream.stream_iterator import StreamIterator

_NO_LIMIT = NO_LIMIT  # as a C number


class GroupWriter:
    """Writes what *delivery* gives *consumer* to *out*: *count* entries at most (0: all).

    *out* is not made larger than *end* bytes; but if *is_first*, one entry is written in any case.
    New entries become the consumer's pending ones if *pends*; those that were pending, anyway.
    """

    __slots__ = (
        "_end", "_is_first", "_out", "_writer", "consumer", "delivery", "left", "now_ms", "pends",
        "written",
    )  # fmt: skip

    delivery: Delivery
    consumer: Consumer
    pends: bool
    now_ms: int
    left: int  # how many more entries may be written; 0 when there is no room for another
    written: int  # how many entries
    _out: Encoder
    _end: int
    _is_first: bool
    _writer: EntryWriter

    def begin(self) -> None:
        """Take from the delivery what is told with each entry."""
        delivery = self.delivery
        policy, writer = delivery.policy, stream_reply.new_writer(self._out, delivery.ids_only)
        self._writer = writer
        if delivery.tells_fence and policy is not None:
            delivery.fence = policy.fence
        if delivery.tells_deadline and policy is not None and policy.visibility_ms:
            delivery.deadline = self.now_ms + policy.visibility_ms
        if delivery.tells_deliveries or delivery.tells_deadline or delivery.tells_fence:
            elements = 2 - delivery.ids_only + 2 * delivery.tells_deliveries
            elements += delivery.tells_deadline + delivery.tells_fence
            writer.head = b"*%d\r\n" % elements

    def give(self, entry: StreamIterator, lane: int) -> bool:
        """Write the new entry at which *entry* stands; False, and it is cut, without room for it.

        *lane* is as of ConsumerGroup.deliver().
        """
        delivery = self.delivery
        if not self._write(entry, 0, 0, delivery.deadline if self.pends else 0):
            return False
        entry_id = entry.current_id()
        group_lag.move_on(delivery.stream, delivery.group, entry_id)
        if self.pends:
            delivery.group.deliver(entry_id, self.consumer, self.now_ms, lane)
        delivery.given.append(entry_id)
        return True

    def give_again(self, entry: StreamIterator, pending: Pending) -> bool:
        """Write a pending entry, the one at which *entry* stands, and make it the consumer's.

        False, and it is cut, without room for it.
        """
        delivery, group, now_ms = self.delivery, self.delivery.group, self.now_ms
        idle_ms = delivery.idle_ms(pending, now_ms) if delivery.tells_deliveries else 0
        if not self._write(entry, idle_ms, pendings.count_of(pending), delivery.deadline):
            return False
        group.claim(pending, self.consumer, now_ms, now_ms)
        group.count_delivery(pending)
        delivery.claimed.append(pending)
        return True

    def give_away(self, entry: StreamIterator) -> bool:
        """Write a pending entry that nobody has had; it is to leave the group (NOACK).

        False, and it is cut, without room for it.
        """
        return self._write(entry, 0, 0, 0)

    def _write(self, entry: StreamIterator, idle_ms: int, deliveries: int, deadline: int) -> bool:
        """Write an entry, and what is told with it; False, and nothing is, without room for it."""
        out, delivery = self._out, self.delivery
        size = out.size()
        self._writer.write(entry)
        if delivery.tells_deliveries:
            out.integer(idle_ms)
            out.integer(deliveries)
        if delivery.tells_deadline:
            _write_number(out, deadline)
        if delivery.tells_fence:
            _write_number(out, delivery.fence)
        if out.size() > self._end and (self.written or not self._is_first):
            out.truncate(size)
            delivery.is_cut = True
            self.left = 0
            return False
        self.left -= 1
        self.written += 1
        return True


def _write_number(out: Encoder, number: int) -> None:
    """Write *number*; null for 0."""
    if number:
        out.integer(number)
    else:
        out.null()


def new_writer(
    out: Encoder,
    delivery: Delivery,
    consumer: Consumer,
    count: int,
    pends: bool,
    now_ms: int,
    end: int,
    is_first: bool,
) -> GroupWriter:
    """What writes the entries of *delivery*."""
    made = GroupWriter.__new__(GroupWriter)
    made.delivery = delivery
    made.consumer = consumer
    made.pends = pends
    made.now_ms = now_ms
    made.left = count or _NO_LIMIT
    made.written = 0
    made._out = out  # noqa: SLF001  as its own
    made._end = end  # noqa: SLF001
    made._is_first = is_first  # noqa: SLF001
    made.begin()
    return made
