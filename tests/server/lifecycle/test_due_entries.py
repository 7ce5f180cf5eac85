"""Scheduled entries and jobs: how long others wait for them."""

from __future__ import annotations

import pytest

from server.lifecycle.due_entries import DueEntries


class Watch:
    """A clock by which a millisecond passes whenever somebody looks at it *looks* times."""

    def __init__(self, looks: int) -> None:
        self._tick_s = 0.001 / looks
        self._now_s = 0.0

    def __call__(self) -> float:
        self._now_s += self._tick_s
        return self._now_s


@pytest.fixture
def due(server):
    """Makes what does what is due, by a clock that allows for so many looks at it."""
    return lambda looks: DueEntries(server.dispatcher, Watch(looks))


def run(server, due_entries):
    """Do what is due, for a slice of time. Whether that was all."""
    results = []
    server.turn(lambda: results.append(due_entries.run(server.now_ms)))
    return results[0]


def test_after_each_job_it_is_seen_whether_others_have_waited_long_enough(server, due):
    """Once, 32 jobs were one step, of which each may take a millisecond."""
    for number in range(10):
        server.send("XSCHEDULE", "s", f"job{number}", "EVERY", 1000, "*", "n", number)
    server.pass_time(1000)
    jobs = due(3)
    assert not run(server, jobs)
    assert 1 <= server.send_line("XLEN s") <= 3
    while not run(server, jobs):
        pass
    assert server.send_line("XLEN s") == 10


def test_entries_are_added_32_at_a_time(server, due):
    for number in range(100):
        server.send("XADD", "s", "DELAY", 1000, "*", "n", number)
    server.pass_time(1000)
    assert not run(server, due(1))
    assert server.send_line("XLEN s") == 32
