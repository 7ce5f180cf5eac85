"""Large schedules of removed keys are freed in slices."""

from __future__ import annotations

import pytest

from server.lifecycle.freeing import PARTS, Freeing
from storage import allocation
from storage.side_data.schedule import FREED_AT_ONCE
from tests.used_memory import used_at_start

MANY = FREED_AT_ONCE + 100


@pytest.fixture
def freeing(server):
    """Cron's work on them; half a second passes whenever it looks at the clock."""
    times = iter(range(1_000_000))
    return Freeing(server.state.events.freeing, server.state.config, lambda: next(times) / 2)


def schedule(server, count, key="s"):
    for number in range(count):
        server.send("XADD", key, "AT", 9_000_000_000_000 + number * 977 % 5000, "*", "f", number)


def pending(server):
    info = server.send_line("INFO memory").decode()
    return int(info.partition("lazyfree_pending_objects:")[2].split()[0])


def free(freeing):
    slices = 0
    freeing.begin()
    while freeing._doomed:
        freeing.go_on()
        slices += 1
    return slices


@pytest.mark.parametrize("line", ["DEL s", "UNLINK s", "PEXPIRE s 10", "FLUSHALL"])
def test_a_large_one_goes_in_slices(server, freeing, line):
    schedule(server, 1)
    server.send_line("DEL s")
    before = used_at_start()
    schedule(server, MANY)
    server.send_line(line)
    server.advance(20)
    assert server.send_line("EXISTS s") == 0
    assert pending(server) == 1
    assert server.send_line("XADD s AT 9000000000000 * f v") is not None  # a new one
    assert free(freeing) == MANY // PARTS + 1
    assert server.send_line("XSCHEDULED s") != []
    server.send_line("DEL s")
    assert pending(server) == 0
    assert allocation.used_bytes() - before < 50_000


def test_deadlines_and_jobs_go_too(server, freeing):
    for number in range(701):  # all but the first one expire before one that came before
        server.send("XADD", "s", "EXPIRE", 9_000_000 - number, f"{number + 1}-1", "f", "v")
    for number in range(700):
        server.send("XSCHEDULE", "s", f"job{number}", "EVERY", 1_000_000, "*", "f", "v")
    schedule(server, 700)
    server.send_line("DEL s")
    assert pending(server) == 1
    assert free(freeing) == 2100 // PARTS + 1


def test_deadlines_in_the_order_of_ids_go_at_once(server):
    for number in range(MANY):
        server.send("XADD", "s", "EXPIRE", 9_000_000, f"{number + 1}-1", "f", "v")
    server.send_line("DEL s")
    assert pending(server) == 0


@pytest.mark.parametrize("line", ["RENAME s t", "MOVE s 1", "COPY s t", "SWAPDB 0 1"])
def test_one_that_is_only_moved_stays(server, freeing, line):
    schedule(server, MANY)
    server.send_line(line)
    assert pending(server) == 0
    freeing.go_on()
    if line in ("MOVE s 1", "SWAPDB 0 1"):
        server.send_line("SELECT 1")
    key = "t" if line == "RENAME s t" else "s"
    info = server.send("XINFO", "STREAM", key)
    assert info[info.index(b"scheduled") + 1] == MANY


def test_a_small_one_goes_at_once(server):
    schedule(server, 100)
    server.send_line("DEL s")
    assert pending(server) == 0
