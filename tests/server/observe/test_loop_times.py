"""How often the event loop turns, and how long it works."""

from __future__ import annotations

from server.observe.command_stats import CommandStats
from server.observe.loop_times import LoopTimes
from server.observe.stats import Stats
from server.process import build
from tests.server.commands.admin.test_info import sections
from tests.server.conftest import SocketlessServer
from tests.server.running import ask, on_each_loop, running

PING, PONG = b"PING\r\n", b"+PONG\r\n"


@on_each_loop
async def test_a_request_is_a_cycle_of_the_loop_that_takes_time() -> None:
    async with running() as instance:
        times = instance.server.state.loop_times
        told = await ask(await instance.connect(), b"INFO stats\r\n", 1500)
        assert (b"eventloop_cycles:" in told) == build.uses_epoll()
        if not build.uses_epoll():
            return  # the loop's own transports do not know when all are served
        client = await instance.connect()
        before, busy_us = times.cycles, times.busy_us
        for _ in range(100):
            await ask(client, PING, len(PONG))
        assert times.cycles - before >= 100
        assert times.busy_us > busy_us


def test_a_cycle_counts_what_the_loop_does_between_its_begin_and_its_end() -> None:
    times = LoopTimes(Stats(), CommandStats())
    times.begin()
    times.end()
    once_us = times.busy_us
    times.begin()
    sum(range(1_000_000))
    times.end()
    assert times.cycles == 2
    assert times.busy_us > once_us


def test_the_time_never_falls() -> None:
    """Once it did, by a us: each look compares the CPU's counter with the clock anew."""
    for _ in range(3000):
        times = LoopTimes(Stats(), CommandStats())
        times.begin()
        sum(range(300))
        times.end()
        told = [times.busy_us for _ in range(20)]
        assert told == sorted(told)


def test_resetstat_begins_anew() -> None:
    times = LoopTimes(Stats(), CommandStats())
    times.begin()
    times.end()
    times.statistics_reset()
    assert (times.cycles, times.busy_us) == (0, 0)


def test_the_time_of_commands_inside_a_script_is_counted_once(server: SocketlessServer) -> None:
    server.send_line("CONFIG RESETSTAT")
    server.send("EVAL", "for i = 1, 2000 do redis.call('SET', 'k', i) end", 0)
    stats = sections(server, "stats", "commandstats")
    rows = stats["Commandstats"]
    times_us = {
        name: int(dict(pair.split("=") for pair in row.split(","))["usec"])
        for name, row in rows.items()
    }
    whole_us = int(stats["Stats"]["eventloop_duration_cmd_sum"])
    assert times_us["cmdstat_set"] > 0
    assert whole_us <= sum(times_us.values()) - times_us["cmdstat_set"] + len(times_us)
