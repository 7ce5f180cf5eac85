"""What a consumer group has still to give: its state in a stream, seen as a queue."""

from __future__ import annotations

from dataclasses import dataclass

import redis

from pyspark_penstock.connect.stream_info import (
    GroupState,
    StreamState,
    ask,
    group_states,
    stream_state,
)
from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.names import key
from pyspark_penstock.read.offsets import Position
from pyspark_penstock.read.position_group import place
from pyspark_penstock.read.starting_position import head_of


@dataclass(frozen=True)
class GroupQueue:
    """*backlog* entries were given to nobody, *pending* ones to someone who has them still.

    *lost* ones were removed before they were given to anybody, and the gap is what comes next.
    """

    backlog: int
    pending: int
    lost: int = 0


def queue_of(
    client: redis.Redis, stream: str, group: str, known: bool, upto: Position | None
) -> GroupQueue | None:
    """The group's queue up to the position *upto*, else the stream's end; None without a stream.

    A stream that has appeared gets the group, at its beginning. Raises CheckpointError if one that
    is *known* has lost it: what was done already is forgotten then.
    """
    state = stream_state(client, stream)
    if not state.exists:
        return None
    found = group_of(client, stream, group)
    if found is None:
        if known:
            raise CheckpointError(
                f"stream {stream!r} has no group {group!r} any more: one of them was deleted, and "
                "the server cannot tell what was read; XGROUP CREATE says where to go on"
            )
        create_group(client, stream, group, Position(n=state.removed))
        found = group_of(client, stream, group)
    if found is None:
        return None
    waiting = backlog(state, found, upto or head_of(state))
    return GroupQueue(waiting, found.pending, lost(state, found))


def create_group(client: redis.Redis, stream: str, group: str, position: Position) -> None:
    """Make a group at *position* that is read by, unless another has just made it."""
    try:
        ask(client, "XGROUP", "CREATE", key(stream), key(group), *place(position))
    except redis.ResponseError as refused:
        if not str(refused).startswith("BUSYGROUP"):
            raise


def group_of(client: redis.Redis, stream: str, group: str) -> GroupState | None:
    """The group of a stream that exists, if it has it."""
    return next((g for g in group_states(client, stream) if g.name == group), None)


def backlog(state: StreamState, group: GroupState, upto: Position) -> int:
    """How many entries wait up to a position.

    Where entries were deleted the server may not know how many its group has read. Then it is
    as many as there can be, and at least one where the group has not come to the end.
    """
    if group.last_delivered >= min(upto.id, state.last_id):
        return 0
    if group.entries_read is None:
        return max(1, state.length)
    return max(1, upto.n - group.entries_read)


def lost(state: StreamState, group: GroupState) -> int:
    """How many entries were removed unread, where the group stands before a gap.

    When it has passed the gap that is no news any more.
    """
    if group.entries_read is None or group.last_delivered >= (state.first_entry or state.last_id):
        return 0
    return max(0, state.removed - group.entries_read)
