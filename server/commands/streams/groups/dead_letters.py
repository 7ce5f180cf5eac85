"""Dead letters: entries that a group has delivered too often move to another stream.

    job  42  dead-stream jobs  dead-id 7-0  dead-group workers  dead-consumer ann  dead-deliveries 5
    dead-first-ms 1750000000000  dead-delivered-ms 1760000000000  dead-reason deliveries

A dead letter has the fields of the entry, and after them those of its origin, in this order. To
move is one step: the dead letter is added and the entry acknowledged in one transaction of the log,
whose words every Redis knows. stream_redrives.py sends dead letters back.

An entry that would be too large with the fields of its origin goes without them.
"""

from __future__ import annotations

from server.commands.streams.groups import group_steps
from server.dispatch.call import Call
from server.process import faults
from storage.errors import TooLarge, WrongType
from storage.side_data.group_policy import GROUP_POLICY, GroupPolicy
from storage.stream import pending as pendings
from storage.stream import stream_node
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.pending import Pending
from storage.stream.stream import MAX_ENTRY_SIZE, Stream
from storage.stream.stream_id import StreamId

DELIVERIES, FATAL = b"deliveries", b"fatal"  # reasons
FIELDS = (
    b"dead-stream",
    b"dead-id",
    b"dead-group",
    b"dead-consumer",
    b"dead-deliveries",
    b"dead-first-ms",
    b"dead-delivered-ms",
    b"dead-reason",
)


def bury(
    call: Call,
    key: bytes,
    name: bytes,
    dead: list[Pending],
    reason: bytes,
    wakes: bool = True,
) -> int:
    """Move the pending entries *dead* of the group *name* to its dead letters; return how many.

    Unless *wakes* is False, those who wait for room in the group are woken.
    They stay as they are if there are no dead letters, or their stream is no stream any more, or
    full, or would send them back (by RENAME, say), or maxmemory leaves no room; and so does
    one that was delivered anew since, by XGROUP SETID, or is too large to be added. Those that are
    not in the stream any more are acknowledged in any case. O(log N) for each.
    """
    policy = group_steps.policy_of(call, key, name)
    stream = call.db.peek(key)
    group = None if policy is None or stream is None else stream.find_group(name)
    if policy is None or group is None:
        return 0
    target = _target(call, key, policy) if _has_room(call) else None
    moved = 0
    for pending in dead:
        if group.find(pendings.id_of(pending)) is pending:
            moved += _bury(
                call, key, name, stream, group, pending, policy.dead_letter, target, reason
            )
    if moved and wakes:
        call.server.blocking.delivered(call.db.index, key)
    return moved


def can_move(call: Call, key: bytes, policy: GroupPolicy) -> bool:
    """Whether dead entries of the stream at *key* can become dead letters now."""
    return _has_room(call) and _target(call, key, policy) is not None


def leads_to(call: Call, start: bytes, key: bytes) -> bool:
    """Whether *start* is *key*, or groups of its stream send dead entries there, by any way."""
    seen, left = set(), [start]
    while left:
        at = left.pop()
        if at == key:
            return True
        side = call.db.side.get(at)
        if side is not None and at not in seen:
            seen.add(at)
            policies = [policy for _, policy in side.of_kind(GROUP_POLICY)]
            left += [policy.dead_letter for policy in policies if policy.dead_letter]
    return False


def _has_room(call: Call) -> bool:
    """Whether maxmemory lets data be added: no reader may fill the memory, which others need.

    What was moved when it ran first is moved again.
    """
    server = call.server
    is_full = server.restrictions.must_check and server.key_eviction.is_out_of_memory
    return call.is_replayed() or not is_full


