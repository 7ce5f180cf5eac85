"""The counters of INFO stats, and the rates that are sampled from them."""

from __future__ import annotations

import logging
from collections import deque

from server.observe.part import Part

_log = logging.getLogger("penstock")

SAMPLES = 16  # of the instantaneous rates, as in redis
MOST_CODES = 128  # of errors: scripts can return any
TOO_MANY_CODES = "ERRORSTATS_DISABLED"  # stands in place of them all when there are more


class Rates:
    """Samples counters, which only grow, at each tick of cron."""

    def __init__(self) -> None:
        self._last_ms = 0
        self._last: dict[str, int] = {}  # the counters then
        self._samples: deque[dict[str, float]] = deque(maxlen=SAMPLES)

    def sample(self, now_ms: int, **counters: int) -> None:
        """Take one sample of *counters*, the same each time; *now_ms* is the monotonic clock's."""
        if self._last and now_ms > self._last_ms:
            seconds = (now_ms - self._last_ms) / 1000
            growth = {name: (new - self._last[name]) / seconds for name, new in counters.items()}
            self._samples.append(growth)
        self._last_ms, self._last = now_ms, counters

    def per_second(self, name: str) -> float:
        """How much the counter *name* has grown a second, over the last samples."""
        return sum([sample[name] for sample in self._samples]) / SAMPLES


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
        self.reads = 0  # from clients' sockets
        self.batches = 0  # of commands that a client had sent at once
        self.batched = 0  # commands in them
        self.writes = 0
        self.errors = 0
        self.errors_by_code: dict[str, int] = {}
        self.output_limit_disconnections = 0
        self.query_limit_disconnections = 0
        self.expire_cycle_ms = 0.0
        self.expire_time_cap_reached = 0
        self.expired_in_cycles = 0  # keys, that the active expiry cycle has found
        self.expired_fields_in_cycles = 0
        self.stale_percent = 0.0  # of the keys that may expire, as the last cycles have found them
        self.nested_ns = 0  # that commands inside scripts took
        self.prefetches = 0  # times that memory was fetched ahead, for the keys of a pipeline
        self.prefetched_keys = 0
        self.rates = Rates()  # of commands, input and output, as tick() samples them

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
        self.rates.sample(
            now_ms, commands=self.commands, input=self.input_bytes, output=self.output_bytes
        )
