"""Which entries of a group may be delivered now, and after how long the next one may be."""

from __future__ import annotations

from server.commands.streams.reading.delivery import MOST_CLAIMS, RELEASED_ONLY, Delivery
from server.commands.streams.reading.stream_request import LOOKS
from storage import octets
from storage.stream import pending as pendings
from storage.stream import stream_id
from storage.stream.entry_filter import EntryFilter
from storage.stream.pending import Pending
from storage.stream.stream_iterator import StreamIterator

_RELEASED_ONLY = RELEASED_ONLY  # as a C number
FEW_UNREAD = 8  # entries of a node that are sought from its end
_MOST_CLAIMS = MOST_CLAIMS
_LOOKS = LOOKS
CLAIMS_AGAIN_MS = 1000  # at the earliest, if none of those that one call looks at is one


def find_new(delivery: Delivery) -> StreamIterator | None:
    """A walk that stands at the first entry which the group has not read yet, or None."""
    stream, group = delivery.stream, delivery.group
    last_id = group.last_id
    if stream.length == 0 or stream_id.compare(stream.last_id, last_id) <= 0:
        return None
    read = group.entries_read  # -1: not known
    unread = 0 if read < 0 else stream.entries_added - read
    entry = stream.newer(last_id, unread if 0 < unread <= FEW_UNREAD else 0)
    return entry if entry.next() else None


def is_any(delivery: Delivery, now_ms: int) -> bool:
    """Whether an entry is held no longer, or was not acknowledged in time."""
    group = delivery.group
    held, owned = group.by_time.first_held(), group.by_time.first_owned()
    if held is not None and held.delivery_time <= now_ms:
        return True
    return owned is not None and group.is_idle(owned, delivery.min_idle, now_ms)


def is_any_or_released(delivery: Delivery, now_ms: int) -> bool:
    """As is_any(), or one was released: only such entries can be dead."""
    group = delivery.group
    first = group.by_time.first_left()
    if first is not None and group.is_idle(first, delivery.min_idle, now_ms):
        return True
    return is_any(delivery, now_ms)


def find_idle(delivery: Delivery, min_idle: int, now_ms: int) -> Pending | None:
    """The entry delivered longest ago, if that is *min_idle* ms; one that is in the stream.

    By a policy also one that is not, as it leaves the group; else these are passed, once for all
    calls.
    """
    group, stream = delivery.group, delivery.stream
    by_time = group.by_time
    pending = by_time.first_left()
    if delivery.where is not None:
        pending = _first_wanted(delivery, delivery.where, pending, min_idle, now_ms)
    while pending is not None and group.is_idle(pending, min_idle, now_ms):
        if delivery.policy is not None or stream.contains(pendings.id_of(pending)):
            return pending
        by_time.is_gone(pending)
        pending = pendings.newer_of(pending)
    return None


def _first_wanted(
    delivery: Delivery, where: EntryFilter, start: Pending | None, min_idle: int, now_ms: int
) -> Pending | None:
    """The first of the idle entries from *start* on that *where* names, or that is dead.

    Of many, those that were delivered longest ago are looked at.
    """
    pending = start
    for _ in range(delivery.most_claims):
        if pending is None or not delivery.group.is_idle(pending, min_idle, now_ms):
            return None
        if delivery.leaves(pending) or delivery.is_wanted(where, pending):
            return pending
        pending = pendings.newer_of(pending)
    return None


def ms_to_idle(delivery: Delivery, min_idle: int, now_ms: int) -> int:
    """After how many ms find_idle() finds the first one; 0 if there is nothing to be found.

    Of many that help nobody, the MOST_CLAIMS that were delivered longest ago are looked at.
    """
    by_time, has_policy = delivery.group.by_time, delivery.policy is not None
    pending = None if min_idle == _RELEASED_ONLY else by_time.first_left()
    if delivery.where is not None and pending is not None:
        return _ms_to_wanted(delivery, delivery.where, min_idle, now_ms)
    for _ in range(_MOST_CLAIMS):
        if pending is None:
            return 0
        left = min_idle - octets.since(pending.delivery_time, now_ms)
        # By a policy, what is due and was not given is dead and cannot be moved: no time helps.
        is_stuck = has_policy and left <= 0
        is_there: bool = has_policy or delivery.stream.contains(pendings.id_of(pending))
        if not is_stuck and is_there:
            return max(1, left)
        if not is_there:
            by_time.is_gone(pending)
        pending = pendings.newer_of(pending)
    return CLAIMS_AGAIN_MS


def _ms_to_wanted(delivery: Delivery, where: EntryFilter, min_idle: int, now_ms: int) -> int:
    """As ms_to_idle(), for the first that *where* names, of those that are looked at.

    Those that are idle were looked at before, in vain. Where a policy limits what is pending,
    another makes room when it goes back or is held.
    """
    policy = delivery.policy
    makes_room = policy is not None and policy.limits_pending() and delivery.gives_back()
    pending = delivery.group.by_time.first_left()
    for _ in range(delivery.most_claims):
        if pending is None:
            return 0
        if where.looks >= _LOOKS:
            break
        left = min_idle - octets.since(pending.delivery_time, now_ms)
        if left > 0 and (
            makes_room or delivery.leaves(pending) or delivery.is_wanted(where, pending)
        ):
            return left
        pending = pendings.newer_of(pending)
    if min_idle > CLAIMS_AGAIN_MS:
        return min_idle
    # At a full second: all who wait for the key look when one does, so they do so together.
    return 2 * CLAIMS_AGAIN_MS - now_ms % CLAIMS_AGAIN_MS


def ms_to_held(delivery: Delivery, now_ms: int) -> int:
    """After how many ms the first entry that is held may be given; 0 if none is held."""
    held = delivery.group.by_time.first_held()
    if held is None:
        return 0
    return max(1, held.delivery_time - now_ms)
