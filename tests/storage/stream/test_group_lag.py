"""The read counter and the lag of a group, case by case as redis reckons them."""

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
    """Give the group its next *count* entries."""
    entry = stream.range(group.last_id.next())
    for _ in range(count):
        assert entry.next()
        group_lag.move_on(stream, group, entry.id)


def test_nothing_was_ever_added() -> None:
    stream = Stream()
    assert group_lag.lag(stream, stream.create_group(b"g", ZERO)) == 0


def test_everything_is_gone() -> None:
    stream = stream_of(5)
    group = stream.create_group(b"g", sid(2))
    stream.trim_by_length(0)
    assert group_lag.lag(stream, group) == 0


def test_a_group_before_the_first_entry_has_all_to_read() -> None:
    stream = stream_of(5)
    assert group_lag.lag(stream, stream.create_group(b"g", ZERO)) == 5
    stream.trim_by_length(3)
    assert group_lag.lag(stream, stream.create_group(b"h", ZERO)) == 3


def test_a_group_at_the_first_or_the_last_entry_can_be_reckoned() -> None:
    stream = stream_of(5)
    assert group_lag.lag(stream, stream.create_group(b"first", sid(1))) == 4
    assert group_lag.lag(stream, stream.create_group(b"last", sid(5))) == 0


def test_a_group_set_inside_the_stream_cannot() -> None:
    stream = stream_of(5)
    assert group_lag.lag(stream, stream.create_group(b"g", sid(3))) is None
    assert group_lag.lag(stream, stream.create_group(b"h", MAX)) is None


def test_a_group_told_its_counter_can() -> None:
    stream = stream_of(5)
    assert group_lag.lag(stream, stream.create_group(b"g", sid(3), 3)) == 2


def test_a_group_told_too_much_is_ahead_of_the_stream() -> None:
    stream = stream_of(5)
    assert group_lag.lag(stream, stream.create_group(b"g", sid(3), 2**63 - 1)) == 5 - (2**63 - 1)


def test_a_counter_stays_at_its_greatest() -> None:
    stream = stream_of(5)
    group = stream.create_group(b"g", sid(2), 2**63 - 2)
    read(stream, group, 2)
    assert group.entries_read == 2**63 - 1


def test_reading_counts() -> None:
    stream = stream_of(5)
    group = stream.create_group(b"g", ZERO)
    read(stream, group, 3)
    assert (group.entries_read, group.last_id, group_lag.lag(stream, group)) == (3, sid(3), 2)


def test_a_group_set_inside_knows_again_at_the_end() -> None:
    stream = stream_of(5)
    group = stream.create_group(b"g", sid(2))
    read(stream, group, 1)
    assert (group.entries_read, group_lag.lag(stream, group)) == (UNKNOWN, None)
    read(stream, group, 2)
    assert (group.entries_read, group_lag.lag(stream, group)) == (5, 0)


def test_an_entry_deleted_ahead_spoils_the_lag_until_it_is_passed() -> None:
    stream = stream_of(6)
    group = stream.create_group(b"g", ZERO)
    read(stream, group, 2)
    stream.delete(sid(4))
    assert group_lag.lag(stream, group) is None
    read(stream, group, 2)
    assert (group.last_id, group.entries_read) == (sid(5), UNKNOWN)
    read(stream, group, 1)
    assert (group.entries_read, group_lag.lag(stream, group)) == (6, 0)


def test_an_entry_deleted_behind_does_not() -> None:
    stream = stream_of(6)
    group = stream.create_group(b"g", ZERO)
    read(stream, group, 4)
    stream.delete(sid(2))
    assert group_lag.lag(stream, group) == 2


def test_a_deleted_entry_before_the_first_living_one_does_no_harm() -> None:
    stream = stream_of(6)
    group = stream.create_group(b"g", ZERO)
    stream.delete(sid(1))
    assert group_lag.lag(stream, group) == 5
    read(stream, group, 1)
    assert (group.entries_read, group_lag.lag(stream, group)) == (2, 4)


def test_entries_trimmed_unread_are_counted_as_passed() -> None:
    stream = stream_of(10)
    group = stream.create_group(b"g", ZERO)
    read(stream, group, 2)
    stream.trim_by_length(4)
    assert group_lag.lag(stream, group) == 4
    read(stream, group, 1)
    assert (group.entries_read, group_lag.lag(stream, group)) == (7, 3)


class TestNumberOf:
    def test_in_a_stream_that_never_had_any(self) -> None:
        assert group_lag.number_of(Stream(), sid(5)) == 0

    def test_in_an_emptied_stream(self) -> None:
        stream = stream_of(5)
        stream.trim_by_length(0)
        assert group_lag.number_of(stream, sid(3)) == 5
        assert group_lag.number_of(stream, sid(6)) == UNKNOWN

    def test_at_the_ends(self) -> None:
        stream = stream_of(9)
        stream.trim_by_length(5)
        numbers = {ms: group_lag.number_of(stream, sid(ms)) for ms in (0, 4, 5, 6, 9, 10)}
        assert numbers == {0: 4, 4: 4, 5: 5, 6: UNKNOWN, 9: 9, 10: UNKNOWN}

    def test_before_a_deleted_entry(self) -> None:
        stream = stream_of(9)
        stream.delete(sid(5))
        numbers = {ms: group_lag.number_of(stream, sid(ms)) for ms in (0, 1, 5, 9)}
        assert numbers == {0: UNKNOWN, 1: UNKNOWN, 5: UNKNOWN, 9: 9}
