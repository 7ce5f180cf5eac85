"""The reply of XREADGROUP for one stream: what is new to the group, or what a consumer has."""

from __future__ import annotations

from protocol.encoder import Encoder
from server.commands.streams import stream_reply
from server.commands.streams.reading import lane_reply
from server.commands.streams.reading.delivery import Delivery
from server.commands.streams.reading.group_writer import GroupWriter
from server.commands.streams.reading.lane_reply import MOST_DEAD
from server.table.command import NO_CLAIM
from storage.stream import group_lag, lanes, stream_id
from storage.stream import pending as pendings
from storage.stream.consumer_group import Consumer
from storage.stream.entry_filter import EntryFilter
from storage.stream.pending import Pending
from storage.stream.stream_iterator import StreamIterator

_NO_CLAIM = NO_CLAIM  # as C numbers
_MOST_DEAD = MOST_DEAD


def write_new(
    out: Encoder, writer: GroupWriter, entry: StreamIterator | None, min_idle: int = NO_CLAIM
) -> int:
    """Write the new entry at which *entry* stands and those after it, as far as *writer* may.

    Before them come those to be claimed, unless *min_idle* is NO_CLAIM, and those of lanes that are
    ready. Returns how many were written.
    """
    delivery = writer.delivery
    mark = out.open_array()
    if min_idle != _NO_CLAIM:
        _write_idle(writer, min_idle)
    policy, order = delivery.policy, delivery.order
    if policy is not None and writer.pends and policy.limits_pending():
        delivery.limit(policy, writer.consumer)
    if order is not None and order.ready.size:
        lane_reply.write_ready(writer, order)
    where = delivery.where
    again = _claimed_ahead(delivery) if policy is not None and delivery.claimed else None
    if where is not None and entry is not None:
        # It stands before the first one.
        entry = delivery.stream.range(delivery.group.last_id.next())
    while entry is not None and writer.left > 0 and len(delivery.given) < delivery.room:
        if where is not None and not _find_wanted(delivery, where, entry):
            break
        if again is not None and entry.current_id().key() in again:
            group_lag.move_on(delivery.stream, delivery.group, entry.current_id())
            delivery.has_passed = True
            if where is None and not entry.next():
                break
            continue
        lane = 0
        if order is not None:
            lane = lanes.lane_of(entry, order.field)
            if (  # most often its lane is free
                delivery.was_set_back or order.lanes.has(lane)
            ) and not lane_reply.is_its_turn(delivery, order, entry, lane):
                if lane_reply.is_over(delivery, order) or (where is None and not entry.next()):
                    break
                continue
        if not writer.give(entry, lane) or (where is None and not entry.next()):
            break
    out.close_array(mark, writer.written)
    if delivery.claimed or (writer.pends and delivery.given):
        writer.consumer.active_time = writer.now_ms
    return writer.written


def _claimed_ahead(delivery: Delivery) -> set[bytes] | None:
    """What was claimed and is new to the group as well, which was set back: it is given once."""
    last_id, found = delivery.group.last_id, None
    for pending in delivery.claimed:
        entry_id = pendings.id_of(pending)
        if stream_id.compare(entry_id, last_id) > 0:
            found = found or set()
            found.add(entry_id.key())
    return found


def _find_wanted(delivery: Delivery, where: EntryFilter, entry: StreamIterator) -> bool:
    """Go on to the next entry that *where* names; False if it finds none.

    The group passes the others, as if they were delivered and acknowledged.
    """
    found = where.find(entry)
    if where.passed:
        first = stream_id.make_id(where.first_ms, where.first_seq)
        last = stream_id.make_id(where.last_ms, where.last_seq)
        group_lag.move_past(delivery.stream, delivery.group, first, last, where.passed)
        delivery.has_passed = True
    return found


