"""StreamId: its text, its order, and its key in a rax."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.errors import BadStreamId, IdsExhausted
from storage.stream import stream_id
from storage.stream.stream_id import MAX, MAX_TEXT, U64_MAX, ZERO, StreamId

NUMBERS = st.one_of(st.integers(0, 3), st.integers(0, U64_MAX), st.integers(U64_MAX - 3, U64_MAX))
IDS = st.builds(StreamId, NUMBERS, NUMBERS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"0-0", ZERO),
        (b"1526919030474-55", StreamId(1526919030474, 55)),
        (b"18446744073709551615-18446744073709551615", MAX),
        (b"007-08", StreamId(7, 8)),
        (b"5", StreamId(5, 3)),
        (b"0" * 124 + b"1-2", StreamId(1, 2)),
    ],
)
def test_parse_reads_both_forms(text: bytes, expected: StreamId) -> None:
    assert StreamId.parse(text, missing_seq=3) == expected


def test_a_missing_seq_can_be_the_greatest() -> None:
    assert StreamId.parse(b"5", U64_MAX) == StreamId(5, U64_MAX)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"-",
        b"+",
        b"*",
        b"-5",
        b"5-",
        b"--",
        b"1-2-3",
        b"1--2",
        b"-1-2",
        b"1-2 ",
        b"1 -2",
        b"1-2\n",
        b"1-*",
        b"(1-2",
        b"a-1",
        b"1-a",
        b"1.0-1",
        b"1\x00-1",
        b"18446744073709551616-0",
        b"0-18446744073709551616",
        b"99999999999999999999999-0",
        b"\xd9\xa1-1",
        b"0" * 125 + b"1-2",
    ],
)
def test_parse_refuses_everything_else(text: bytes) -> None:
    with pytest.raises(BadStreamId):
        StreamId.parse(text)


def test_the_longest_text_has_127_bytes() -> None:
    assert StreamId.parse(b"9".rjust(MAX_TEXT, b"0")) == StreamId(9, 0)
    with pytest.raises(BadStreamId):
        StreamId.parse(b"9".rjust(MAX_TEXT + 1, b"0"))


@given(IDS)
def test_an_id_is_parsed_back_from_its_text_and_key(entry_id: StreamId) -> None:
    assert StreamId.parse(entry_id.encode()) == entry_id
    assert stream_id.from_key(entry_id.key()) == entry_id
    assert len(entry_id.key()) == 16


@given(IDS, IDS)
def test_ids_and_their_keys_sort_like_ms_seq_pairs(a: StreamId, b: StreamId) -> None:
    pair_a, pair_b = (a.ms, a.seq), (b.ms, b.seq)
    assert (a < b, a <= b, a == b) == (pair_a < pair_b, pair_a <= pair_b, pair_a == pair_b)
    assert (a > b, a >= b, a != b) == (pair_a > pair_b, pair_a >= pair_b, pair_a != pair_b)
    assert (a.key() < b.key(), a.key() == b.key()) == (pair_a < pair_b, pair_a == pair_b)
    assert stream_id.compare(a, b) == (pair_a > pair_b) - (pair_a < pair_b)


def test_equal_ids_have_equal_hashes() -> None:
    assert len({StreamId(1, 2), StreamId(1, 2), StreamId(2, 1)}) == 2


def test_an_id_equals_nothing_but_an_id() -> None:
    assert StreamId(1, 2) != (1, 2)


@given(IDS)
def test_next_and_prev_are_neighbours(entry_id: StreamId) -> None:
    if entry_id != MAX:
        following = entry_id.next()
        assert following > entry_id
        assert following.prev() == entry_id
    if entry_id != ZERO:
        assert entry_id.prev() < entry_id
        assert entry_id.prev().next() == entry_id


def test_next_carries_into_ms_and_prev_borrows_from_it() -> None:
    assert StreamId(1, U64_MAX).next() == StreamId(2, 0)
    assert StreamId(2, 0).prev() == StreamId(1, U64_MAX)


def test_next_and_prev_raise_at_the_greatest_and_the_smallest_id() -> None:
    with pytest.raises(IdsExhausted):
        MAX.next()
    with pytest.raises(IdsExhausted):
        ZERO.prev()


def test_parse_auto_seq_returns_the_ms_of_an_id_with_an_automatic_seq() -> None:
    assert stream_id.parse_auto_seq(b"5-*") == 5
    assert stream_id.parse_auto_seq(b"18446744073709551615-*") == U64_MAX


@pytest.mark.parametrize("text", [b"5", b"5-1", b"*", b"", b"5-**", b"5-*1"])
def test_parse_auto_seq_returns_none_for_other_forms(text: bytes) -> None:
    assert stream_id.parse_auto_seq(text) is None


@pytest.mark.parametrize("text", [b"-*", b"a-*", b"1-2-*", b"18446744073709551616-*", b"+-*"])
def test_parse_auto_seq_refuses_a_bad_ms(text: bytes) -> None:
    with pytest.raises(BadStreamId):
        stream_id.parse_auto_seq(text)


@pytest.mark.parametrize("text", [b" 1-2", b"+1-2", b"1-+2", b"1- 2", b"01-02", b"\t 1-2"])
def test_parse_id_skips_blanks_and_a_plus_before_a_number_as_redis_does(text: bytes) -> None:
    assert stream_id.parse_id(text) == StreamId(1, 2)


@pytest.mark.parametrize("text", [b" -1", b"+-1", b"1- ", b"++1-2", b"+18446744073709551616-0"])
def test_parse_id_refuses_other_malformed_ids(text: bytes) -> None:
    with pytest.raises(BadStreamId):
        stream_id.parse_id(text)
