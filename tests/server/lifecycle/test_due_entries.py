"""Scheduled entries and jobs: how long others wait for them, and what follows from a bug."""

from __future__ import annotations

import pytest

from server.commands.streams.adding import stream_expiries
from server.commands.streams.groups import dead_letters
from server.lifecycle.due_entries import DueEntries
from server.parts.scheduling import recurrence
from server.process import build
from server.process.faults import ServerFault
from storage.stream.deletions import Deletion


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


def run_all(server, due_entries):
    while not run(server, due_entries):
        pass


def test_jobs_have_a_share_of_the_time_and_entries_do_not_wait_for_them(server, due):
    """Once, some thousand jobs that ran each millisecond took a whole core for ever."""
    for number in range(50):
        server.send("XSCHEDULE", "s", f"job{number}", "EVERY", 10, "*", "n", number)
    for key in "st":
        server.send("XADD", key, "DELAY", 15, "*", "n", "entry")
    server.pass_time(10)
    cron = due(10)
    cron.begin(0.002)
    run_all(server, cron)
    assert 0 < server.send_line("XLEN s") < 50
    assert server.state.agenda.first() == (server.now_ms + 5, 0, b"s")
    assert len(server.state.agenda) == 2
    before = server.send_line("XLEN s")
    server.pass_time(5)
    run_all(server, cron)
    assert [server.send("XLEN", key) for key in "st"] == [before + 1, 1]
    assert server.state.agenda.first() is None

    server.pass_time(100)
    cron.begin(1.0)
    run_all(server, cron)
    # Each has run once now, and those that had run before have missed some runs, which are one.
    ran = [row[1][1] for row in server.send_line("XRANGE s - +")]
    assert sorted(set(ran)) == sorted([b"entry", *(b"%d" % number for number in range(50))])
    assert len(ran) == 1 + before + 50
    assert server.state.agenda.first() == (server.now_ms + 5, 0, b"s")


def test_jobs_that_wait_do_so_no_more_when_the_stream_has_gone(server, due):
    server.send_line("XSCHEDULE s job EVERY 10 * n 1")
    server.pass_time(10)
    cron = due(10)
    cron.begin(0)
    run_all(server, cron)
    assert server.send_line("XLEN s") == 0
    server.send_line("DEL s")
    assert len(server.state.agenda) == 0
    cron.begin(1.0)
    assert server.state.agenda.first() is None


def test_who_moves_the_clock_waits_for_jobs_that_wait(server, due):
    server.send_line("XSCHEDULE s job EVERY 10 * n 1")
    server.pass_time(10)
    cron = due(10)
    cron.begin(0)
    run_all(server, cron)
    server.advance(0)
    assert server.send_line("XLEN s") == 1


class Unexpected(Exception):
    """Of which nobody has reported one before."""


@pytest.fixture
def broken(server, monkeypatch):
    """The job of the stream s cannot run, by a bug; the stream t is as it should be."""

    def next_run(job, now_ms):
        if job.name == b"bad":
            raise Unexpected
        return now_ms + 1000

    server.send_line("XADD s DELAY 5 * n 1")
    server.send_line("XSCHEDULE s bad EVERY 10 * n 2")
    server.send_line("XADD s DELAY 15 * n 3")
    server.send_line("XADD t DELAY 15 * n 4")
    server.logged()
    monkeypatch.setattr(recurrence, "next_run", next_run)
    return server


def test_a_bug_in_what_is_due_of_a_key_is_reported_and_holds_up_no_other_key(broken, caplog):
    """Once, it ended the server, after each start again."""
    broken.pass_time(20)
    broken.turn(broken._travel.catch_up)
    assert "bug in what is scheduled" in caplog.text
    assert [broken.send("XLEN", key) for key in "st"] == [1, 1]
    assert [line.split()[0] for line in broken.logged()] == [b"XADD", b"XUNSCHEDULE"] * 2
    assert len(broken.state.agenda) == 0


def test_the_key_is_looked_at_again_when_its_schedule_has_changed(broken):
    broken.advance(20)
    broken.send_line("XUNSCHEDULE s NAMES bad")
    broken.advance(0)
    assert broken.send_line("XLEN s") == 2


def test_the_server_ends_if_something_was_changed_by_then(server, monkeypatch):
    def set_deadline(*_):
        raise Unexpected

    server.send_line("XADD s DELAY 5 EXPIRE 5 * n 1")
    monkeypatch.setattr(stream_expiries, "set_deadline", set_deadline)
    with pytest.raises(ServerFault):
        server.advance(5)


@pytest.mark.skipif(build.compiled(), reason="a compiled method stays what it is")
def test_it_ends_if_entries_that_expire_were_half_deleted(server, monkeypatch):
    def end(_):
        raise Unexpected

    server.send_line("XADD s EXPIRE 5 * n 1")
    monkeypatch.setattr(Deletion, "end", end)
    with pytest.raises(ServerFault):
        server.advance(5)


def test_it_ends_if_there_was_no_memory(server, monkeypatch):
    def next_run(*_):
        raise MemoryError

    server.send_line("XSCHEDULE s job EVERY 10 * n 2")
    monkeypatch.setattr(recurrence, "next_run", next_run)
    with pytest.raises(ServerFault):
        server.advance(10)


def test_what_has_expired_goes_even_if_no_letter_can_be_made_of_it(server, monkeypatch, caplog):
    server.send_line("XGROUP CREATE s g 0 MKSTREAM")
    server.send_line("XGROUP CFGSET s g DEADLETTER dead MKSTREAM")
    server.send_line("XADD s EXPIRE 5 * n 1")
    monkeypatch.setattr(dead_letters, "FIELDS", ())  # fewer than values
    server.advance(5)
    assert "bug in a dead letter" in caplog.text
    assert [server.send("XLEN", key) for key in ("s", "dead")] == [0, 0]


def test_a_bug_in_what_expires_of_a_key_holds_up_no_other_key(server, monkeypatch, caplog):
    def settle(call, key, most):
        if key == b"s":
            raise Unexpected
        return expire(call, key, most)

    expire = stream_expiries.settle
    for key in "st":
        server.send_line(f"XADD {key} EXPIRE 5 * n 1")
    monkeypatch.setattr(stream_expiries, "settle", settle)
    server.advance(5)
    assert "bug in what is scheduled" in caplog.text
    assert [server.send("XLEN", key) for key in "st"] == [1, 0]
