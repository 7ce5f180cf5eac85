"""What is due in a group when somebody reads: what was held, or not acknowledged in time."""

from __future__ import annotations

from server.commands.streams.groups import dead_letters, group_orders, group_steps
from server.commands.streams.groups.dead_letters import DELIVERIES
from server.commands.streams.reading.delivery import Delivery
from server.dispatch.call import Call
from storage.stream import pending as pendings
from storage.stream.consumer_group import Consumer
from storage.stream.pending import NOBODY, Pending

MOST_AT_ONCE = 200  # entries that a reader moves besides those that it gets: nobody waits for long
MOST_LOOKS = 10_000  # entries that one reader looks at, of which most stay as they are


def look(call: Call, key: bytes, name: bytes, delivery: Delivery) -> None:
    """Release what is ripe, and let BACKOFF hold what was not acknowledged in time."""
    delivery.group.by_time.ripen(call.now_ms, MOST_AT_ONCE)
    if delivery.awaits_backoff():
        hold_lapsed(call, key, name, delivery)


def hold_lapsed(call: Call, key: bytes, name: bytes, delivery: Delivery) -> None:
    """Hold what was not acknowledged in time for as long as BACKOFF says. O(log N) for each.

    Who had it has it no more. One call holds MOST_AT_ONCE, and looks at MOST_LOOKS: no client waits
    for long. What need not be held is not looked at again.
    """
    group, policy, now_ms = delivery.group, delivery.policy, call.now_ms
    assert policy is not None
    lapsed, looks = group.by_time.first_not_due(now_ms), MOST_LOOKS
    held: list[Pending] = []
    while lapsed is not None and group.is_idle(lapsed, policy.visibility_ms, now_ms):
        if len(held) == MOST_AT_ONCE or looks == 0:
            delivery.is_more = True
            break
        looks -= 1
        after = pendings.newer_of(lapsed)
        if delivery.is_to_wait(lapsed, now_ms):
            wait_ms = policy.visibility_ms + policy.wait_ms(pendings.count_of(lapsed))
            group.hold(lapsed, lapsed.delivery_time + wait_ms)
            held.append(lapsed)
        else:
            group.by_time.is_due(lapsed, now_ms)
        lapsed = after
    if held and call.is_logged:
        group_steps.log_released(call, key, name, held)
    if held:
        call.db.group_changed(key, None, changes=len(held))


def look_in_order(
    call: Call, key: bytes, name: bytes, delivery: Delivery, reader: Consumer | None, most: int
) -> None:
    """What was not acknowledged in time goes back to its lane, or is dead. O(log N) for each.

    By BACKOFF it is held for a while. One call takes MOST_AT_ONCE: no client waits for long. With
    CLAIM it takes at most *most* from other consumers than *reader*: as many as it is to give.
    """
    group, policy, order = delivery.group, delivery.policy, delivery.order
    assert policy is not None
    assert order is not None
    group.ripen(call.now_ms, MOST_AT_ONCE)
    lapsed = _lapsed(call, delivery, NOBODY if reader is None else reader.index, most)
    dead, released = [], []
    for pending in lapsed:
        if pending.consumer_index == NOBODY:  # it has gone back with one before it
            continue
        if policy.is_dead(pendings.count_of(pending)):
            dead.append(pending)
            continue
        if delivery.tells_deliveries:
            delivery.note_taken(pending)
        if delivery.awaits_backoff() and delivery.is_to_wait(pending, call.now_ms):
            wait_ms = policy.visibility_ms + policy.wait_ms(pendings.count_of(pending))
            group.hold(pending, pending.delivery_time + wait_ms)
        else:
            group.release(pending)
        released += [pending, *group_orders.take_back(group, order, pending)]
    group_orders.log(call, key, name, released)
    moved = dead_letters.bury(call, key, name, dead, DELIVERIES) if dead else 0
    if len(lapsed) == MOST_AT_ONCE and (released or moved):
        delivery.is_more = True


def _lapsed(call: Call, delivery: Delivery, reader_index: int, most: int) -> list[Pending]:
    """The entries with an owner that were not acknowledged in time, those of long ago first.

    Without the dead, if these stay, and without those that leave their consumer only when they are
    given. Of many the MOST_LOOKS of long ago are looked at.
    """
    found: list[Pending] = []
    policy, looks = delivery.policy, MOST_LOOKS
    assert policy is not None
    pending = delivery.group.by_time.first_owned()
    while (
        pending is not None
        and len(found) < MOST_AT_ONCE
        and looks > 0
        and delivery.group.is_idle(pending, delivery.min_idle, call.now_ms)
    ):
        looks -= 1
        if policy.is_dead(pendings.count_of(pending)):
            if not delivery.dead_stay:
                found.append(pending)
        elif not delivery.has_lane(pending):
            if delivery.awaits_backoff() and delivery.is_to_wait(pending, call.now_ms):
                found.append(pending)
        elif not delivery.tells_deliveries:
            found.append(pending)
        elif (pending.consumer_index == reader_index or most > 0) and delivery.may_take(pending):
            found.append(pending)
            most -= _size_of_lane(delivery, pending)
            if most <= 0:
                break
        pending = pendings.newer_of(pending)
    return found


def _size_of_lane(delivery: Delivery, pending: Pending) -> int:
    order = delivery.order
    lane = None if order is None else order.lane_of(pending)
    return 0 if lane is None else lane.size()
