"""The side data of a key: what belongs to it and to its groups, and the record of all that."""

from __future__ import annotations

import pytest

from storage import allocation
from storage.errors import Corrupt
from storage.rdb.writer import RdbWriter
from storage.side_data import kinds
from storage.side_data.group_policy import GROUP_POLICY, GroupPolicy
from storage.side_data.schedule import SCHEDULE, Schedule, packed
from storage.side_data.side_data import FORM, SideData, side_data_in
from storage.side_data.side_kind import UnknownKind
from storage.side_data.stream_policy import STREAM_POLICY, StreamPolicy
from tests.used_memory import used_at_start


def group_policy(visibility_ms: int, dead_letter: bytes = b"") -> GroupPolicy:
    policy = GroupPolicy()
    policy.set(b"VISIBILITY", b"%d" % visibility_ms)
    policy.set(b"DEADLETTER", dead_letter)
    return policy


@pytest.fixture
def data() -> SideData:
    """A schedule, a policy of the stream, and policies of two groups."""
    schedule, policy = Schedule(), StreamPolicy()
    schedule.add(1234, packed([b"f", b"v"], 0))
    policy.set(b"RETAIN-AGE", b"7d")
    made = SideData()
    made.set(GROUP_POLICY, group_policy(2, b"dead"), b"two")
    made.set(SCHEDULE, schedule)
    made.set(GROUP_POLICY, group_policy(1), b"one")
    made.set(STREAM_POLICY, policy)
    return made


def test_a_record_holds_all_of_it(data: SideData) -> None:
    loaded = side_data_in(data.record())
    assert len(loaded) == 4
    assert loaded.record() == data.record()
    assert loaded.digest() == data.digest()
    assert loaded.get(GROUP_POLICY, b"two").dead_letter == b"dead"
    assert loaded.written_keys() == [b"dead"]


def test_equal_side_data_have_equal_records_in_whatever_order_they_were_set() -> None:
    first, second = SideData(), SideData()
    for group in (b"a", b"b"):
        first.set(GROUP_POLICY, group_policy(1), group)
    for group in (b"b", b"a"):
        second.set(GROUP_POLICY, group_policy(1), group)
    assert first.record() == second.record()


def test_what_was_asked_for_last_is_not_remembered_beyond_a_change(data: SideData) -> None:
    assert data.get(GROUP_POLICY, b"one").visibility_ms == 1
    assert data.get(GROUP_POLICY, b"two").visibility_ms == 2
    assert data.get(GROUP_POLICY, b"none") is None
    data.set(GROUP_POLICY, group_policy(3), b"none")
    assert data.get(GROUP_POLICY, b"none").visibility_ms == 3
    assert data.get(STREAM_POLICY) is not None
    assert data.discard(STREAM_POLICY)
    assert data.get(STREAM_POLICY) is None
    assert not data.discard(STREAM_POLICY)


def test_all_that_is_of_a_group_goes_with_it(data: SideData) -> None:
    assert data.get(GROUP_POLICY, b"one") is not None
    data.group_gone(b"one")
    assert data.get(GROUP_POLICY, b"one") is None
    assert [group for group, _ in data.of_kind(GROUP_POLICY)] == [b"two"]
    assert data.get(SCHEDULE) is not None


def test_a_copy_shares_nothing_that_can_change(data: SideData) -> None:
    copy = data.copy()
    assert copy.record() == data.record()
    copy.get(SCHEDULE).add(99, packed([b"f", b"w"], 0))
    copy.get(GROUP_POLICY, b"one").set(b"VISIBILITY", b"9")
    assert data.get(GROUP_POLICY, b"one").visibility_ms == 1
    assert len(data.get(SCHEDULE)) == 1


def test_the_commands_name_each_of_them(data: SideData) -> None:
    commands = [[bytes(word) for word in words[:2]] for words in data.commands(b"s")]
    assert commands == [
        [b"XGROUP", b"CFGSET"], [b"XGROUP", b"CFGSET"], [b"XADD", b"s"], [b"XCFGSET", b"s"],
    ]  # fmt: skip


def test_a_kind_of_a_later_version_is_kept_as_it_is() -> None:
    later = UnknownKind(b"of-later")
    data = SideData()
    data.set(later, b"\x00\xff", b"g")
    loaded = side_data_in(data.record())
    assert loaded.get(kinds.named(b"of-later"), b"g") == b"\x00\xff"
    assert loaded.copy().record() == data.record()
    assert list(loaded.commands(b"s")) == []


def test_a_record_that_is_cut_or_longer_is_corrupt(data: SideData) -> None:
    record = data.record()
    for end in range(len(record)):
        with pytest.raises(Corrupt):
            side_data_in(record[:end])
    with pytest.raises(Corrupt):
        side_data_in(record + b"x")
    with pytest.raises(Corrupt):
        side_data_in(bytes([FORM + 1]) + record[1:])


def test_the_same_twice_is_corrupt() -> None:
    writer = RdbWriter(compress=False)
    writer.byte(FORM)
    writer.length(2)
    for _ in range(2):
        writer.string(GROUP_POLICY.name)
        writer.byte(1)
        writer.string(b"g")
        writer.string(GROUP_POLICY.dump(group_policy(1)))
    with pytest.raises(Corrupt, match="twice"):
        side_data_in(writer.take())


def test_what_a_client_may_make_large_is_counted() -> None:
    """Once, neither names nor what a later version has saved were in used_memory."""
    before = used_at_start()
    data = SideData()
    data.set(UnknownKind(b"of-a-later-version"), bytes(100_000))
    data.set(GROUP_POLICY, group_policy(1, bytes(50_000)), b"group")
    assert allocation.used_bytes() - before >= 150_000
    data.set(UnknownKind(b"of-a-later-version"), bytes(10_000))
    data.group_gone(b"group")
    assert 10_000 <= allocation.used_bytes() - before < 11_000
    copy = data.copy()
    assert allocation.used_bytes() - before >= 20_000
    assert copy.discard(UnknownKind(b"of-a-later-version"))
    del data
    assert allocation.used_bytes() == before


@pytest.mark.parametrize(
    ("policy", "word"), [(GroupPolicy(), b"ORDERBY"), (StreamPolicy(), b"COMPACT")]
)
def test_a_field_has_a_name_of_1024_bytes_at_most(
    policy: GroupPolicy | StreamPolicy, word: bytes
) -> None:
    assert policy.set(word, bytes(1024))
    assert not policy.set(word, bytes(1025))
