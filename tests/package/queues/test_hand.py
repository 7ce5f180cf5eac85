"""What a worker has in hand, at times that the tests say."""

from __future__ import annotations

import math

from penstock.queues.hand import AHEAD_S, HOLD_S, MOST, NEWEST, Entry, Hand, Outcome


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
    assert hand.take_outcomes() == [(Outcome.RELEASED, ["2"])]
    assert hand.begin(HOLD_S) == entries("3")[0]


def test_all_goes_back_at_the_end() -> None:
    hand = Hand(1, 30)
    hand.give(entries("1", "2"), 0.0)
    hand.release(math.inf)
    assert hand.take_outcomes() == [(Outcome.RELEASED, ["1", "2"])]
    assert hand.is_empty()


def test_what_is_another_s_by_now_does_not_begin() -> None:
    hand = Hand(1, 30)
    hand.give(entries("1"), 0.0)
    hand.give(entries("2"), 1.0)
    assert hand.begin(30.0) == entries("2")[0]
    assert hand.take_outcomes() == []


def test_outcomes_that_could_not_be_told_are_kept() -> None:
    hand = Hand(1, 30)
    for job_id, outcome in (("1", Outcome.DONE), ("2", Outcome.REJECTED), ("3", Outcome.DONE)):
        hand.end(job_id, outcome, 0.1)
    hand.end("4", None, 0.1)
    expected = [(Outcome.DONE, ["1", "3"]), (Outcome.REJECTED, ["2"])]
    assert hand.take_outcomes() == expected
    assert hand.take_outcomes() == []
    hand.put_back(expected)
    assert hand.take_outcomes() == expected
