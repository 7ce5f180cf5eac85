"""How far a consumer group has come: its read counter and its lag, computed as Redis does.

A stream counts the entries that were ever added; a group counts those of them up to its last_id.
The difference is the lag. A group that was set to an id in the middle of the stream does not know
its counter, and an entry that XDEL removed ahead of the group makes the difference wrong. So there
are two sources, of which the first valid one is used: the group's own counter, and the number of an
id at either end of the stream. Without either, the lag is unknown; but it can be counted.
"""

from __future__ import annotations

from storage.stream import stream_id
from storage.stream.consumer_group import UNKNOWN, ConsumerGroup
from storage.stream.stream import Stream
from storage.stream.stream_id import ZERO, StreamId

_UNKNOWN = UNKNOWN  # as a C number


def lag(stream: Stream, group: ConsumerGroup) -> int | None:
    """How many entries the group has still to read; None if that cannot be known. O(1)."""
    if stream.entries_added == 0 or stream.length == 0:
        return 0
    if group.last_id < stream.first_id and stream.max_deleted_id < stream.first_id:
        return stream.length
    if group.entries_read != _UNKNOWN and not has_tombstone_after(stream, group.last_id):
        return stream.entries_added - group.entries_read
    number = number_of(stream, group.last_id)
    return None if number == _UNKNOWN else stream.entries_added - number


def counted_lag(stream: Stream, group: ConsumerGroup) -> int:
    """As lag(), but where that is unknown, the entries are counted. O(log N + E) then."""
    known = lag(stream, group)
    if known is not None:
        return known
    if stream_id.compare(group.last_id, stream.last_id) >= 0:
        return 0
    return stream.count(group.last_id.next(), stream.last_id)


def move_on(stream: Stream, group: ConsumerGroup, entry_id: StreamId) -> None:
    """Advance last_id and the counter: *entry_id*, the next entry, is delivered. O(1).

    The counter goes no further than entries were added: a client may have set it too far, and what
    replicas are told of it is limited as what clients say. (Redis's lag is negative then.)
    """
    if (
        group.entries_read != _UNKNOWN
        and stream_id.compare(group.last_id, stream.first_id) >= 0
        and not has_tombstone_after(stream, group.last_id)
    ):
        if group.entries_read < stream.entries_added:
            group.entries_read += 1
    elif stream.entries_added:
        group.entries_read = number_of(stream, entry_id)
    group.move_to(entry_id)


def move_past(
    stream: Stream, group: ConsumerGroup, first: StreamId, last: StreamId, entries: int
) -> None:
    """As move_on() for each of the next *entries* entries, which are from *first* to *last*. O(1).

    After the first one either each counts one more, or the counter is unknown up to the last one.
    """
    move_on(stream, group, first)
    if entries > 1:
        if group.entries_read != _UNKNOWN and not has_tombstone_after(stream, group.last_id):
            group.entries_read += max(
                0, min(entries - 1, stream.entries_added - group.entries_read)
            )
        elif stream.entries_added:
            group.entries_read = number_of(stream, last)
        group.move_to(last)


def has_tombstone_after(stream: Stream, entry_id: StreamId) -> bool:
    """Whether an entry at or after *entry_id*, before a living one, may have been deleted by id."""
    last_deleted = stream.max_deleted_id
    if stream.length == 0 or last_deleted is ZERO:
        return False
    if stream_id.compare(stream.first_id, last_deleted) > 0:
        return False
    return stream_id.compare(entry_id, last_deleted) <= 0


def number_of(stream: Stream, entry_id: StreamId) -> int:
    """How many entries were ever added up to *entry_id*, or UNKNOWN."""
    added, first_id = stream.entries_added, stream.first_id
    if added == 0:
        return 0
    if stream.length == 0 and entry_id <= stream.last_id:
        return added
    if entry_id != ZERO and entry_id < stream.max_deleted_id:
        return _UNKNOWN
    if entry_id >= stream.last_id:
        return added if entry_id == stream.last_id else _UNKNOWN
    if stream.max_deleted_id == ZERO or stream.max_deleted_id < first_id:
        if entry_id < first_id:
            return added - stream.length
        if entry_id == first_id:
            return added - stream.length + 1
    return _UNKNOWN
