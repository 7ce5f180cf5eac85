"""XREDRIVE: dead letters go back to the streams they come from."""

from __future__ import annotations

from typing import TypeAlias

from protocol.replies import ErrorReply, Reply
from server.commands.shared import side_rights
from server.commands.streams import stream_args
from server.commands.streams.groups import dead_letters, group_steps
from server.commands.streams.groups.dead_letters import FIELDS
from server.dispatch.call import Call
from server.table.args import Args
from server.table.command import Flags, command
from server.table.keys import ACCESS, DELETE, RW, KeyRange
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId

FIRST_MS = 5  # which of FIELDS was not always there
OLDER_FIELDS = (*FIELDS[:FIRST_MS], *FIELDS[FIRST_MS + 1 :])
AT_ONCE = 100  # dead letters that XREDRIVE sends back, unless it is told how many
MOST_THAT_STAY = 10_000  # it passes so many others; defends clients against one that looks at all

# What goes back: its id, its own fields, and the stream where it comes from, by name.
Letter: TypeAlias = tuple[StreamId, list[bytes], bytes, Stream]

COUNT_NOT_POSITIVE = ErrorReply("ERR", "COUNT must be > 0")


@command(
    "XREDRIVE",
    arity=-2,
    flags=Flags.WRITE | Flags.DENYOOM | Flags.READS_OTHERS,
    group="stream",
    since="0.1.0",
    complexity="O(N) with N being the number of dead letters that are looked at.",
    keys=KeyRange(RW | ACCESS | DELETE),
    types={"dead-letters": "key"},
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
    side_rights.check_written(call, {origin for _, _, origin, _ in letters})
    sent = 0
    for entry_id, fields, origin, target in letters:
        if target.is_full():
            continue
        dead_letters.put(call, origin, target, fields)
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
    policy = group_steps.policy_of(call, origin, name) if end else None
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
