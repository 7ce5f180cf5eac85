"""ConsumerGroup: its three indexes of pending entries always agree."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from server.commands.streams.groups.stream_releases import LATEST
from storage import allocation
from storage.errors import Corrupt
from storage.stream import rewrite
from storage.stream.consumer_group import NEVER, UNKNOWN, Consumer, ConsumerGroup
from storage.stream.pending import MAX_COUNT, PARKED, id_of
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, ZERO, StreamId
from tests.used_memory import used_at_start
from tests.worth import PLAIN


def sid(ms: int) -> StreamId:
    return StreamId(ms, 0)


@pytest.fixture
def group() -> ConsumerGroup:
    """Alice got 1-0 at time 100 and 3-0 at 300; bob got 2-0 at 200."""
    made = ConsumerGroup(sid(3))
    alice = made.create_consumer(b"alice", 10)
    bob = made.create_consumer(b"bob", 20)
    made.deliver(sid(1), alice, 100)
    made.deliver(sid(2), bob, 200)
    made.deliver(sid(3), alice, 300)
    return made


def pending_of(group: ConsumerGroup) -> dict[int, tuple[bytes | None, int, int]]:
    """(owner, delivery time, delivery count) by ms, after a check that the indexes agree."""
    found = {}
    for key, pending in group.pel:
        assert key == id_of(pending).key()
        owner = group.owner(pending)
        if owner is not None:
            assert owner.pel.find(key) is pending
        name = None if owner is None else owner.name
        found[pending.ms] = (name, pending.delivery_time, pending.delivery_count)
    queued = list(group.by_time)
    assert sorted(pending.ms for pending in queued) == sorted(found)
    times = [pending.delivery_time for pending in queued]
    assert times == sorted(times)
    owned = sum(len(consumer.pel) for consumer in group.consumers.values())
    assert owned == sum(name is not None for name, _, _ in found.values())
    return found


def consumer(group: ConsumerGroup, name: bytes) -> Consumer:
    found = group.find_consumer(name)
    assert found is not None
    return found


def test_a_new_group_has_a_last_id_and_nothing_pending() -> None:
    group = ConsumerGroup(sid(5))
    assert (group.last_id, group.entries_read, len(group.pel)) == (sid(5), UNKNOWN, 0)
    assert (group.first_pending(), group.last_pending(), group.oldest()) == (None, None, None)


def test_a_new_consumer_was_seen_but_never_active(group: ConsumerGroup) -> None:
    carol = group.create_consumer(b"carol", 77)
    assert (carol.name, carol.seen_time, carol.active_time, len(carol.pel)) == (
        b"carol", 77, NEVER, 0,
    )  # fmt: skip
    assert group.find_consumer(b"carol") is carol
    assert group.find_consumer(b"dave") is None


def test_consumers_are_listed_by_name(group: ConsumerGroup) -> None:
    group.create_consumer(b"Zoe", 1)
    assert [member.name for member in group.sorted_consumers()] == [b"Zoe", b"alice", b"bob"]


def test_deliveries_are_counted_from_one(group: ConsumerGroup) -> None:
    assert pending_of(group) == {
        1: (b"alice", 100, 1),
        2: (b"bob", 200, 1),
        3: (b"alice", 300, 1),
    }


def test_an_entry_delivered_anew_changes_owner_and_counts_from_one(group: ConsumerGroup) -> None:
    first = group.find(sid(1))
    assert first is not None
    group.deliver_again(first, 150)
    group.deliver(sid(1), consumer(group, b"bob"), 400)
    group.deliver(sid(3), consumer(group, b"alice"), 400)
    assert pending_of(group) == {
        1: (b"bob", 400, 1),
        2: (b"bob", 200, 1),
        3: (b"alice", 400, 1),
    }


def test_deliver_again_updates_count_and_time(group: ConsumerGroup) -> None:
    oldest = group.oldest()
    assert oldest is not None
    group.deliver_again(oldest, 500)
    assert pending_of(group)[1] == (b"alice", 500, 2)
    assert [pending.ms for pending in group.by_time] == [2, 3, 1]


def test_the_queue_stays_in_order_when_the_clock_goes_back(group: ConsumerGroup) -> None:
    group.deliver(sid(4), consumer(group, b"bob"), 150)
    assert [pending.ms for pending in group.by_time] == [1, 4, 2, 3]


def test_an_entry_is_acked_once(group: ConsumerGroup) -> None:
    assert group.ack(sid(2))
    assert not group.ack(sid(2))
    assert not group.ack(sid(9))
    assert sorted(pending_of(group)) == [1, 3]
    assert len(consumer(group, b"bob").pel) == 0


def test_a_claim_changes_owner_and_time_but_not_the_count(group: ConsumerGroup) -> None:
    pending = group.find(sid(3))
    assert pending is not None
    group.claim(pending, consumer(group, b"bob"), 150)
    assert pending_of(group)[3] == (b"bob", 150, 1)
    assert [entry.ms for entry in group.by_time] == [1, 3, 2]


def test_a_claim_by_the_owner_changes_the_time_only(group: ConsumerGroup) -> None:
    pending = group.find(sid(1))
    assert pending is not None
    group.claim(pending, consumer(group, b"alice"), 999)
    assert pending_of(group)[1] == (b"alice", 999, 1)


def test_a_forced_entry_has_no_owner_until_it_is_claimed(group: ConsumerGroup) -> None:
    pending = group.force(sid(9), 250)
    assert pending_of(group)[9] == (None, 250, 1)
    group.claim(pending, consumer(group, b"bob"), 260)
    assert pending_of(group)[9] == (b"bob", 260, 1)


def test_a_forced_entry_can_be_acked(group: ConsumerGroup) -> None:
    group.force(sid(9), 250)
    assert group.ack(sid(9))
    assert sorted(pending_of(group)) == [1, 2, 3]


def test_deleting_a_consumer_removes_its_pending_entries(group: ConsumerGroup) -> None:
    assert group.delete_consumer(b"alice") == 2
    assert group.delete_consumer(b"alice") is None
    assert pending_of(group) == {2: (b"bob", 200, 1)}
    assert list(group.consumers) == [b"bob"]


def test_a_new_consumer_does_not_inherit_from_a_deleted_one(group: ConsumerGroup) -> None:
    group.delete_consumer(b"alice")
    carol = group.create_consumer(b"carol", 1)
    assert len(carol.pel) == 0
    group.deliver(sid(8), carol, 800)
    assert pending_of(group) == {2: (b"bob", 200, 1), 8: (b"carol", 800, 1)}


def test_first_pending_and_last_pending_go_by_id(group: ConsumerGroup) -> None:
    first, last = group.first_pending(), group.last_pending()
    assert first is not None
    assert last is not None
    assert (first.ms, last.ms) == (1, 3)


@pytest.mark.parametrize(
    ("start", "end", "count", "name", "min_idle", "expected"),
    [
        (ZERO, MAX, 10, None, 0, [1, 2, 3]),
        (ZERO, MAX, 2, None, 0, [1, 2]),
        (ZERO, MAX, 0, None, 0, []),
        (sid(2), sid(2), 10, None, 0, [2]),
        (sid(2), MAX, 10, b"alice", 0, [3]),
        (ZERO, MAX, 10, None, 800, [1, 2]),
        (ZERO, MAX, 1, b"alice", 800, [1]),
        (sid(3), sid(1), 10, None, 0, []),
    ],
)
def test_pending_range_filters_by_id_count_consumer_and_idle_time(
    group: ConsumerGroup,
    start: StreamId,
    end: StreamId,
    count: int,
    name: bytes | None,
    min_idle: int,
    expected: list[int],
) -> None:
    member = None if name is None else consumer(group, name)
    found = group.pending_range(start, end, count, member, min_idle, 1000)
    assert [pending.ms for pending in found] == expected


@pytest.mark.parametrize("few", [1, 2, 1000])
def test_idle_entries_are_the_same_whether_found_by_time_or_by_id(
    monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr("storage.stream.consumer_group.FEW", few)
    group = ConsumerGroup(sid(9))
    alice, bob = group.create_consumer(b"alice", 1), group.create_consumer(b"bob", 1)
    for ms, at, owner in ((3, 100, alice), (1, 150, bob), (4, 200, alice), (2, 900, alice)):
        group.deliver(sid(ms), owner, at)
    found = group.pending_range(ZERO, MAX, 10, None, 800, 1000)
    assert [pending.ms for pending in found] == [1, 3, 4]
    found = group.pending_range(sid(2), MAX, 1, alice, 800, 1000)
    assert [pending.ms for pending in found] == [3]


def test_the_walks_by_time_and_by_id_go_on_until_one_of_them_is_over() -> None:
    group = ConsumerGroup(sid(9))
    alice, bob = group.create_consumer(b"alice", 1), group.create_consumer(b"bob", 1)
    for ms in range(1, 6001):
        group.deliver(sid(ms), bob if ms in (1, 4000, 5999) else alice, ms)
    now = 10_000
    assert [p.ms for p in group.pending_range(ZERO, MAX, 3, None, 5000, now)] == [1, 2, 3]
    assert [p.ms for p in group.pending_range(sid(3999), MAX, 9, bob, 3000, now)] == [4000, 5999]
    found = group.pending_range(sid(4998), MAX, 9999, None, 5000, now)
    assert [p.ms for p in found] == [4998, 4999, 5000]
    assert group.pending_range(ZERO, MAX, 9, None, 10_000, now) == []
    assert len(group.pending_range(ZERO, MAX, 9999, alice, 4000, now)) == 5997
    assert len(group.pending_range(ZERO, MAX, 9999, None, 1, now)) == 6000


def test_an_entry_claimed_for_a_time_before_1970_is_as_idle_as_in_redis() -> None:
    """The idle time wraps around, so that it is not the oldest that is idle longest."""
    group = ConsumerGroup(sid(9))
    alice = group.create_consumer(b"alice", 1)
    group.claim(group.deliver(sid(1), alice, 5), alice, -(2**63))
    group.deliver(sid(2), alice, 100)
    found = group.pending_range(ZERO, MAX, 10, None, 800, 1000)
    assert [pending.ms for pending in found] == [2]


def test_consumers_are_listed_by_name_also_when_others_have_come() -> None:
    group = ConsumerGroup(sid(9))
    for names in ([b"c", b"a"], [b"b"]):
        for name in names:
            group.create_consumer(name, 1)
        assert [member.name for member in group.sorted_consumers()] == sorted(group.consumers)
    group.delete_consumer(b"a")
    assert [member.name for member in group.sorted_consumers()] == [b"b", b"c"]
    assert all(group.owner(group.deliver(sid(1), c, 1)) is c for c in group.consumers.values())


def test_entries_can_be_restored_in_any_order_of_time() -> None:
    group = ConsumerGroup(sid(9))
    alice = group.create_consumer(b"alice", 1)
    for ms, at in ((1, 300), (2, 100), (3, 200)):
        group.restore(sid(ms), at, ms)
        group.assign(sid(ms), alice)
    group.settle()
    assert pending_of(group) == {
        1: (b"alice", 300, 1),
        2: (b"alice", 100, 2),
        3: (b"alice", 200, 3),
    }
    assert [pending.ms for pending in group.by_time] == [2, 3, 1]


def test_a_restored_count_beyond_32_bits_saturates() -> None:
    group = ConsumerGroup(ZERO)
    group.restore(sid(1), 5, 2**63 - 1)
    found = group.find(sid(1))
    assert found is not None
    assert found.delivery_count == MAX_COUNT


class TestCorruptSnapshots:
    def test_an_id_pending_twice_is_refused(self) -> None:
        group = ConsumerGroup(ZERO)
        group.restore(sid(1), 5, 1)
        with pytest.raises(Corrupt):
            group.restore(sid(1), 6, 1)

    def test_a_consumer_s_id_that_the_group_lacks_is_refused(self) -> None:
        group = ConsumerGroup(ZERO)
        with pytest.raises(Corrupt):
            group.assign(sid(1), group.create_consumer(b"a", 1))

    def test_an_entry_of_two_consumers_is_refused(self) -> None:
        group = ConsumerGroup(ZERO)
        group.restore(sid(1), 5, 1)
        group.assign(sid(1), group.create_consumer(b"a", 1))
        with pytest.raises(Corrupt):
            group.assign(sid(1), group.create_consumer(b"b", 1))

    def test_an_entry_without_consumer_is_refused(self) -> None:
        group = ConsumerGroup(ZERO)
        group.restore(sid(1), 5, 1)
        with pytest.raises(Corrupt):
            group.settle()


def test_a_copy_is_equal_and_independent(group: ConsumerGroup) -> None:
    consumer(group, b"bob").active_time = 200
    copy = group.copy()
    assert pending_of(copy) == pending_of(group)
    assert consumer(copy, b"bob").active_time == 200
    assert consumer(copy, b"alice").seen_time == 10
    copy.ack(sid(1))
    copy.delete_consumer(b"bob")
    assert sorted(pending_of(group)) == [1, 2, 3]
    assert [member.name for member in group.sorted_consumers()] == [b"alice", b"bob"]


class TestUnusedGroups:
    """A group makes its indexes with its first consumer or pending entry."""

    @pytest.fixture
    def unused(self) -> Iterator[ConsumerGroup]:
        """A group that has none; another such group must still have none after the test."""
        other = ConsumerGroup(sid(1))
        yield ConsumerGroup(sid(3))
        assert (pending_of(other), other.consumers, other.oldest()) == ({}, {}, None)
        assert (other.find_consumer(b"alice"), other.find(sid(4))) == (None, None)

    def test_answers_all_questions(self, unused: ConsumerGroup) -> None:
        assert (pending_of(unused), unused.consumers, unused.sorted_consumers()) == ({}, {}, [])
        assert unused.pending_range(ZERO, MAX, 10) == []
        assert not unused.ack(sid(1))
        assert unused.delete_consumer(b"alice") is None
        unused.settle()
        assert pending_of(unused.copy()) == {}

    def test_begins_with_a_consumer(self, unused: ConsumerGroup) -> None:
        unused.deliver(sid(4), unused.create_consumer(b"alice", 1), 400)
        assert pending_of(unused) == {4: (b"alice", 400, 1)}

    def test_begins_with_a_forced_entry(self, unused: ConsumerGroup) -> None:
        pending = unused.force(sid(4), 400)
        unused.claim(pending, unused.create_consumer(b"alice", 1), 500)
        assert pending_of(unused) == {4: (b"alice", 500, 1)}

    def test_begins_with_a_restored_entry(self, unused: ConsumerGroup) -> None:
        unused.restore(sid(4), 400, 2)
        unused.assign(sid(4), unused.create_consumer(b"alice", 1))
        unused.settle()
        assert pending_of(unused) == {4: (b"alice", 400, 2)}

    def test_is_small(self) -> None:
        start = used_at_start()
        unused = ConsumerGroup(sid(3))
        assert allocation.used_bytes() - start == 80
        unused.deliver(sid(4), unused.create_consumer(b"alice", 1), 400)
        unused.delete_consumer(b"alice")
        unused.create_consumer(b"bob", 1)
        assert allocation.used_bytes() - start > 464
        del unused
        assert allocation.used_bytes() == start


@pytest.mark.skipif(
    PLAIN or not hasattr(ConsumerGroup, "__pyx_vtable__"),
    reason="plain objects are all known to the collector",
)
def test_the_collector_knows_nothing_of_a_group(group: ConsumerGroup) -> None:
    member = consumer(group, b"alice")
    parts = [group, group.pel, group.by_time, group.oldest(), member, member.pel]
    assert not any(gc.is_tracked(part) for part in parts)


@pytest.mark.parametrize("until", [PARKED + 1, 2**63 - 1])
def test_what_a_file_holds_beyond_the_latest_time_is_rewritten_with_a_time_that_xnack_takes(
    until: int,
) -> None:
    """An AOF that was rewritten from such a snapshot could not be loaded."""
    stream = Stream()
    group = stream.create_group(b"g", StreamId(0, 0))
    group.restore(StreamId(1, 1), until, 3)
    group.settle([StreamId(1, 1)])
    assert [entry.delivery_time for entry in group.by_time.held()] == [PARKED - 1]
    *_, last = rewrite.commands(b"k", stream)
    assert last[-2:] == [b"AT", b"%d" % (PARKED - 1)]
    assert PARKED - 1 <= LATEST
