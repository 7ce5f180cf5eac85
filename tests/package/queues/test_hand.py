"""What a worker has in hand, at times that the tests say."""

from __future__ import annotations

from penstock.queues.hand import (
    AHEAD_S,
    DONE,
    FAILED,
    HOLD_S,
    MOST,
    NEWEST,
    REJECTED,
    RELEASED,
    Entry,
    Hand,
    Outcome,
)


def entries(*ids: str) -> list[Entry]:
    return [(job_id, {"n": job_id}) for job_id in ids]


def after(hand: Hand, jobs: int, took_s: float) -> int:
    """The room after so many jobs that took so long."""
    for number in range(jobs):
        hand.give(entries(str(number)), 0.0)
        assert hand.begin(0.0) is not None
        hand.end(str(number), None, took_s)
    return hand.room()


def test_jobs_begin_in_their_order() -> None:
    hand = Hand(1, 30)
    hand.give(entries("1", "2"), 0.0)
    assert [hand.begin(0.0), hand.begin(0.0), hand.begin(0.0)] == [*entries("1", "2"), None]


def test_quick_jobs_are_read_ahead_up_to_a_number() -> None:
    assert after(Hand(1, 30), 100, 1e-6) == MOST
    assert after(Hand(1, 30), 100, AHEAD_S / 10.5) == 10
    assert after(Hand(4, 30), 100, AHEAD_S / 10.1) == 40


def test_slow_jobs_are_read_when_they_can_begin() -> None:
    hand = Hand(4, 30)
    assert after(hand, 100, 10.0) == 4
    hand.give(entries("1", "2", "3"), 0.0)
    for _ in range(3):
        hand.begin(0.0)
    assert hand.room() == 1


def test_one_slow_job_ends_reading_ahead() -> None:
    hand = Hand(1, 30)
    after(hand, 100, 1e-6)
    assert after(hand, 1, AHEAD_S / NEWEST) == 1


def test_what_waits_for_too_long_goes_back() -> None:
    hand = Hand(1, 30)
    hand.give(entries("1", "2"), 0.0)
    hand.give(entries("3"), 0.5)
    hand.begin(0.0)
    hand.release(HOLD_S)
    assert hand.take_outcomes() == [(RELEASED, ["2"])]
    assert hand.begin(HOLD_S) == entries("3")[0]


def test_all_goes_back_at_the_end() -> None:
    hand = Hand(1, 30)
    hand.give(entries("1", "2"), 0.0)
    hand.release(0.5, everything=True)
    assert hand.take_outcomes() == [(RELEASED, ["1", "2"])]
    assert hand.is_empty()


def test_what_may_be_another_s_by_now_neither_begins_nor_goes_back() -> None:
    hand = Hand(1, 30)
    hand.give(entries("1"), 0.0)
    hand.give(entries("2"), 1.0)
    hand.give(entries("3"), 30.0)
    assert hand.begin(30.0) == entries("3")[0]
    assert hand.take_outcomes() == [(RELEASED, ["2"])]


def test_equal_outcomes_are_told_together_and_kept_if_that_fails() -> None:
    hand, rejected = Hand(1, 30), Outcome(REJECTED, ("REASON", b"no address"))
    for job_id, outcome in (("1", DONE), ("2", rejected), ("3", DONE)):
        hand.end(job_id, outcome, 0.1)
    hand.end("4", None, 0.1)
    expected = [(DONE, ["1", "3"]), (rejected, ["2"])]
    assert hand.take_outcomes() == expected
    assert hand.take_outcomes() == []
    hand.put_back(expected)
    assert [ids for _, ids in hand.take_outcomes()] == [["1", "3"], ["2"]]


def test_what_could_not_be_told_is_late_the_next_time() -> None:
    """By then the job may be another worker's, which a failure would take it from."""
    hand = Hand(1, 30)
    hand.put_back([(Outcome(FAILED), ["1"]), (RELEASED, ["2"]), (DONE, ["3"])])
    failed, released = Outcome(FAILED, is_late=True), RELEASED._replace(is_late=True)
    assert hand.take_outcomes() == [(failed, ["1"]), (released, ["2"]), (DONE, ["3"])]


def test_a_job_that_ends_when_it_may_be_another_s_is_late_unless_it_is_done() -> None:
    hand = Hand(1, 30)
    hand.end("1", Outcome(FAILED), 28.0)
    hand.end("2", Outcome(FAILED), 29.5)
    hand.end("3", DONE, 40.0)
    late = Outcome(FAILED, is_late=True)
    assert hand.take_outcomes() == [(Outcome(FAILED), ["1"]), (late, ["2"]), (DONE, ["3"])]
