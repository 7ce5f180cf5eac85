"""Makes the order of a group (see group_order.py) from what is pending in it."""

from __future__ import annotations

from storage.stream import pending as pendings
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.group_order import GroupOrder, named
from storage.stream.newest import value_of
from storage.stream.pending import PARKED, Pending
from storage.stream.stream import Stream
from storage.stream.stream_iterator import StreamIterator


def lane_of(entry: StreamIterator, field: bytes) -> bytes | None:
    """The name of the lane of the entry at which *entry* stands; None if it has not the field."""
    value = value_of(entry, field)
    return None if value is None else named(value)


def order_of(
    stream: Stream, group: ConsumerGroup, field: bytes, is_shown: bool = False
) -> GroupOrder:
    """The order of what is pending in the group by *field*: a new one. O(N log N).

    An entry that was deleted has no lane, as one without the field. If it *is_shown* only, the
    order that the group has is left as it is.
    """
    order = GroupOrder(field, is_shown)
    place = group.pel.seek("^")
    while place.next():
        pending: Pending = place.value
        entry_id = pendings.id_of(pending)
        entry = stream.range(entry_id, entry_id)
        name = lane_of(entry, field) if entry.next() else None
        if name is not None:
            order.add(place.current_key(), pending, name)
        else:
            order.passed(pending)
    return order


def begin(stream: Stream, group: ConsumerGroup, field: bytes) -> list[Pending]:
    """Let the group have an order by *field*. O(N log N) in its pending entries.

    What was released and has a lane is parked, and what is parked without one is released. These
    entries are returned.
    """
    order = order_of(stream, group, field)
    group.order = order
    moved = []
    for pending in [*group.by_time.released(), *group.by_time.held()]:
        is_parked = pending.delivery_time == PARKED
        has_lane = order.has_lane(pending)
        if is_parked != has_lane and (is_parked or pending.delivery_time == 0):
            group.release(pending)
            moved.append(pending)
    return moved


def end(group: ConsumerGroup) -> list[Pending]:
    """Let the group have no order. What is parked is released, and returned. O(N log N)."""
    group.order = None
    parked = [pending for pending in group.by_time.held() if pending.delivery_time == PARKED]
    for pending in parked:
        group.release(pending)
    return parked
