"""How long to try again, by a clock that only pauses move."""

from __future__ import annotations

import pytest

from pyspark_penstock.errors import ServerError
from pyspark_penstock.patience import Patience


class Clock:
    """A clock, and the pauses that move it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.pauses: list[float] = []

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds


def fail_for_ever(patience: Patience) -> None:
    while True:
        patience.wait_after(OSError("cut"))


def test_patience_ends_after_a_time_without_success() -> None:
    clock = Clock()
    with pytest.raises(ServerError, match="tried for 30 s in vain: cut"):
        fail_for_ever(Patience(clock.now, clock.sleep))
    assert clock.pauses[:3] == [0.05, 0.1, 0.2]
    assert max(clock.pauses) == 2.0
    assert 28 <= clock.seconds <= 30


def test_a_success_renews_it() -> None:
    clock = Clock()
    patience = Patience(clock.now, clock.sleep)
    patience.wait_after(OSError("cut"))
    clock.seconds = 29.0
    patience.renew()
    with pytest.raises(ServerError):
        fail_for_ever(patience)
    assert clock.pauses[:3] == [0.05, 0.05, 0.1]
    assert clock.seconds >= 57


def test_a_failure_that_took_longer_than_patience_to_show_is_tried_again() -> None:
    clock = Clock()
    patience = Patience(clock.now, clock.sleep)
    clock.seconds = 60.0  # as when an answer is waited for that never comes
    patience.wait_after(OSError("time is up"))
    clock.seconds += 60.0
    with pytest.raises(ServerError, match="time is up"):
        patience.wait_after(OSError("time is up"))
