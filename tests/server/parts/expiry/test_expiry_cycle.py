"""The active expiry cycle, with clocks that the test sets."""

from __future__ import annotations

import pytest

from server.config.parameters import Config
from server.parts.state import ServerState
from tests.server.parts.expiry.cycles import cycle_of


class Clock:
    """A clock that advances by *step* seconds each time it is read."""

    def __init__(self, step: float = 0.0) -> None:
        self.now = 0.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def make_state(keys: int, due: int) -> ServerState:
    config = Config()
    config.save = []
    state = ServerState(config)
    state.events.clock.now_ms = 1000
    db = state.databases[3]
    for n in range(keys):
        db.add(b"key:%d" % n, b"v")
        db.expire_at(b"key:%d" % n, 1 if n < due else 5000)
    return state


def test_expired_keys_that_no_command_reads_are_deleted() -> None:
    state = make_state(keys=200, due=200)
    cycle_of(state, Clock()).run()
    assert len(state.databases[3]) == 0
    assert state.events.expired == 200


def test_keys_that_have_not_expired_stay() -> None:
    state = make_state(keys=200, due=0)
    cycle = cycle_of(state, Clock())
    for _ in range(50):
        cycle.run()
    assert len(state.databases[3]) == 200


def test_repeated_cycles_delete_all_expired_keys() -> None:
    """A page with few expired keys ends a cycle. The next cycle continues with the next page."""
    state = make_state(keys=1000, due=100)
    cycle = cycle_of(state, Clock())
    for _ in range(100):
        cycle.run()
    assert len(state.databases[3]) == 900


def test_a_cycle_ends_when_its_share_of_time_is_used_up() -> None:
    state = make_state(keys=2000, due=2000)
    cycle_of(state, Clock(step=0.02)).run()
    assert 0 < len(state.databases[3]) < 2000
    assert state.stats.expire_time_cap_reached == 1


def test_the_time_of_cycles_is_counted() -> None:
    state, clock = make_state(keys=3, due=3), Clock(step=0.005)
    cycle = cycle_of(state, clock)
    cycle.run()
    assert state.stats.expire_cycle_ms == pytest.approx((clock.now - clock.step) * 1000)
    cycle.run()
    assert state.stats.expire_cycle_ms == pytest.approx((clock.now - 2 * clock.step) * 1000)


def test_a_long_cycle_is_a_latency_event() -> None:
    state = make_state(keys=3, due=3)
    state.latency_events.threshold_ms = 5
    cycle_of(state, Clock(step=0.005)).run()
    assert state.latency_events.series[b"expire-cycle"].worst_ms > 5


def test_a_cycle_counts_what_it_has_expired_and_how_stale_the_keys_were() -> None:
    state = make_state(keys=10, due=10)
    cycle = cycle_of(state, Clock())
    cycle.run()
    assert state.stats.expired_in_cycles == 10
    assert state.stats.stale_percent == pytest.approx(5.0)  # a twentieth of 100 %
    cycle.run()
    assert state.stats.stale_percent == pytest.approx(4.75)
