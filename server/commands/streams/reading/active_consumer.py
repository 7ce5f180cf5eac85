"""Groups with ACTIVE 1: one consumer at a time is given entries, the others stand by.

Who reads first is active. Another takes over when the active consumer is deleted, or is silent for
TIMEOUT: it has neither read, claimed, or extended, nor does it wait in an XREADGROUP. Each turn has
a number that is greater than all before it, also if a failover has lost the last of them: it is not
less than the time of the server.

A silence is looked at twice, a quarter of TIMEOUT apart: between two waits of the active consumer
there is always a moment at which it does not wait.
"""

from __future__ import annotations

from server.commands.streams.groups import group_steps
from server.commands.streams.reading.delivery import Delivery
from server.commands.streams.reading.waiting_readers import waits_as
from server.dispatch.call import Call
from storage.side_data.group_policy import MOST, GroupPolicy
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.pending import NOBODY
from storage.stream.stream_id import MAX, ZERO

AGAIN = 4  # the part of (CONSUMER)TIMEOUT after which a silence is looked at again


def may_read(call: Call, delivery: Delivery, name: bytes, consumer: bytes) -> bool:
    """Whether it is the turn of *consumer* in the group *name*; if that can be, it takes over.

    If not, the delivery knows after how many ms to ask again. O(1); to take over O(pending).
    """
    policy, group = delivery.policy, delivery.group
    assert policy is not None
    if policy.active_consumer == consumer:
        return True
    active = group.find_consumer(policy.active_consumer)
    if active is not None:
        if max(active.seen_time, policy.seen_ms, policy.suspected_ms) > call.now_ms:
            # The clock was set back: it is seen now.
            active.seen_time = policy.seen_ms = call.now_ms
            policy.suspected_ms = 0
        seen_ms = max(active.seen_time, policy.seen_ms)
        delivery.turn_ms = _ms_to_turn(call, delivery.key, name, policy, seen_ms)
        if delivery.turn_ms:
            return False
    _take_over(call, delivery.key, name, group, policy, consumer)
    return True


def _ms_to_turn(call: Call, key: bytes, name: bytes, policy: GroupPolicy, seen_ms: int) -> int:
    """After how many ms another consumer may take over, or has to look again; 0: now; -1: never."""
    if not policy.timeout_ms:
        return -1
    silent_ms = max(0, call.now_ms - seen_ms)
    if silent_ms >= policy.timeout_ms:  # it may have read by a pattern, while the stream rested
        patterns = call.server.blocking.patterns
        active = policy.active_consumer
        read_ms = patterns.read_ms(call.db.index, key, name, active, call.now_ms)
        if read_ms > seen_ms:
            seen_ms = policy.seen_ms = read_ms
            silent_ms = call.now_ms - seen_ms
    if silent_ms < policy.timeout_ms:
        policy.suspected_ms = 0
        return policy.timeout_ms - silent_ms
    again_ms = max(1, policy.timeout_ms // AGAIN)
    if policy.suspected_ms <= seen_ms:
        policy.suspected_ms = 0  # of a silence that it has broken since
    # Between the looks it cannot begin to wait unseen: then it reads.
    if policy.suspected_ms and call.now_ms < policy.suspected_ms + again_ms:
        return policy.suspected_ms + again_ms - call.now_ms
    if _waits(call, key, name, policy.active_consumer):
        policy.seen_ms, policy.suspected_ms = call.now_ms, 0
        return policy.timeout_ms
    if policy.suspected_ms:
        return 0
    policy.suspected_ms = call.now_ms
    return again_ms


def _waits(call: Call, key: bytes, name: bytes, consumer: bytes) -> bool:
    """Whether a client waits as that consumer of the group, for *key*. O(clients that wait)."""
    blocking = call.server.blocking
    return waits_as(blocking, call.db.index, key, name, consumer)


def _take_over(
    call: Call, key: bytes, name: bytes, group: ConsumerGroup, policy: GroupPolicy, consumer: bytes
) -> None:
    """Let *consumer* be active. What others have is released: it comes first, in its order."""
    policy.active_consumer = consumer
    # Only a forged payload comes near MOST, beyond which no file and no log could be read again.
    policy.fence = min(max(policy.fence + 1, call.now_ms), MOST)
    policy.seen_ms = policy.suspected_ms = 0
    fence = b"%d" % policy.fence
    log = (b"XGROUP", b"CFGSET", key, name, b"ACTIVECONSUMER", consumer, b"FENCE", fence)
    call.db.group_changed(key, b"xgroup-cfgset", changes=1, log=log)
    pending = group.pending_range(ZERO, MAX, len(group.pel))
    owned = [entry for entry in pending if entry.consumer_index != NOBODY]
    for entry in owned:
        group.release(entry)
    if owned and call.is_logged:
        group_steps.log_released(call, key, name, owned)
