"""LATENCY: what has kept the server from its clients, for latency-monitor-threshold ms or longer.

    command        (1700000000, 12) (1700000007, 250) ..   the last 160 samples: unix time in s, ms
    expire-cycle   (1700000003, 31)                        one a second, the longest of that second

The names of the events are Redis's:

    command  fast-command    a command, or a transaction as a whole
    expire-cycle             the removal of expired keys in the background
    expire-del               that of a single one of them, also when a command looks it up
    eviction-cycle           the eviction of keys before a command
    eviction-del             that of a single one of them
    aof-write                a write to the AOF, and again under the name of how it was written:
                             aof-write-alone, -pending-fsync, -active-child
    aof-fsync-always         an fsync that replies waited for
    fork                     the start of the child that saves
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from server.config.parameters import Config
from server.observe.part import Part

SAMPLES = 160  # of one event


class Sample(NamedTuple):
    """The longest time that an event took in one second."""

    time_s: int  # unix time
    ms: int


class Series:
    """The samples of one event, oldest first. *worst_ms* is since the first or the last reset."""

    __slots__ = ("samples", "worst_ms")

    def __init__(self) -> None:
        self.samples: deque[Sample] = deque(maxlen=SAMPLES)
        self.worst_ms = 0

    def add_sample(self, time_s: int, ms: int) -> None:
        """Add a sample. Of those of one second only the longest stays."""
        self.worst_ms = max(self.worst_ms, ms)
        if self.samples and self.samples[-1].time_s == time_s:
            if ms <= self.samples[-1].ms:
                return
            self.samples.pop()
        self.samples.append(Sample(time_s, ms))


class LatencyEvents(Part):
    """The series of all events that have happened. *threshold_ms* 0: nothing is monitored."""

    __slots__ = ("series", "threshold_ms")

    def __init__(self) -> None:
        self.series: dict[bytes, Series] = {}
        self.threshold_ms = 0

    def configured(self, config: Config) -> None:
        self.threshold_ms = config.latency_monitor_threshold

    def add_if_long(self, event: bytes, duration_ns: int, time_s: int) -> None:
        """*event* has ended at *time_s* (unix time) after *duration_ns*."""
        ms = duration_ns // 1_000_000
        if 0 < self.threshold_ms <= ms:
            self.series.setdefault(event, Series()).add_sample(time_s, ms)

    def reset(self, event: bytes) -> bool:
        """Forget the samples of *event*. False if there are none."""
        return self.series.pop(event, None) is not None
