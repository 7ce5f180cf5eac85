"""Which commands are slow: one threshold stands for those of SLOWLOG and LATENCY."""

from __future__ import annotations

import pytest

from server.client.client import Client
from server.config.parameters import Config
from server.observe.command_stats import CommandCount
from server.observe.command_times import NEVER_NS, CommandTimes
from server.observe.hot_keys import HotKeys
from server.observe.latency_events import LatencyEvents
from server.observe.slow_log import SlowLog
from server.table.command import Command, Flags
from storage.chance import Chance
from storage.keyspace.settings import Clock


def command_times(slower_than_us: int, threshold_ms: int) -> tuple[CommandTimes, SlowLog]:
    config = Config()
    config.slowlog_log_slower_than = slower_than_us
    config.latency_monitor_threshold = threshold_ms
    slow_log, events = SlowLog(), LatencyEvents()
    times = CommandTimes(slow_log, events, HotKeys(Chance(1), Clock()))
    for part in (slow_log, events, times):
        part.configured(config)
    return times, slow_log


@pytest.mark.parametrize(
    ("slower_than_us", "threshold_ms", "slow_ns"),
    [
        (10_000, 0, 10_000_000),
        (10_000, 1, 1_000_000),
        (500, 1, 500_000),
        (0, 5, 0),
        (-1, 5, 5_000_000),
        (-1, 0, NEVER_NS),
        (2**63 - 1, 2**63 - 1, NEVER_NS),
    ],
)
def test_the_smaller_threshold_decides(
    slower_than_us: int, threshold_ms: int, slow_ns: int
) -> None:
    assert command_times(slower_than_us, threshold_ms)[0].slow_ns == slow_ns


def test_a_command_that_is_not_to_be_logged_is_only_an_event() -> None:
    times, slow_log = command_times(0, 1)
    for name, flags in (("quiet", Flags.SKIP_SLOWLOG), ("loud", Flags(0))):
        row = Command(name, arity=1, flags=flags, group="server", since="1")
        times.was_slow(Client(1, 0), row, [name.encode()], 5_000_000, 7, CommandCount())
    assert [entry.words for entry in slow_log.newest(-1)] == [[b"loud"]]


def test_the_count_of_a_command_has_the_times_that_slowlog_kept_it() -> None:
    times, _ = command_times(2_000, 1)
    row, count = Command("get", arity=1, flags=Flags(0), group="string", since="1"), CommandCount()
    for ns in (5_000_000, 1_500_000, 7_000_000):  # the second is an event of latency alone
        times.was_slow(Client(1, 0), row, [b"get"], ns, 7, count)
    assert (count.slow, count.slow_us, count.slowest_us) == (2, 12_000, 7_000)
    count.reset()
    assert (count.slow, count.slow_us, count.slowest_us) == (0, 0, 0)