def _write_idle(writer: GroupWriter, min_idle: int) -> None:
    """Claim and write the entries that are idle, the oldest first.

    Those that are no longer in the stream leave the group by a policy, as the dead do: else nobody
    could read any more where a policy limits what is pending. Without one they stay. What others
    have had is left for others if the consumer has no room for it.
    """
    delivery, consumer, now_ms = writer.delivery, writer.consumer, writer.now_ms
    group, waits = delivery.group, delivery.awaits_backoff()
    room = delivery.room_of_one(consumer)
    last = group.by_time.newest()  # what is claimed goes after it
    pending = group.by_time.first_left()
    entry = delivery.stream.finder()  # most often they come in their order
    looks = delivery.most_claims  # at what is not given
    while pending is not None and looks >= 0 and group.is_idle(pending, min_idle, now_ms):
        newer = None if pending is last else pendings.newer_of(pending)
        if waits and delivery.is_to_wait(pending, now_ms):
            delivery.is_more = True
            break
        if delivery.has_lane(pending):
            if not delivery.tells_deliveries and not delivery.is_dead(pending):
                delivery.is_more = True  # it goes back to its lane at the next look
                break
            looks -= 1  # it stays with its consumer, or cannot be moved
            pending = newer
            continue
        is_own = pending.consumer_index == consumer.index
        is_there = entry.find(pendings.id_of(pending))
        if delivery.is_dead(pending) or (delivery.policy is not None and not is_there):
            if len(delivery.dead) < _MOST_DEAD:
                delivery.dead.append(pending)
                room += is_own
            elif delivery.dead_stay:
                looks -= 1
            else:
                delivery.is_more = True
                break
        elif room <= 0 and not is_own:
            delivery.has_left_some = True
            looks -= 1
        elif delivery.where is not None and not delivery.is_wanted(delivery.where, pending):
            looks -= 1
        elif is_there:
            room -= not is_own
            if not writer.give_again(entry, pending) or writer.left == 0:
                break
        pending = newer
    if delivery.has_left_some and room > 0 and not delivery.dead_stay:
        delivery.is_more = True  # its own dead make room


def write_history(
    out: Encoder,
    delivery: Delivery,
    consumer: Consumer,
    count: int,
    now_ms: int,
    end: int,
    is_first: bool,
    may_stop: bool = False,
) -> int:
    """Write the consumer's pending entries that follow *after*, *count* at most (0: all).

    Each entry that is still in the stream is delivered once more, and noted in *claimed*; what is
    dead is noted in *dead*. Those that *where* does not name stay as they are. Of a deleted one
    only the ID is written; with *ids_only* of the others, too.
    *out* is not made larger than *end* bytes; but if *is_first*, one entry is written in any case.
    If it *may_stop*, it looks at no more entries than *where* may, and *after* is the last one.
    Returns how many were written.
    """
    written = 0
    where = delivery.where
    place = consumer.pel.seek(">", delivery.after.key())
    finder = delivery.stream.finder()
    mark = out.open_array()
    while place.next():
        delivered: Pending = place.value
        entry_id = pendings.id_of(delivered)
        size = out.size()
        if where is not None:
            if may_stop and not where.may_look():
                break
            delivery.after = entry_id
            if not delivery.is_wanted(where, delivered):
                continue
        if delivery.is_dead(delivered):
            if len(delivery.dead) < _MOST_DEAD:
                delivery.dead.append(delivered)
            elif not delivery.dead_stay:
                break
            continue
        if delivery.ids_only:
            is_there = delivery.stream.contains(entry_id)
            out.bulk(entry_id.encode())
        else:
            is_there = stream_reply.write_entry(out, finder, entry_id)
        if not is_there and not delivery.ids_only:
            out.array(2)
            out.bulk(entry_id.encode())
            out.null_array()
        if out.size() > end and (written or not is_first):
            out.truncate(size)
            delivery.is_cut = True
            break
        if is_there:
            delivery.group.deliver_again(delivered, now_ms)
            delivery.claimed.append(delivered)
        written += 1
        if written == count:
            break
    out.close_array(mark, written)
    return written