def bury_expired(
    call: Call,
    key: bytes,
    stream: Stream,
    name: bytes,
    group: ConsumerGroup,
    ids: list[StreamId],
    reason: bytes,
) -> None:
    """Add copies of entries to the dead letters of a group that has them pending, or not read yet.

    Nothing is done if the group has no dead letters, or they cannot take any. The entries stay.
    One of which no letter can be made, by a bug, has no copy: else it would end the server, which
    removes it, now and after each start.
    """
    policy = group_steps.policy_of(call, key, name)
    target = None if policy is None else _target(call, key, policy)
    if policy is None or target is None:
        return
    for entry_id in ids:
        pending = group.find(entry_id)
        entry = stream.range(entry_id, entry_id)
        if (pending is None and entry_id <= group.last_id) or not entry.next():
            continue
        try:
            letter = _letter(key, name, group, entry_id, pending, entry.read_fields(), reason)
        except MemoryError:
            raise
        except Exception as error:
            faults.report("a dead letter", error)
            continue
        if _send(call, policy.dead_letter, target, letter):
            group.dead_lettered += 1


def _letter(
    key: bytes,
    name: bytes,
    group: ConsumerGroup,
    entry_id: StreamId,
    pending: Pending | None,
    fields: list[bytes],
    reason: bytes,
) -> list[bytes]:
    """The fields of a dead letter; *pending* is None for one that was never delivered.

    Without those of its origin, if it would be too large with them.
    """
    owner = None if pending is None else group.owner(pending)
    count = 0 if pending is None else pendings.count_of(pending)
    first_ms = 0 if pending is None else group.first_delivery(pending)
    delivered_ms = 0 if pending is None else pending.delivery_time
    values = (
        key, entry_id.encode(), name, b"" if owner is None else owner.name,
        b"%d" % count, b"%d" % first_ms, b"%d" % delivered_ms, reason,
    )  # fmt: skip
    letter = list(fields)
    for field, value in zip(FIELDS, values, strict=True):
        letter += (field, value)
    return letter if _fits(letter) else fields


def _fits(fields: list[bytes]) -> bool:
    """Whether a stream takes an entry of these fields."""
    return stream_node.most_bytes_alone(fields, 0) <= MAX_ENTRY_SIZE


def _send(call: Call, key: bytes, target: Stream, letter: list[bytes]) -> bool:
    """Add a dead letter to *target*, at *key*. False, and nothing is changed, if it takes none."""
    if target.is_full() or not _fits(letter):
        return False
    try:
        put(call, key, target, letter)
    except TooLarge:  # for the last node, whose size nothing but 1 GiB limits
        return False
    return True


def _target(call: Call, key: bytes, policy: GroupPolicy) -> Stream | None:
    """The stream of the dead letters of the stream at *key*; None if it can take none of them.

    Nor may it send them back to *key*: each time they would have more fields. If there is no key,
    it is a new one: put() puts it there, with its first entry.
    """
    if not policy.dead_letter or leads_to(call, policy.dead_letter, key):
        return None
    try:
        found = call.db.find(policy.dead_letter, Stream)
    except WrongType:
        return None
    if found is None:
        return Stream()
    return None if found.is_full() else found


def _bury(
    call: Call,
    key: bytes,
    name: bytes,
    stream: Stream,
    group: ConsumerGroup,
    pending: Pending,
    dead_key: bytes,
    target: Stream | None,
    reason: bytes,
) -> bool:
    """Move one entry; if it has been deleted, only acknowledge it. False if *target* takes none."""
    entry_id = pendings.id_of(pending)
    entry = stream.range(entry_id, entry_id)
    if entry.next():
        if target is None or target.is_full():
            return False
        letter = _letter(key, name, group, entry_id, pending, entry.read_fields(), reason)
        if not _send(call, dead_key, target, letter):
            return False
        group.dead_lettered += 1
    group.ack(entry_id)
    call.db.group_changed(key, None, changes=1, log=(b"XACK", key, name, entry_id.encode()))
    return True


def put(call: Call, key: bytes, stream: Stream, fields: list[bytes]) -> StreamId:
    """Add an entry to *stream*, which is at *key* or comes there now, as XADD does."""
    entry_id = stream.next_auto_id(call.now_ms)
    stream.append(entry_id, fields, 0, call.server.node_limits.stream)
    if call.db.peek(key) is not stream:
        call.db.add(key, stream)
    log = (b"XADD", key, entry_id.encode(), *fields)
    call.db.changed(key, b"xadd", changes=1, log=log, wakes=True)
    return entry_id
