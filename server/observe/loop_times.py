"""How often the event loop has turned, and how long it has worked: INFO's eventloop_* fields.

    find what is ready | begin ... sockets are served, answers leave ... end | find what is ready
                         `---------------- a cycle ------------------------'

A tick of cron is a cycle, too. What the loop waits is not counted. A cycle costs two looks at the
CPU's counter, whose pace is found out by comparing it with the monotonic clock when INFO asks.

Only the epoll backend knows when the sockets have been served that were ready together; with the
event loop's own transports these fields do not exist.
"""

from __future__ import annotations

from server.observe.command_stats import CommandStats
from server.observe.part import Part
from server.observe.stats import Rates, Stats
from server.process import ticks


class LoopTimes(Part):
    """Counts since the start or the last CONFIG RESETSTAT."""

    __slots__ = (
        "_begun",
        "_busy",
        "_commands",
        "_first_ns",
        "_first_ticks",
        "_most_us",
        "_stats",
        "cycles",
        "rates",
    )

    def __init__(self, stats: Stats, commands: CommandStats) -> None:
        self._stats = stats
        self._commands = commands
        self._first_ns = ticks.now_ns()
        self._first_ticks = ticks.cpu_ticks()
        self._begun = self._first_ticks
        self.statistics_reset()

    def statistics_reset(self) -> None:
        self.cycles = 0
        self._busy = 0  # ticks
        self._most_us = 0  # that was told
        self.rates = Rates()  # of cycles, and of the us that they took

    def begin(self) -> None:
        """The loop has found something to do; end() will follow."""
        self._begun = ticks.cpu_ticks()

    def end(self) -> None:
        """It is done."""
        self._busy += ticks.cpu_ticks() - self._begun
        self.cycles += 1

    @property
    def busy_us(self) -> int:
        """The time that all cycles took. It never falls, though the pace is known better later."""
        counted = ticks.cpu_ticks() - self._first_ticks
        if counted > 0:
            ns_a_tick = (ticks.now_ns() - self._first_ns) / counted
            self._most_us = max(self._most_us, int(self._busy * ns_a_tick / 1000))
        return self._most_us

    def tick(self, now_ms: int) -> None:
        self.rates.sample(now_ms, cycles=self.cycles, busy_us=self.busy_us)

    @property
    def us_per_cycle(self) -> float:
        """How long a cycle took, over the last samples; 0 if there was none."""
        cycles = self.rates.per_second("cycles")
        return self.rates.per_second("busy_us") / cycles if cycles else 0.0

    @property
    def commands_us(self) -> int:
        """The time that all commands took; a script's has that of its own commands in it."""
        return max(0, self._commands.all_ns() - self._stats.nested_ns) // 1000
