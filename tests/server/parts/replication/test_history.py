"""The history of a data set, and its backlog."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.parts.replication.history import NO_ID, Backlog, EndedBefore, History

A, B, C = (letter * 40 for letter in "abc")


def kept(history: History, offset: int) -> bytes:
    assert history.backlog is not None
    return b"".join(history.backlog.since(offset))


def begun(data: bytes = b"") -> History:
    history = History(A)
    history.keep_backlog(1000)
    history.append(data)
    return history


@given(st.lists(st.binary(max_size=20)), st.integers(1, 50))
def test_a_backlog_has_the_last_bytes_of_what_was_appended(portions: list[bytes], limit: int):
    backlog = Backlog(1, limit)
    for portion in portions:
        backlog.append(portion)
    whole = b"".join(portions)
    assert backlog.end == len(whole) + 1
    assert len(backlog) >= min(limit, len(whole))
    for offset in range(1, backlog.end + 2):
        if backlog.has(offset):
            assert b"".join(backlog.since(offset)) == whole[offset - 1 :]
        else:
            assert offset < backlog.first or offset > backlog.end


def test_of_a_long_portion_only_the_last_bytes_are_kept():
    backlog = Backlog(1, 10)
    backlog.append(b"0123")
    backlog.append(bytes(range(100, 200)))
    assert (backlog.first, backlog.end, len(backlog)) == (95, 105, 10)
    assert b"".join(backlog.since(100)) == bytes(range(195, 200))


def test_a_smaller_backlog_forgets_the_oldest_portions():
    backlog = Backlog(1, 100)
    for _ in range(10):
        backlog.append(b"0123456789")
    backlog.resize(25)
    assert len(backlog) == 30  # whole portions
    assert not backlog.has(70)
    assert backlog.has(71)


def test_who_has_all_so_far_goes_on_with_the_next_byte():
    history = begun(b"0123456789")
    assert history.continues(A, 11)
    assert kept(history, 11) == b""
    assert kept(history, 6) == b"56789"


def test_who_is_ahead_or_too_far_behind_or_of_another_history_needs_a_copy():
    history = begun(b"0123456789")
    assert not history.continues(A, 12)
    assert not history.continues(A, 0)
    assert not history.continues(B, 5)
    assert not history.continues(NO_ID, 5)
    history.backlog = None
    assert not history.continues(A, 11)


def test_a_promoted_replica_continues_the_old_history_up_to_its_branch():
    history = begun(b"0123456789")
    history.branch(B)
    history.append(b"abc")
    assert history.continues(A, 11)
    assert not history.continues(A, 12)  # what the old primary did after that is not in it
    assert history.continues(B, 12)
    assert (history.second_id, history.second_offset) == (A, 11)


def test_data_that_have_been_replaced_are_of_no_earlier_history():
    history = begun(b"0123456789")
    history.branch(B)
    history.begin_anew(C)
    assert not history.continues(A, 5)
    assert not history.continues(B, 5)
    assert history.continues(C, 11)


def test_an_adopted_history_begins_where_the_copy_ends():
    history = begun(b"0123456789")
    history.adopt(B, 5000)
    assert (history.id, history.offset, history.second_id) == (B, 5000, NO_ID)
    assert history.continues(B, 5001)
    assert not history.continues(B, 5000)
    history.append(b"xyz")
    assert kept(history, 5001) == b"xyz"


def test_a_primary_with_a_new_name_is_followed_under_that():
    history = begun(b"0123456789")
    history.branch(B)
    assert history.continues(A, 11)
    assert history.continues(B, 11)


def test_where_a_history_ended_is_known_to_the_server_that_was_promoted():
    history = begun(b"0123456789")
    history.branch(B)
    assert history.reached(A, 10) is True
    with pytest.raises(EndedBefore, match="10"):
        history.reached(A, 11)
    assert history.reached(C, 10) is None


def test_a_replica_that_lagged_does_not_know_where_the_history_ended_under_its_earlier_name():
    history = begun(b"0123456789")
    history.follow_under(B)  # the primary has more under A than these ten bytes, or not
    assert history.reached(A, 10) is True
    assert history.reached(A, 11) is False
    history.append(b"abc")
    assert history.reached(A, 11) is False  # no more is known
    assert (history.continues(A, 11), history.continues(A, 12)) == (True, False)
    history.branch(C)
    with pytest.raises(EndedBefore, match="13"):
        history.reached(B, 14)
