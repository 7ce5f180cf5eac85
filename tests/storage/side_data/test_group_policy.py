"""What a policy of a group says, and its form in files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.errors import Corrupt
from storage.side_data.group_policy import (
    FLAGS,
    GROUP_POLICY,
    MOST,
    MOST_WAITS,
    NUMBERS,
    GroupPolicy,
)
from storage.stream.stream_id import StreamId

NAMES = (b"DEADLETTER", b"ORDERBY", b"ACTIVECONSUMER")
numbers = st.integers(0, MOST).map(b"%d".__mod__)
values = st.one_of(
    st.tuples(st.sampled_from(sorted(set(NUMBERS) - {b"ACTIVE"})), numbers),
    st.tuples(st.just(b"ACTIVE"), st.sampled_from([b"0", b"1"])),
    st.tuples(st.sampled_from(NAMES), st.binary(max_size=9)),
    st.tuples(st.sampled_from(sorted(FLAGS)), st.sampled_from([b"yes", b"NO"])),
    st.tuples(st.just(b"BACKOFF"), st.lists(numbers, min_size=1, max_size=4).map(b" ".join)),
)


def policy_of(*pairs: tuple[bytes, bytes]) -> GroupPolicy:
    policy = GroupPolicy()
    for word, value in pairs:
        assert policy.set(word, value), (word, value)
    return policy


def loaded(data: bytes) -> GroupPolicy:
    policy = GROUP_POLICY.load(data)
    assert isinstance(policy, GroupPolicy)
    return policy


@given(st.lists(values, min_size=1))
def test_a_policy_is_what_its_words_and_its_bytes_say(pairs: list[tuple[bytes, bytes]]) -> None:
    policy = policy_of(*pairs)
    words = policy.words()
    again = policy_of(*zip(words[::2], words[1::2], strict=True))
    assert again.settings() == policy.settings()
    if words:  # a policy of defaults is not saved
        data = GROUP_POLICY.dump(policy)
        assert loaded(data).settings() == policy.settings()
        assert GROUP_POLICY.dump(again) == data
        assert GROUP_POLICY.dump(GROUP_POLICY.copy(policy)) == data


@pytest.mark.parametrize(
    ("word", "value"),
    [
        (b"VISIBILITY", b""),
        (b"VISIBILITY", b"-1"),
        (b"VISIBILITY", b"1.5"),
        (b"VISIBILITY", b"%d" % (MOST + 1)),
        (b"MAXPENDING", b"0" * 17),
        (b"ACTIVE", b"2"),
        (b"BACKOFF", b""),
        (b"BACKOFF", b"1 x"),
        (b"BACKOFF", b"1 " * (MOST_WAITS + 1)),
        (b"PAUSED", b"maybe"),
        (b"FIRST", b"1-1"),
        (b"FIRST", b"1-1 5 1-1 6"),
        (b"FIRST", b"1-1 99999999999999999999"),
        (b"FIRST", b"1-1 %d" % 2**63),
        (b"FIRST", b"1-1 -%d" % (2**63 + 1)),
        (b"FIRST", b"1-1 --5"),
        (b"visibility", b"1"),
        (b"NOSUCHWORD", b"1"),
    ],
)
def test_a_bad_value_is_refused(word: bytes, value: bytes) -> None:
    policy = policy_of((b"VISIBILITY", b"7"))
    assert not policy.set(word, value)
    assert policy.words() == [b"VISIBILITY", b"7"]


@pytest.mark.parametrize("time", [-(2**63), -1, 0, 2**63 - 1])
def test_a_first_delivery_may_be_at_any_time_that_a_pending_entry_may_have(time: int) -> None:
    """A client may have said it, by XCLAIM TIME of long ago; so may a file of Redis."""
    policy = policy_of((b"MAXDELIVERIES", b"3"))
    policy.redelivered.note(StreamId(1, 2).key(), 1, time, True)
    assert loaded(GROUP_POLICY.dump(policy)).redelivered.first(StreamId(1, 2).key()) == time


def test_the_last_wait_is_for_all_deliveries_after_it_but_the_dead_wait_for_nothing() -> None:
    policy = policy_of((b"BACKOFF", b"10 500"), (b"MAXDELIVERIES", b"4"))
    assert [policy.wait_ms(deliveries) for deliveries in range(6)] == [0, 10, 500, 500, 0, 0]
    assert [policy.is_dead(deliveries) for deliveries in range(6)] == [False] * 4 + [True] * 2
    assert policy_of((b"BACKOFF", b"0 0")).words() == []


def test_the_narrower_limit_says_how_much_room_is_left() -> None:
    policy = policy_of((b"MAXPENDING", b"10"), (b"MAXPENDINGPERCONSUMER", b"3"))
    assert policy.room(pending=0, of_consumer=0) == 3
    assert policy.room(pending=8, of_consumer=0) == 2
    assert policy.room(pending=99, of_consumer=99) == 0
    policy.set(b"PAUSED", b"yes")
    assert policy.room(pending=0, of_consumer=0) == 0
    assert GroupPolicy().room(pending=99, of_consumer=99) == MOST


def test_first_deliveries_are_saved_with_max_deliveries_only() -> None:
    policy = policy_of((b"VISIBILITY", b"7"))
    policy.redelivered.note(StreamId(1, 2).key(), 1, 1234, True)
    without = loaded(GROUP_POLICY.dump(policy))
    assert len(without.redelivered) == 0
    policy.set(b"MAXDELIVERIES", b"3")
    saved = loaded(GROUP_POLICY.dump(policy))
    assert saved.redelivered.first(StreamId(1, 2).key()) == 1234
    assert GROUP_POLICY.digest(saved) == GROUP_POLICY.digest(
        policy_of((b"VISIBILITY", b"7"), (b"MAXDELIVERIES", b"3"))
    )


def test_the_commands_set_all_of_it_again_in_parts() -> None:
    policy = policy_of((b"MAXDELIVERIES", b"3"), (b"DEADLETTER", b"dead"))
    for ms in range(1, 1201):
        policy.redelivered.note(StreamId(ms, 0).key(), 1, ms, True)
    commands = list(GROUP_POLICY.commands(b"s", b"g", policy))
    assert [words[:4] for words in commands] == [[b"XGROUP", b"CFGSET", b"s", b"g"]] * 4
    again = GroupPolicy()
    for words in commands:
        for word, value in zip(words[4::2], words[5::2], strict=True):
            assert again.set(word, value)
    assert GROUP_POLICY.dump(again) == GROUP_POLICY.dump(policy)
    assert GROUP_POLICY.written_keys(policy) == (b"dead",)


def test_bytes_that_are_cut_or_longer_are_corrupt() -> None:
    data = GROUP_POLICY.dump(policy_of((b"VISIBILITY", b"7"), (b"DEADLETTER", b"dead")))
    for end in range(len(data)):
        with pytest.raises(Corrupt):
            GROUP_POLICY.load(data[:end])
    with pytest.raises(Corrupt):
        GROUP_POLICY.load(data + b"x")


@pytest.mark.parametrize(
    "words",
    [
        [],
        [b"VISIBILITY"],
        [b"VISIBILITY", b"x"],
        [b"VISIBILITY", b"0"],  # which is not saved
        [b"VISIBILITY", b"1", b"VISIBILITY", b"2"],
        [b"LATER", b"1"],
    ],
)
def test_words_that_nobody_saves_are_corrupt(words: list[bytes]) -> None:
    with pytest.raises(Corrupt):
        GROUP_POLICY.load(GROUP_POLICY.dump_words(words))
