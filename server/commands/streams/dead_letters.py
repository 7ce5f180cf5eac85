"""Dead letters: entries that a group has delivered too often move to another stream.

    job  42  dead-stream jobs  dead-id 7-0  dead-group workers  dead-consumer ann  dead-deliveries 5
    dead-first-ms 1750000000000  dead-delivered-ms 1760000000000  dead-reason deliveries

A dead letter has the fields of the entry, and after them those of its origin, in this order. To
move is one step: the dead letter is added and the entry acknowledged in one transaction of the log,
whose words every Redis knows. XREDRIVE sends dead letters back.
"""

from __future__ import annotations

from typing import TypeAlias

from protocol.replies import ErrorReply, Reply
from server.commands.shared.side_rights import NO_RIGHT
from server.commands.streams import stream_args
from server.dispatch.call import Call
from server.table.args import Args
from server.table.command import Flags, command
from server.table.keys import DELETE, RW, KeyRange
from storage.errors import WrongType
from storage.side_data.group_policy import GROUP_POLICY, GroupPolicy
from storage.stream import pending as pendings
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.pending import Pending
from storage.stream.stream import Stream
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
FIRST_MS = 5  # which of them was not always there
OLDER_FIELDS = (*FIELDS[:FIRST_MS], *FIELDS[FIRST_MS + 1 :])
AT_ONCE = 100  # dead letters that XREDRIVE sends back, unless it is told how many
MOST_THAT_STAY = 10_000  # it passes so many others; defends clients against one that looks at all

# What goes back: its id, its own fields, and the stream where it comes from, by name.
Letter: TypeAlias = tuple[StreamId, list[bytes], bytes, Stream]

COUNT_NOT_POSITIVE = ErrorReply("ERR", "COUNT must be > 0")


def policy_of(call: Call, key: bytes, group: bytes) -> GroupPolicy | None:
    """The policy of that group of the stream at *key*; None: it does nothing by itself."""
    side = call.db.side.get(key)
    policy: GroupPolicy | None = None if side is None else side.get(GROUP_POLICY, group)
    return policy


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
    full, or has become this very one, by COPY or RENAME; and so does one that was delivered anew
    since, by XGROUP SETID. Those that are not in the stream any more are acknowledged in any case.
    O(log N) for each.
    """
    policy = policy_of(call, key, name)
    stream = call.db.peek(key)
    group = stream.find_group(name)
    if policy is None:
        return 0
    target = _target(call, policy.dead_letter) if policy.dead_letter else None
    if target is stream:
        target = None
    moved = 0
    for pending in dead:
        if group.find(pendings.id_of(pending)) is pending:
            moved += _bury(
                call, key, name, stream, group, pending, policy.dead_letter, target, reason
            )
    if moved and wakes:
        call.server.blocking.delivered(call.db.index, key)
    return moved


def can_move(call: Call, stream: Stream, policy: GroupPolicy) -> bool:
    """Whether dead entries of *stream* can become dead letters now."""
    target = _target(call, policy.dead_letter) if policy.dead_letter else None
    return target is not None and target is not stream


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
    """
    policy = policy_of(call, key, name)
    target = _target(call, policy.dead_letter) if policy and policy.dead_letter else None
    if policy is None or target is None or target is stream:
        return
    for entry_id in ids:
        pending = group.find(entry_id)
        entry = stream.range(entry_id, entry_id)
        if (pending is None and entry_id <= group.last_id) or not entry.next():
            continue
        if target.is_full():
            return
        letter = _letter(key, name, group, entry_id, pending, entry.read_fields(), reason)
        _add(call, policy.dead_letter, target, letter)
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
    """The fields of a dead letter; *pending* is None for one that was never delivered."""
    owner = None if pending is None else group.owner(pending)
    count = 0 if pending is None else pendings.count_of(pending)
    first_ms = 0 if pending is None else group.first_delivery(pending)
    delivered_ms = 0 if pending is None else pending.delivery_time
    values = (
        key, entry_id.encode(), name, b"" if owner is None else owner.name,
        b"%d" % count, b"%d" % first_ms, b"%d" % delivered_ms, reason,
    )  # fmt: skip
    return [*fields, *[text for pair in zip(FIELDS, values, strict=True) for text in pair]]


