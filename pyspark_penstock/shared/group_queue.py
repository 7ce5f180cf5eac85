"""The entries of a stream that a consumer group has still to deliver."""

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
from pyspark_penstock.read.position_group import place
from pyspark_penstock.read.positions import Position
from pyspark_penstock.read.starting_position import head_of


@dataclass(frozen=True)
class GroupQueue:
    """*backlog* entries were never delivered, *pending* ones were delivered and not acknowledged.

    *lost* entries were removed before they were delivered, directly after the last delivered one.
    """

    backlog: int
    pending: int
    lost: int = 0


def queue_of(
    client: redis.Redis, stream: str, group: str, known: bool, upto: Position | None
) -> GroupQueue | None:
    """What the group has to deliver up to *upto*, or to the end; None if there is no stream.

    The group is created at the beginning of a stream that has appeared. Raises CheckpointError if
    the stream is *known*, and the group is gone: nobody knows then what was read.
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
    """Create a group at *position*, unless another client has just created it."""
    try:
        ask(client, "XGROUP", "CREATE", key(stream), key(group), *place(position))
    except redis.ResponseError as refused:
        if not str(refused).startswith("BUSYGROUP"):
            raise


def group_of(client: redis.Redis, stream: str, group: str) -> GroupState | None:
    """The group of a stream, which must exist; None if it has no such group."""
    return next((g for g in group_states(client, stream) if g.name == group), None)


def backlog(state: StreamState, group: GroupState, upto: Position) -> int:
    """How many entries wait up to a position.

    If entries were deleted, the server may not know how many the group has read. Then the answer is
    the most that can wait, and at least 1 if the group is not at the end.
    """
    if group.last_delivered >= min(upto.id, state.last_id):
        return 0
    if group.entries_read is None:
        return max(1, state.length)
    return max(1, upto.n - group.entries_read)


def lost(state: StreamState, group: GroupState) -> int:
    """How many entries were removed directly after the group's last delivered one.

    Once the group has passed the gap, this is 0.
    """
    if group.entries_read is None or group.last_delivered >= (state.first_entry or state.last_id):
        return 0
    return max(0, state.removed - group.entries_read)
