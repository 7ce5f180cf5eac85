"""The progress of loading data at the start, for INFO, the server log, and a person who waits."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from server.parts.persistence.stored_history import StoredHistory
from server.process.progress_bar import ProgressBar

_log = logging.getLogger("penstock")

LOG_EVERY_S = 1.0
LOG_BESIDE_BAR_S = 30.0  # while a bar shows the same


class LoadProgress:
    """Of *total_bytes* on the disk, which may be several files, *loaded_bytes* have been read."""

    def __init__(
        self,
        total_bytes: int,
        wall_s: Callable[[], float] | None = None,
        monotonic_s: Callable[[], float] | None = None,
    ) -> None:
        self.total_bytes = total_bytes
        self.loaded_bytes = 0
        self.keys_loaded = 0
        self.keys_expired = 0  # not loaded because they had expired
        self.history: StoredHistory | None = None  # where the snapshot was made
        self.rdb_used_memory = 0  # bytes that the server which wrote the snapshot had in use
        self.started_s = int((wall_s or time.time)())  # unix time
        self._monotonic_s = monotonic_s or time.monotonic
        self._began_s = self._logged_s = self._monotonic_s()
        self._bar = ProgressBar("Loading", total_bytes)

    @property
    def elapsed_s(self) -> float:
        return self._monotonic_s() - self._began_s

    @property
    def percent(self) -> float:
        return 100 * self.loaded_bytes / self.total_bytes if self.total_bytes else 100.0

    @property
    def eta_s(self) -> int:
        """Seconds to go at the speed so far; 1 while that is unknown."""
        elapsed = int(self.elapsed_s)
        if not elapsed:
            return 1
        return elapsed * (self.total_bytes - self.loaded_bytes) // (self.loaded_bytes + 1)

    def log_periodically(self) -> None:
        """Show the progress on a terminal, and log it: once a second, or rarely if it is shown."""
        now_s = self._monotonic_s()
        if now_s - self._logged_s >= (LOG_BESIDE_BAR_S if self._bar.is_shown else LOG_EVERY_S):
            self._logged_s = now_s
            _log.info(
                "Loading: %.1f%% of %d bytes, about %d seconds left",
                self.percent,
                self.total_bytes,
                self.eta_s,
            )
        self._bar.show(self.loaded_bytes)

    def end(self) -> None:
        """The load is over, or was given up: nothing more is shown."""
        self._bar.end()
