"""What is due in a group when somebody reads: what was held, or not acknowledged in time."""

from __future__ import annotations

from server.commands.streams import group_steps
from server.commands.streams.group_reply import Delivery
from server.dispatch.call import Call
from storage.stream import pending as pendings
from storage.stream.pending import Pending

MOST_AT_ONCE = 200  # entries that a reader moves besides those that it gets: nobody waits for long


def look(call: Call, key: bytes, name: bytes, delivery: Delivery) -> None:
    """Release what is ripe, and let BACKOFF hold what was not acknowledged in time."""
    delivery.group.by_time.ripen(call.now_ms, MOST_AT_ONCE)
    if delivery.awaits_backoff():
        hold_lapsed(call, key, name, delivery)


def hold_lapsed(call: Call, key: bytes, name: bytes, delivery: Delivery) -> None:
    """Hold what was not acknowledged in time for as long as BACKOFF says. O(log N) for each.

    Who had it has it no more. So many are held at once as nobody waits for.
    """
    group, policy, now_ms = delivery.group, delivery.policy, call.now_ms
    assert policy is not None
    lapsed = group.by_time.first_owned
    held: list[Pending] = []
    while (
        lapsed is not None
        and len(held) < MOST_AT_ONCE
        and group.is_idle(lapsed, policy.visibility_ms, now_ms)
    ):
        after = lapsed.newer
        if delivery.is_to_wait(lapsed, now_ms):
            wait_ms = policy.visibility_ms + policy.wait_ms(pendings.count_of(lapsed))
            group.hold(lapsed, lapsed.delivery_time + wait_ms)
            held.append(lapsed)
        lapsed = after
    if held and call.is_logged:
        group_steps.log_released(call, key, name, held)
    if held:
        call.db.group_changed(key, None, changes=len(held))
