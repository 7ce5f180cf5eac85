"""The counters of INFO stats, and the rates that are sampled from them."""

from __future__ import annotations

import logging
from collections import deque

from server.observe.part import Part

_log = logging.getLogger("penstock")

MOST_CODES = 128  # of errors: scripts can return any
TOO_MANY_CODES = "ERRORSTATS_DISABLED"  # stands in place of them all when there are more
SAMPLES = 16  # the instantaneous rates are means over this many samples, as in redis


class Stats(Part):
    """Counts since the start or the last CONFIG RESETSTAT."""

    def __init__(self) -> None:
        self.statistics_reset()

    def statistics_reset(self) -> None:
        self.commands = 0
        self.connections = 0
        self.rejected_connections = 0
        self.input_bytes = 0
        self.output_bytes = 0
        self.errors = 0
        self.errors_by_code: dict[str, int] = {}
        self.output_limit_disconnections = 0
        self.query_limit_disconnections = 0
        self.expire_cycle_ms = 0.0
        self.expire_time_cap_reached = 0
        self._last: tuple[int, int, int, int] | None = None  # ms, commands, input, output
        self._rates: deque[tuple[float, float, float]] = deque(maxlen=SAMPLES)

    def count_error(self, code: str) -> None:
        """An error reply with *code* was given."""
        self.errors += 1
        counts = self.errors_by_code
        if code in counts:
            counts[code] += 1
        elif TOO_MANY_CODES in counts:
            return
        elif len(counts) < MOST_CODES:
            counts[code] = 1
        else:
            self.errors_by_code = {TOO_MANY_CODES: 1}
            _log.warning(
                "Errors are not counted by their codes any more: there are more than %d of them",
                MOST_CODES,
            )

    def tick(self, now_ms: int) -> None:
        """Take one sample for the instantaneous rates; *now_ms* is the monotonic clock's."""
        now = (now_ms, self.commands, self.input_bytes, self.output_bytes)
        if self._last is not None and now_ms > self._last[0]:
            seconds = (now_ms - self._last[0]) / 1000
            commands, received, sent = (
                (new - old) / seconds for new, old in zip(now[1:], self._last[1:], strict=True)
            )
            self._rates.append((commands, received / 1024, sent / 1024))
        self._last = now

    @property
    def rates(self) -> tuple[float, float, float]:
        """Commands, KiB in and KiB out a second, over the last samples."""
        if not self._rates:
            return (0.0, 0.0, 0.0)
        columns = zip(*self._rates, strict=True)
        commands, received, sent = (sum(column) / SAMPLES for column in columns)
        return (commands, received, sent)