def _target(call: Call, key: bytes) -> Stream | None:
    """The stream at *key*; None if nothing can be added there.

    If there is no key, it is a new one: _add() puts it there, with its first entry.
    """
    try:
        found = call.db.find(key, Stream)
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
    """Move one entry; if it has been deleted, only acknowledge it. False if *target* is full."""
    entry_id = pendings.id_of(pending)
    entry = stream.range(entry_id, entry_id)
    if entry.next():
        if target is None or target.is_full():
            return False
        letter = _letter(key, name, group, entry_id, pending, entry.read_fields(), reason)
        _add(call, dead_key, target, letter)
        group.dead_lettered += 1
    group.ack(entry_id)
    call.db.group_changed(key, None, changes=1, log=(b"XACK", key, name, entry_id.encode()))
    return True


def _add(call: Call, key: bytes, stream: Stream, fields: list[bytes]) -> StreamId:
    """Add an entry to *stream*, which is at *key* or comes there now, as XADD does."""
    if call.db.peek(key) is not stream:
        call.db.add(key, stream)
    entry_id = stream.next_auto_id(call.now_ms)
    stream.append(entry_id, fields, 0, call.server.node_limits.stream)
    log = (b"XADD", key, entry_id.encode(), *fields)
    call.db.changed(key, b"xadd", changes=1, log=log, wakes=True)
    return entry_id


# ---------------------------------------------------------------------- XREDRIVE


@command(
    "XREDRIVE",
    arity=-2,
    flags=Flags.WRITE | Flags.DENYOOM | Flags.READS_OTHERS,
    group="stream",
    since="0.1.0",
    complexity="O(N) with N being the number of dead letters that are looked at.",
    keys=KeyRange(RW | DELETE),
)
def xredrive(call: Call) -> Reply:
    """Sends dead letters back to the streams they come from, as new entries; returns how many.

    XREDRIVE dead-letters [COUNT count] [id [id ...]]

    Without ids the oldest ones, 100 at most or *count*. What is no dead letter stays where it is.
    So does one of a group that, as it is now, does not send its dead letters here: who may add
    entries here must not choose where they go. 10,000 of those that stay are passed over.
    """
    argv, key = call.argv, call.argv[1]
    args = Args(argv, 2)
    most = AT_ONCE
    if args.left() > 1 and args.skip(b"COUNT"):
        most = args.take_positive(COUNT_NOT_POSITIVE)
    ids = stream_args.entry_ids(argv, args.at)
    dead = call.db.find(key, Stream)
    if dead is None:
        return 0
    letters = _named(call, key, dead, ids) if ids else _oldest(call, key, dead, most)
    if not all(call.client.user.may_write(origin) for _, _, origin, _ in letters):
        raise NO_RIGHT
    sent = 0
    for entry_id, fields, origin, target in letters:
        if target.is_full():
            continue
        _add(call, origin, target, fields)
        dead.delete(entry_id)
        call.server.agenda.entries_gone(call.db, key, [entry_id])
        call.db.changed(key, b"xdel", changes=1, log=(b"XDEL", key, entry_id.encode()))
        sent += 1
    return sent


def _named(call: Call, key: bytes, dead: Stream, ids: list[StreamId]) -> list[Letter]:
    """Those of *ids* that go back."""
    found = []
    for entry_id in dict.fromkeys(ids):
        entry = dead.range(entry_id, entry_id)
        if entry.next():
            found.append(_way_back(call, key, entry_id, entry.read_fields()))
    return [letter for letter in found if letter is not None]


def _oldest(call: Call, key: bytes, dead: Stream, most: int) -> list[Letter]:
    """The first *most* that go back; those before them that stay hold up no others."""
    found: list[Letter] = []
    entry = dead.range()
    left = most + MOST_THAT_STAY
    while len(found) < most and left and entry.next():
        left -= 1
        letter = _way_back(call, key, entry.id, entry.read_fields())
        if letter is not None:
            found.append(letter)
    return found


def _way_back(call: Call, key: bytes, entry_id: StreamId, fields: list[bytes]) -> Letter | None:
    """A dead letter of the stream at *key*, and where it goes; None if it stays."""
    end, origin, name = _origin(fields)
    policy = policy_of(call, origin, name) if end else None
    if policy is None or policy.dead_letter != key:
        return None
    target = call.db.find(origin, Stream)
    if target is None or target.is_full():
        return None
    return entry_id, fields[:end], origin, target


def _origin(fields: list[bytes]) -> tuple[int, bytes, bytes]:
    """Where those of the origin begin, its stream and group; 0 and empty for no dead letter."""
    for names in (FIELDS, OLDER_FIELDS):
        start = len(fields) - 2 * len(names)
        if start > 0 and tuple(fields[start::2]) == names:
            return start, fields[start + 1], fields[start + 5]
    return 0, b"", b""
