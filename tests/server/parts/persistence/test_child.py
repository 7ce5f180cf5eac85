"""A forked child: what it keeps of its parent, what it reports, and how its end is seen."""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
from collections.abc import Callable, Iterator

import pytest

from server.parts.persistence import child_job, facts
from server.parts.persistence.child import ChildBusy, ChildSlot, Outcome, Purpose
from server.parts.persistence.child_job import Report
from storage.keyspace.settings import Lookup


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def slot(clock: Clock) -> Iterator[ChildSlot]:
    slot = ChildSlot(Lookup(), clock)
    yield slot
    slot.kill()
    slot.poll(wait=True)


def end_of(slot: ChildSlot, job: Callable[[Report], None], total: int = 0) -> Outcome:
    outcomes: list[Outcome] = []
    slot.start(Purpose.SAVE, total, job, outcomes.append)
    slot.poll(wait=True)
    (outcome,) = outcomes
    return outcome


def idle(_report: Report) -> None:
    while True:
        signal.pause()


def pass_on(fact: object) -> None:
    """Fail with *fact* as the reason, so that the parent gets it."""
    raise ValueError(str(fact))


def test_a_job_that_returns_is_a_success(slot: ChildSlot) -> None:
    outcome = end_of(slot, lambda report: report(3))
    assert outcome.ok and outcome.error == "" and outcome.signal == 0
    assert slot.child is None


def test_the_parent_gets_the_reason_of_a_failure(slot: ChildSlot) -> None:
    def job(_report: Report) -> None:
        raise OSError(28, "No space left on device")

    outcome = end_of(slot, job)
    assert not outcome.ok
    assert outcome.error == "[Errno 28] No space left on device"


def test_a_long_reason_of_many_lines_is_passed_on_as_one_short_line(slot: ChildSlot) -> None:
    outcome = end_of(slot, lambda _report: pass_on("ä\n\ud800\n" + "x" * 100_000))
    assert outcome.error.startswith("ä \\ud800 xxx")
    assert len(outcome.error) < 2 * child_job.MOST_TEXT


def test_a_system_exit_in_the_job_is_a_failure_like_any_other(slot: ChildSlot) -> None:
    def job(_report: Report) -> None:
        raise SystemExit("told to go")

    assert end_of(slot, job).error == "told to go"


def test_a_child_that_exits_without_a_report_has_failed(slot: ChildSlot) -> None:
    assert end_of(slot, lambda _report: os._exit(3)).error == "exit status 3"


def test_a_child_that_is_killed_has_failed_and_the_signal_is_known(slot: ChildSlot) -> None:
    outcome = end_of(slot, lambda _report: os.kill(os.getpid(), signal.SIGKILL))
    assert (outcome.signal, outcome.error) == (9, "terminated by signal 9")
    assert not outcome.killed


def test_a_child_that_its_parent_kills_is_told_apart(slot: ChildSlot) -> None:
    outcomes: list[Outcome] = []
    slot.start(Purpose.SAVE, 0, idle, outcomes.append)
    slot.poll()
    assert not outcomes
    slot.kill()
    slot.poll(wait=True)
    assert outcomes[0].killed and not outcomes[0].ok


def test_a_child_whose_exit_status_is_lost_counts_as_failed(slot: ChildSlot) -> None:
    outcomes: list[Outcome] = []
    child = slot.start(Purpose.SAVE, 0, lambda report: None, outcomes.append)
    os.waitpid(child.pid, 0)
    slot.poll()
    assert outcomes[0].error == "exit status 1"


def test_a_second_child_is_refused_while_one_runs(slot: ChildSlot) -> None:
    slot.start(Purpose.COPY, 0, idle, lambda outcome: None)
    with pytest.raises(ChildBusy, match="a copy for replicas"):
        slot.start(Purpose.SAVE, 0, idle, lambda outcome: None)
    assert slot.runs(Purpose.COPY) and not slot.runs(Purpose.SAVE)
    assert slot.total_forks == 1


def test_the_next_child_may_start_when_the_end_of_the_last_is_reported(slot: ChildSlot) -> None:
    outcomes: list[Outcome] = []

    def again(outcome: Outcome) -> None:
        outcomes.append(outcome)
        slot.start(Purpose.SAVE, 0, lambda report: None, outcomes.append)

    slot.start(Purpose.COPY, 0, lambda report: None, again)
    slot.poll(wait=True)
    assert slot.runs(Purpose.SAVE)
    slot.poll(wait=True)
    assert [outcome.ok for outcome in outcomes] == [True, True]


