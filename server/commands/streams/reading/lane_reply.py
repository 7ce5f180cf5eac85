"""What a group with ORDERBY gives: what is free, each value in its order. The rest is parked."""

from __future__ import annotations

from server.commands.streams.reading.delivery import MOST_CLAIMS, Delivery
from server.commands.streams.reading.group_writer import GroupWriter
from storage.stream import group_lag
from storage.stream import pending as pendings
from storage.stream.group_order import GroupOrder
from storage.stream.lane import Lane
from storage.stream.pending import PARKED, Pending
from storage.stream.stream_id import StreamId
from storage.stream.stream_iterator import StreamIterator

_PARKED = PARKED  # as a C number
_MOST_LANES = MOST_CLAIMS
MOST_DEAD = 200  # entries that a reader finds dead: they are moved, and nobody waits for long
_MOST_DEAD = MOST_DEAD
MOST_PARKED = 100_000  # entries of a group: one slow value must not fill the memory


def write_ready(writer: GroupWriter, order: GroupOrder) -> None:
    """Claim and write the entries of lanes that are ready.

    Lanes come in the order in which they became ready; MOST_CLAIMS of them are looked at.
    """
    passed: list[Lane] = []
    for _ in range(_MOST_LANES):
        if order.ready.size == 0 or writer.left == 0:
            break
        lane = order.first_ready()
        written = writer.written
        order.pass_over(lane)
        _write_lane(writer, order, lane)
        if writer.written == written:
            passed.append(lane)
    for lane in passed:
        order.look_again(lane)


def _write_lane(writer: GroupWriter, order: GroupOrder, lane: Lane) -> None:
    """Claim and write the first entries of a lane: up to one that is held, or is not wanted.

    Those that have gone are acknowledged, as are those that nobody has had without *pends*. The
    dead at its head are noted, and nothing is given before they have moved.
    """
    order.take_up(lane)
    delivery = writer.delivery
    most, where = delivery.most_of_value, delivery.where
    gone: list[StreamId] = []
    entry = delivery.stream.finder()
    pending = _after_dead(delivery, lane)
    while pending is not None and writer.left > 0:
        if delivery.room <= 0 or pending.delivery_time != _PARKED or delivery.is_dead(pending):
            break
        entry_id = pendings.id_of(pending)
        if entry.find(entry_id):
            if where is not None:
                where.looks += 1
                if not where.matches(entry):
                    break
            if not writer.pends and pendings.count_of(pending) == 0:
                if not writer.give_away(entry):
                    break
                gone.append(entry_id)
            elif not writer.give_again(entry, pending):
                break
            delivery.room -= 1  # what waits takes none, whether it was delivered before or not
            if most and lane.taken >= most:
                break
        else:
            gone.append(entry_id)
        pending = lane.after(pending)
    for entry_id in gone:
        delivery.group.ack(entry_id)
    delivery.note_gone(gone)


def _after_dead(delivery: Delivery, lane: Lane) -> Pending | None:
    """The first entry of a lane; None, and they are noted, if those at its head are dead."""
    pending = lane.first
    has_dead = False
    while pending is not None and delivery.is_dead(pending):
        has_dead = True
        if len(delivery.dead) == _MOST_DEAD:
            delivery.is_more = not delivery.dead_stay
            break
        delivery.dead.append(pending)
        pending = lane.after(pending)
    return None if has_dead else pending


def is_its_turn(delivery: Delivery, order: GroupOrder, entry: StreamIterator, lane: int) -> bool:
    """Whether the new entry at which *entry* stands may be given now.

    If not, it is parked, and the group passes it; unless as much is parked as may be. One that is
    pending (the group was set back) is passed, too.
    """
    is_free = lane == 0 or order.may_give(lane, delivery.most_of_value)
    if is_free and not delivery.was_set_back:
        return True
    group, entry_id = delivery.group, entry.current_id()
    if not delivery.was_set_back or group.pel.find(entry_id.key()) is None:
        if is_free:
            return True
        if order.waiting >= MOST_PARKED:
            return False
        if len(delivery.parked) == delivery.most_parked:
            delivery.reads_on = True
            return False
        delivery.note_parked(group.park(entry_id, lane))
    group_lag.move_on(delivery.stream, group, entry_id)
    delivery.has_passed = True
    return False


def is_over(delivery: Delivery, order: GroupOrder) -> bool:
    """Whether no further new entry is looked at: as much is parked as may be."""
    return delivery.reads_on or order.waiting >= MOST_PARKED
