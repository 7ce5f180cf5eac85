"""SLOWLOG: the commands that took longest, the newest first."""

from __future__ import annotations

from collections.abc import Sequence

from server.config.parameters import Config
from server.observe.command_log import CommandLog
from server.observe.fact import COUNT, MILLISECONDS, Facts, counter, gauge


class SlowLog(CommandLog):
    """Keeps the last slowlog-max-len entries. *slower_than_us* below 0: none are added."""

    def __init__(self) -> None:
        super().__init__()
        self.slower_than_us = -1
        self.statistics_reset()

    def configured(self, config: Config) -> None:
        super().configured(config)
        self.slower_than_us = config.slowlog_log_slower_than
        self._most_entries = config.slowlog_max_len

    def statistics_reset(self) -> None:
        self.slow = 0  # commands that were added
        self.slow_us = 0  # what they took together
        self.slowest_us = 0

    def add_if_slow(
        self, time_s: int, duration_us: int, words: Sequence[bytes], address: str, name: bytes
    ) -> bool:
        """Add a command, if it took long enough to be kept. Returns whether it did.

        Its secrets must be hidden already.
        """
        if not 0 <= self.slower_than_us <= duration_us or not self._most_entries:
            return False
        self.slow += 1
        self.slow_us += duration_us
        self.slowest_us = max(self.slowest_us, duration_us)
        self.add(time_s, duration_us, words, address, name)
        return True


SLOW = Facts[SlowLog](
    counter("slowlog_commands_count", COUNT, lambda log: log.slow,
            "Commands that were slow enough for SLOWLOG"),
    counter("slowlog_commands_time_ms_sum", MILLISECONDS, lambda log: log.slow_us // 1000,
            "What all commands took together that were slow enough for SLOWLOG"),
    gauge("slowlog_commands_time_ms_max", MILLISECONDS, lambda log: log.slowest_us // 1000,
          "What the slowest command took that was slow enough for SLOWLOG"),
)  # fmt: skip