def test_a_fork_that_fails_leaves_nothing_behind(
    slot: ChildSlot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    gc.enable()  # a test before it may have turned it off
    before = os.listdir("/proc/self/fd")
    with pytest.raises(OSError, match="Resource temporarily unavailable"):
        slot.start(Purpose.SAVE, 0, idle, lambda outcome: None)
    assert os.listdir("/proc/self/fd") == before
    assert slot.child is None and slot.total_forks == 0 and gc.isenabled()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()


def test_progress_and_copied_memory_are_reported_while_the_child_runs(
    slot: ChildSlot, clock: Clock
) -> None:
    child = slot.start(Purpose.SAVE, 200, report_and_go_on, lambda outcome: None)
    assert (child.done, child.total, slot.fork_perc) == (0, 200, 0)
    select.select([child.process._pipe], [], [])
    slot.poll()
    assert (child.done, slot.fork_perc) == (50, 25)
    assert child.cow_peak >= child.cow_bytes > 0
    clock.now_s += 7
    assert slot.cow_size_age == 7


def report_and_go_on(report: Report) -> None:
    report._due_s = 0  # type: ignore[attr-defined]  # a second is over
    report(50)
    idle(report)


def test_without_a_child_all_figures_are_0(slot: ChildSlot) -> None:
    end_of(slot, lambda report: report(3), total=3)
    assert [sample.value for sample in facts.CHILD.samples(slot)] == [0] * 6


def test_the_duration_is_what_the_clock_says(slot: ChildSlot, clock: Clock) -> None:
    outcomes: list[Outcome] = []
    slot.start(Purpose.SAVE, 0, lambda report: None, outcomes.append)
    clock.now_s += 2.5
    slot.poll(wait=True)
    assert outcomes[0].duration_s == 2.5
    assert slot.latest_fork_usec > 0


def test_the_copied_memory_is_known_at_the_end(slot: ChildSlot) -> None:
    size = 32 * 1024 * 1024
    buffer = bytearray(size)

    def write_to_it(_report: Report) -> None:
        buffer[:] = b"x" * size

    assert end_of(slot, write_to_it).cow_bytes >= size


# ---------------------------------------------------------------------- what the child inherits


def test_a_child_holds_none_of_its_parents_descriptors(slot: ChildSlot) -> None:
    with socket.create_server(("127.0.0.1", 0)):

        def job(_report: Report) -> None:
            pass_on(len(os.listdir("/proc/self/fd")))

        listing_itself = 1
        assert end_of(slot, job).error == str(3 + 1 + listing_itself)


def test_while_there_is_a_child_reads_do_not_set_the_last_use(clock: Clock) -> None:
    lookup = Lookup()
    slot = ChildSlot(lookup, clock)
    slot.start(Purpose.SAVE, 0, lambda _report: None, lambda _outcome: None)
    assert lookup.spares_pages
    slot.poll(wait=True)
    assert not lookup.spares_pages


def test_neither_a_child_nor_its_parent_collect_garbage(slot: ChildSlot) -> None:
    assert gc.isenabled()
    outcomes: list[Outcome] = []
    slot.start(Purpose.SAVE, 0, lambda _report: pass_on(gc.isenabled()), outcomes.append)
    assert not gc.isenabled()
    slot.poll(wait=True)
    assert outcomes[0].error == "False"
    assert gc.isenabled()


def test_a_child_has_none_of_its_parents_signal_handlers(slot: ChildSlot) -> None:
    handled: list[int] = []
    old = signal.signal(signal.SIGUSR2, lambda number, _frame: handled.append(number))
    try:

        def job(_report: Report) -> None:
            os.kill(os.getpid(), signal.SIGUSR2)

        assert end_of(slot, job).signal == signal.SIGUSR2
    finally:
        signal.signal(signal.SIGUSR2, old)


@pytest.mark.parametrize("number", child_job.IGNORED)
def test_a_child_ignores_sigint_and_sigterm(slot: ChildSlot, number: signal.Signals) -> None:
    assert end_of(slot, lambda _report: os.kill(os.getpid(), number)).ok


def test_a_signal_does_not_reach_the_loop_of_the_parent(slot: ChildSlot) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setblocking(False)
        old = signal.set_wakeup_fd(theirs.fileno())
        try:
            end_of(slot, lambda _report: os.kill(os.getpid(), signal.SIGINT))
        finally:
            signal.set_wakeup_fd(old)
        with pytest.raises(BlockingIOError):
            ours.recv(1)


def test_a_report_raises_orphaned_when_the_parent_has_died() -> None:
    reading, writing = os.pipe()
    reporter = child_job.Reporter(writing, parent=os.getppid())
    reporter(1)
    orphan = child_job.Reporter(writing, parent=os.getppid() + 1)
    with pytest.raises(child_job.Orphaned):
        orphan(1)
    os.close(reading)
    os.close(writing)
