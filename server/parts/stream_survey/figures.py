"""The figures of one stream and of its groups, as XINFO STREAMS and metrics show them.

    StreamFigures    length, bytes, ...    lag and oldest_pending_ms: the largest of its groups
      GroupFigures   one for each group    pending, redelivered, ...: the sums are the stream's

None stands for what cannot be known, and for what there is none of; it is never shown as 0. Here is
no clock: who asks says what time it is. To look at a stream is O(1) for each of its groups,
whatever is in it.
"""

from __future__ import annotations

from typing import NamedTuple

from storage import octets
from storage.side_data.group_policy import GROUP_POLICY, GroupPolicy
from storage.side_data.schedule import SCHEDULE
from storage.side_data.side_data import SideData
from storage.stream import group_lag
from storage.stream.consumer_group import UNKNOWN, ConsumerGroup
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId


class GroupFigures(NamedTuple):
    """One consumer group.

    *oldest_pending_ms* is how long ago the oldest delivery was that is not acknowledged: what was
    released since, and waits for its next delivery, is not counted. *redelivered* and
    *dead_lettered* are counted since the server has started or loaded the group.
    """

    name: bytes
    consumers: int
    pending: int
    lag: int | None
    last_id: StreamId
    entries_read: int | None
    oldest_pending_ms: int | None
    redelivered: int
    dead_lettered: int
    policy: GroupPolicy | None


class StreamFigures(NamedTuple):
    """One stream. *lag* is None, too, if that of any of its groups cannot be known.

    *bytes* are those of the nodes of its entries, *scheduled* the entries that are added later.
    """

    length: int
    bytes: int
    entries_added: int
    last_id: StreamId
    consumers: int
    pending: int
    lag: int | None
    oldest_pending_ms: int | None
    redelivered: int
    dead_lettered: int
    scheduled: int
    groups: list[GroupFigures]


def figures_of(stream: Stream, side: SideData | None, now_ms: int) -> StreamFigures:
    """The figures of *stream*, which has that side data, at *now_ms* (unix time)."""
    schedule = None if side is None else side.get(SCHEDULE)
    consumers = pending = redelivered = dead_lettered = 0
    lags: list[int | None] = []
    oldest: int | None = None
    groups = []
    for name, group in stream.sorted_groups():
        policy: GroupPolicy | None = None if side is None else side.get(GROUP_POLICY, name)
        row = group_figures(stream, name, group, policy, now_ms)
        groups.append(row)
        consumers += row.consumers
        pending += row.pending
        redelivered += row.redelivered
        dead_lettered += row.dead_lettered
        lags.append(row.lag)
        age_ms = row.oldest_pending_ms
        if age_ms is not None and (oldest is None or age_ms > oldest):
            oldest = age_ms
    return StreamFigures(
        stream.length,
        stream.node_bytes(),
        stream.entries_added,
        stream.last_id,
        consumers,
        pending,
        _largest(lags),
        oldest,
        redelivered,
        dead_lettered,
        0 if schedule is None else len(schedule),
        groups,
    )


def group_figures(
    stream: Stream, name: bytes, group: ConsumerGroup, policy: GroupPolicy | None, now_ms: int
) -> GroupFigures:
    """The figures of one group of *stream*. O(1)."""
    oldest = group.by_time.first_owned()
    return GroupFigures(
        name,
        len(group.consumers),
        len(group.pel),
        group_lag.lag(stream, group),
        group.last_id,
        None if group.entries_read == UNKNOWN else group.entries_read,
        None if oldest is None else max(0, octets.since(oldest.delivery_time, now_ms)),
        group.by_time.redeliveries,
        group.dead_lettered,
        policy,
    )


def _largest(lags: list[int | None]) -> int | None:
    known = [lag for lag in lags if lag is not None]
    return max(known) if known and len(known) == len(lags) else None
