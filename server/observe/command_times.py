"""What is done with the time that a command took: SLOWLOG, LATENCY, HOTKEYS.

Most commands are faster than both thresholds: then it costs one comparison, with the smaller one.
While HOTKEYS counts, it is 0.
"""

from __future__ import annotations

from server.client.client import Client
from server.config.parameters import Config
from server.observe.command_stats import CommandCount
from server.observe.hot_keys import HotKeys
from server.observe.latency_events import LatencyEvents
from server.observe.part import Part
from server.observe.slow_log import SlowLog
from server.table.command import Command, Flags

FAST = int(Flags.FAST)
SKIP_SLOWLOG = int(Flags.SKIP_SLOWLOG)
NEVER_NS = 2**63 - 1


class CommandTimes(Part):
    """Commands that take *slow_ns* or longer are to be told. *fills_histograms*: latency-tracking.

    The two parts that it tells must have their parameters before it has.
    """

    __slots__ = (
        "_events",
        "_hot_keys",
        "_slow_log",
        "_threshold_ns",
        "fills_histograms",
        "slow_ns",
    )

    def __init__(self, slow_log: SlowLog, events: LatencyEvents, hot_keys: HotKeys) -> None:
        self._hot_keys = hot_keys
        self._slow_log = slow_log
        self._events = events
        self.slow_ns = self._threshold_ns = NEVER_NS
        self.fills_histograms = True

    def configured(self, config: Config) -> None:
        self.fills_histograms = config.latency_tracking
        thresholds = [NEVER_NS]
        if self._slow_log.slower_than_us >= 0:
            thresholds.append(self._slow_log.slower_than_us * 1000)
        if self._events.threshold_ms:
            thresholds.append(self._events.threshold_ms * 1_000_000)
        self._threshold_ns = min(thresholds)
        self.follow_hot_keys()

    def follow_hot_keys(self) -> None:
        """HOTKEYS has begun or ended to count."""
        self.slow_ns = 0 if self._hot_keys.is_on else self._threshold_ns

    def tick(self, now_ms: int) -> None:
        self.follow_hot_keys()  # which end by themselves, too

    def was_slow(
        self,
        client: Client,
        command: Command,
        argv: list[bytes],
        ns: int,
        time_s: int,
        count: CommandCount,
    ) -> None:
        """*command* of *client* is done at *time_s* (unix time), and has taken *ns*."""
        if self._hot_keys.is_on:
            self._hot_keys.ran(client, command, argv, ns)
        if ns < self._threshold_ns:
            return
        self._events.add_if_long(
            b"fast-command" if command.flags & FAST else b"command", ns, time_s
        )
        if not command.flags & SKIP_SLOWLOG:
            words = command.without_secrets(argv)
            us = ns // 1000
            if self._slow_log.add_if_slow(time_s, us, words, client.address, client.name):
                count.slow += 1
                count.slow_us += us
                count.slowest_us = max(count.slowest_us, us)
