"""What a policy of a stream says, and its form in files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.errors import Corrupt
from storage.side_data.stream_policy import MOST, STREAM_POLICY, StreamPolicy

numbers = st.integers(0, MOST).map(b"%d".__mod__)
values = st.one_of(
    st.tuples(
        st.sampled_from([b"RETAIN-AGE", b"RETAIN-LENGTH", b"RETAIN-BYTES", b"MIN-AGE"]), numbers
    ),
    st.tuples(st.just(b"RETAIN-ACKED"), st.sampled_from([b"yes", b"No"])),
    st.tuples(st.just(b"COMPACT"), st.binary(max_size=9)),
)


def policy_of(*pairs: tuple[bytes, bytes]) -> StreamPolicy:
    policy = StreamPolicy()
    for word, value in pairs:
        assert policy.set(word, value), (word, value)
    return policy


@given(st.lists(values, min_size=1))
def test_a_policy_is_what_its_words_and_its_bytes_say(pairs: list[tuple[bytes, bytes]]) -> None:
    policy = policy_of(*pairs)
    data = STREAM_POLICY.dump(policy)
    assert STREAM_POLICY.load(data).words() == policy.words()
    assert STREAM_POLICY.dump(STREAM_POLICY.copy(policy)) == data
    (command,) = STREAM_POLICY.commands(b"s", None, policy)
    assert command == [b"XCFGSET", b"s", *policy.words()]


@pytest.mark.parametrize(
    ("word", "value", "number"),
    [
        (b"RETAIN-AGE", b"90", b"90"),
        (b"RETAIN-AGE", b"2S", b"2000"),
        (b"RETAIN-AGE", b"3m", b"180000"),
        (b"RETAIN-AGE", b"7d", b"604800000"),
        (b"RETAIN-BYTES", b"2k", b"2000"),
        (b"RETAIN-BYTES", b"2KB", b"2048"),
        (b"RETAIN-BYTES", b"1gb", b"1073741824"),
        (b"MIN-AGE", b"1w", b"604800000"),
    ],
)
def test_a_number_may_have_a_unit(word: bytes, value: bytes, number: bytes) -> None:
    assert policy_of((word, value)).words() == [word, number]


@pytest.mark.parametrize(
    ("word", "value"),
    [
        (b"RETAIN-AGE", b""),
        (b"RETAIN-AGE", b"d"),
        (b"RETAIN-AGE", b"-1"),
        (b"RETAIN-AGE", b"1x"),
        (b"RETAIN-AGE", b"%dd" % MOST),
        (b"RETAIN-LENGTH", b"1k"),
        (b"RETAIN-ACKED", b"1"),
        (b"retain-age", b"1"),
    ],
)
def test_a_bad_value_is_refused(word: bytes, value: bytes) -> None:
    policy = StreamPolicy()
    assert not policy.set(word, value)
    assert not policy


def test_a_default_that_was_said_wins_over_what_the_configuration_says() -> None:
    own = policy_of((b"RETAIN-AGE", b"0"), (b"COMPACT", b"user"))
    of_name = policy_of((b"RETAIN-AGE", b"1d"), (b"RETAIN-LENGTH", b"5"))
    both = own.over(of_name)
    assert (both.age_ms, both.length, both.field) == (0, 5, b"user")
    assert own.over(None).settings() == own.settings()
    assert bool(policy_of((b"RETAIN-AGE", b"0")))
    assert policy_of((b"RETAIN-AGE", b"0")).does_nothing


def test_min_age_is_no_reason_to_go_without_compact() -> None:
    assert policy_of((b"MIN-AGE", b"5")).effective_words() == []
    assert policy_of((b"MIN-AGE", b"5")).does_nothing
    both = policy_of((b"MIN-AGE", b"5"), (b"COMPACT", b"user"))
    assert both.effective_words() == [b"COMPACT", b"user", b"MIN-AGE", b"5"]


def test_that_of_a_group_is_forged_and_sets_nothing() -> None:
    assert list(STREAM_POLICY.commands(b"s", b"g", policy_of((b"RETAIN-AGE", b"1")))) == []


def test_bytes_that_are_cut_or_longer_are_corrupt() -> None:
    data = STREAM_POLICY.dump(policy_of((b"RETAIN-AGE", b"7"), (b"COMPACT", b"user")))
    for end in range(len(data)):
        with pytest.raises(Corrupt):
            STREAM_POLICY.load(data[:end])
    with pytest.raises(Corrupt):
        STREAM_POLICY.load(data + b"x")
