"""Groups with ORDERBY: entries with one value go to one consumer at a time, in their order.

storage/stream/group_order.py has the lanes, lane_reply.py gives what they have ready, and
group_lapses.py takes back what was not acknowledged in time. Here is what else is done, and logged:
a group gets its order when somebody reads; and when an entry leaves its consumer, so do those after
it.
"""

from __future__ import annotations

from server.commands.streams.groups import group_steps
from server.dispatch.call import Call
from storage.side_data.group_policy import GroupPolicy
from storage.stream import lane_tail, lanes
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.group_order import GroupOrder
from storage.stream.pending import NOBODY, Pending
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId


def order_of(
    call: Call,
    key: bytes,
    name: bytes,
    policy: GroupPolicy | None,
    stream: Stream,
    group: ConsumerGroup,
) -> GroupOrder | None:
    """The order of the group *name*, made if needed; None if it has none by its policy."""
    if policy is None or not policy.order_by or call.is_replayed():
        return None
    if group.order is None or group.order.field != policy.order_by:
        log(call, key, name, lanes.begin(stream, group, policy.order_by))
    return group.order


def lane_at(call: Call, stream: Stream, group: ConsumerGroup, entry_id: StreamId) -> int:
    """The lane of an entry, for ConsumerGroup.deliver(); 0 if it has none, or the group no order.

    Who follows a primary has no order: it was its primary, perhaps, and forgets what it had.
    """
    order = group.order
    if order is None:
        return 0
    if call.is_replayed():
        group.forget_order()
        return 0
    entry = stream.range(entry_id, entry_id)
    return lanes.lane_of(entry, order.field) if entry.next() else 0


def end(call: Call, key: bytes, name: bytes, group: ConsumerGroup) -> None:
    """The group has no order any more: what waits in a lane is released. O(N log N)."""
    if call.is_replayed():
        group.forget_order()  # the log says what is released
        return
    released = lanes.end(group)
    if released and call.is_logged:
        group_steps.log_released(call, key, name, released)


def gone_back(
    call: Call, key: bytes, name: bytes, group: ConsumerGroup, ones: list[Pending]
) -> None:
    """The entries *ones* have gone back to their lanes; so do those after them that are taken.

    These were not begun, so that is no delivery. Each lane is looked at once, from the first of
    *ones* that it has.
    """
    order = group.order
    if order is None or call.is_replayed():
        return
    firsts: dict[int, Pending] = {}
    for pending in ones:
        lane = order.lane_of(pending)
        if lane is not None:
            first = firsts.get(lane.number)
            if first is None or lane_tail.is_before(pending, first):
                firsts[lane.number] = pending
    taken: list[Pending] = []
    for pending in firsts.values():
        taken += take_back(group, order, pending)
    log(call, key, name, taken)


def take_back(group: ConsumerGroup, order: GroupOrder, pending: Pending) -> list[Pending]:
    """Park what comes after *pending* in its lane and is any consumer's."""
    taken = order.taken_after(pending, NOBODY)
    park(group, taken)
    return taken


def park(group: ConsumerGroup, ones: list[Pending]) -> None:
    """Let *ones*, which consumers have but have not begun, go back to their lanes."""
    for pending in ones:
        group.release(pending)
        group.uncount(pending)


def log(call: Call, key: bytes, name: bytes, released: list[Pending]) -> None:
    """Log what has gone back, if anything has."""
    if released:
        if call.is_logged:
            group_steps.log_released(call, key, name, released)
        call.db.group_changed(key, None, changes=len(released))
