"""A group's entries-read and lag, which are computed as in Redis."""

from __future__ import annotations

from storage.stream import group_lag
from storage.stream.consumer_group import UNKNOWN, ConsumerGroup
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, ZERO, StreamId


def sid(ms: int) -> StreamId:
    return StreamId(ms, 0)


def stream_of(count: int) -> Stream:
    stream = Stream()
    for ms in range(1, count + 1):
        stream.append(sid(ms), [b"f", b"v"])
    return stream


def read(stream: Stream, group: ConsumerGroup, count: int) -> None:
    """Deliver the next *count* entries to the group."""
    entry = stream.range(group.last_id.next())
    for _ in range(count):
        assert entry.next()
        group_lag.move_on(stream, group, entry.id)


def test_the_lag_in_a_stream_that_never_had_entries_is_zero() -> None:
    stream = Stream()
    assert group_lag.lag(stream, stream.create_group(b"g", ZERO)) == 0


def test_the_lag_in_an_emptied_stream_is_zero() -> None:
    stream = stream_of(5)
    group = stream.create_group(b"g", sid(2))
    stream.trim_by_length(0)
    assert group_lag.lag(stream, group) == 0


def test_the_lag_of_a_group_before_the_first_entry_is_the_length() -> None:
    stream = stream_of(5)
    assert group_lag.lag(stream, stream.create_group(b"g", ZERO)) == 5
    stream.trim_by_length(3)
    assert group_lag.lag(stream, stream.create_group(b"h", ZERO)) == 3


def test_the_lag_of_a_group_at_the_first_or_last_entry_is_known() -> None:
    stream = stream_of(5)
    assert group_lag.lag(stream, stream.create_group(b"first", sid(1))) == 4
    assert group_lag.lag(stream, stream.create_group(b"last", sid(5))) == 0


def test_the_lag_of_a_group_created_inside_the_stream_is_unknown() -> None:
    stream = stream_of(5)
    assert group_lag.lag(stream, stream.create_group(b"g", sid(3))) is None
    assert group_lag.lag(stream, stream.create_group(b"h", MAX)) is None


def test_the_lag_of_a_group_with_entries_read_is_known() -> None:
    stream = stream_of(5)
    assert group_lag.lag(stream, stream.create_group(b"g", sid(3), 3)) == 2


def test_the_lag_is_negative_when_entries_read_exceeds_entries_added() -> None:
    stream = stream_of(5)
    assert group_lag.lag(stream, stream.create_group(b"g", sid(3), 2**63 - 1)) == 5 - (2**63 - 1)


def test_entries_read_that_is_too_great_stays() -> None:
    stream = stream_of(5)
    one, several = (stream.create_group(name, sid(2), 2**63 - 2) for name in (b"a", b"b"))
    read(stream, one, 2)
    group_lag.move_past(stream, several, sid(3), sid(4), 2)
    assert (one.entries_read, several.entries_read) == (2**63 - 2, 2**63 - 2)


def test_reading_updates_entries_read_last_id_and_lag() -> None:
    stream = stream_of(5)
    group = stream.create_group(b"g", ZERO)
    read(stream, group, 3)
    assert (group.entries_read, group.last_id, group_lag.lag(stream, group)) == (3, sid(3), 2)


def test_entries_read_becomes_known_at_the_end_of_the_stream() -> None:
    stream = stream_of(5)
    group = stream.create_group(b"g", sid(2))
    read(stream, group, 1)
    assert (group.entries_read, group_lag.lag(stream, group)) == (UNKNOWN, None)
    read(stream, group, 2)
    assert (group.entries_read, group_lag.lag(stream, group)) == (5, 0)


def test_a_deletion_ahead_makes_the_lag_unknown_until_the_end() -> None:
    stream = stream_of(6)
    group = stream.create_group(b"g", ZERO)
    read(stream, group, 2)
    stream.delete(sid(4))
    assert group_lag.lag(stream, group) is None
    read(stream, group, 2)
    assert (group.last_id, group.entries_read) == (sid(5), UNKNOWN)
    read(stream, group, 1)
    assert (group.entries_read, group_lag.lag(stream, group)) == (6, 0)


def test_a_deletion_behind_the_group_keeps_the_lag_known() -> None:
    stream = stream_of(6)
    group = stream.create_group(b"g", ZERO)
    read(stream, group, 4)
    stream.delete(sid(2))
    assert group_lag.lag(stream, group) == 2


def test_a_deletion_before_the_first_entry_keeps_the_lag_known() -> None:
    stream = stream_of(6)
    group = stream.create_group(b"g", ZERO)
    stream.delete(sid(1))
    assert group_lag.lag(stream, group) == 5
    read(stream, group, 1)
    assert (group.entries_read, group_lag.lag(stream, group)) == (2, 4)


def test_entries_trimmed_unread_count_as_read() -> None:
    stream = stream_of(10)
    group = stream.create_group(b"g", ZERO)
    read(stream, group, 2)
    stream.trim_by_length(4)
    assert group_lag.lag(stream, group) == 4
    read(stream, group, 1)
    assert (group.entries_read, group_lag.lag(stream, group)) == (7, 3)


class TestNumberOf:
    def test_in_a_stream_that_never_had_entries_it_is_zero(self) -> None:
        assert group_lag.number_of(Stream(), sid(5)) == 0

    def test_in_an_emptied_stream_it_is_known_up_to_the_last_id(self) -> None:
        stream = stream_of(5)
        stream.trim_by_length(0)
        assert group_lag.number_of(stream, sid(3)) == 5
        assert group_lag.number_of(stream, sid(6)) == UNKNOWN

    def test_it_is_known_up_to_the_first_entry_and_at_the_last(self) -> None:
        stream = stream_of(9)
        stream.trim_by_length(5)
        numbers = {ms: group_lag.number_of(stream, sid(ms)) for ms in (0, 4, 5, 6, 9, 10)}
        assert numbers == {0: 4, 4: 4, 5: 5, 6: UNKNOWN, 9: 9, 10: UNKNOWN}

    def test_before_a_deleted_entry_it_is_unknown(self) -> None:
        stream = stream_of(9)
        stream.delete(sid(5))
        numbers = {ms: group_lag.number_of(stream, sid(ms)) for ms in (0, 1, 5, 9)}
        assert numbers == {0: UNKNOWN, 1: UNKNOWN, 5: UNKNOWN, 9: 9}


def test_no_more_is_read_than_was_added() -> None:
    """A client may say so of a group in the middle of a stream; a replica would not believe it."""
    stream = stream_of(5)
    one, several = (stream.create_group(name, sid(2), 5) for name in (b"a", b"b"))
    read(stream, one, 2)
    group_lag.move_past(stream, several, sid(3), sid(4), 2)
    assert (one.entries_read, several.entries_read) == (5, 5)
