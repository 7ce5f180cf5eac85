"""Trimming: removes archived entries that nobody on the server needs any more.

    ...  archived  ...            | not archived
    read by all groups | needed   |
    older than --keep         |   |
                       ^ the first entry that stays

The smallest of the three ids counts. A group also needs the entries that are pending.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import redis

from pyspark_penstock.connect.stream_info import ask, group_states, stream_state
from pyspark_penstock.entry_id import FIRST, LAST, EntryId
from pyspark_penstock.names import key
from pyspark_penstock.read.data_loss import check_same_stream
from pyspark_penstock.read.positions import Position


@dataclass(frozen=True)
class Hold:
    """The first entry that has to stay, and why."""

    first_kept: EntryId
    reason: str


@dataclass(frozen=True)
class GroupNeed:
    """What a group still needs: its pending entries, and those not delivered yet."""

    name: str
    last_delivered: EntryId
    oldest_pending: EntryId | None = None

    @property
    def first_needed(self) -> EntryId:
        """The oldest entry that the group may still read."""
        behind = next_id(self.last_delivered)
        return behind if self.oldest_pending is None else min(self.oldest_pending, behind)


@dataclass(frozen=True)
class Trimmed:
    """The result of a trim."""

    stream: str
    removed: int
    hold: Hold


def next_id(entry: EntryId) -> EntryId:
    """The id just above; for the largest id itself."""
    return entry if entry == LAST else EntryId.from_number(entry.number + 1)


def plan_trim(
    archived: EntryId, groups: Iterable[GroupNeed], keep_from_ms: int | None = None
) -> Hold:
    """The first entry that has to stay, if all up to *archived* is archived."""
    holds = [Hold(next_id(archived), "not archived yet")]
    holds += [Hold(group.first_needed, f"group {group.name!r}") for group in groups]
    if keep_from_ms is not None:
        holds.append(Hold(EntryId(max(0, keep_from_ms), 0), "kept for its age"))
    return min(holds, key=lambda hold: hold.first_kept)


def trim(
    client: redis.Redis, stream: str, archived: Position, keep_from_ms: int | None = None
) -> Trimmed:
    """Remove the entries that ``plan_trim`` allows. Groups may read on meanwhile, which is safe.

    A group that is created, or set back, during the trim may miss entries. Raises CheckpointError
    if the stream was made again: its entries may have smaller ids, and are not archived.
    """
    state = stream_state(client, stream)
    if archived.id == FIRST or not state.exists:
        return Trimmed(stream, 0, Hold(FIRST, "nothing archived"))
    check_same_stream(stream, archived, state)
    hold = plan_trim(archived.id, group_needs(client, stream), keep_from_ms)
    removed = ask(client, "XTRIM", key(stream), "MINID", str(hold.first_kept))
    return Trimmed(stream, removed, hold)


def group_needs(client: redis.Redis, stream: str) -> list[GroupNeed]:
    """What the groups of a stream still need."""
    return [
        GroupNeed(group.name, group.last_delivered, oldest_pending(client, stream, group.name))
        for group in group_states(client, stream)
    ]


def oldest_pending(client: redis.Redis, stream: str, group: str) -> EntryId | None:
    """The smallest pending id of a group."""
    summary: Any = client.xpending(key(stream), key(group))
    return EntryId.parse(summary["min"]) if summary["min"] else None
