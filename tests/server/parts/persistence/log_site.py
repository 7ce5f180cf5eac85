"""An append-only file on a fake disk, with a clock and a thread that the test controls."""

from __future__ import annotations

from pathlib import Path

from server.config.parameters import Config
from server.observe.latency_events import LatencyEvents
from server.parts.persistence.append_log import AppendLog
from tests.server.parts.persistence.fake_files import FULL, FakeFiles, LateThread

PATH = Path("log")
SET = [b"SET", b"k", b"v"]


class Site:
    """An AppendLog and what it needs."""

    def __init__(self, policy: str = "everysec", sums: bool = False) -> None:
        self.now_s = 100.0
        self.unix_s = 1_700_000_000
        self.busy = False
        self.synced_calls = 0
        self.config = Config()
        self.config.appendfsync = policy
        self.config.aof_checksums = sums
        self.latency_events = LatencyEvents()
        self.thread = LateThread()
        self.files = FakeFiles()
        self.log = AppendLog(
            self.config, self.files, self.thread,
            lambda: self.now_s, lambda: self.unix_s, lambda: self.busy, self.latency_events,
        )  # fmt: skip
        self.log.listener = self
        self.log.open(self.files.open_to_append(PATH), 0)

    def log_synced(self) -> None:
        self.synced_calls += 1

    def add(self, *argv: bytes, db: int = 0) -> None:
        self.log.add_all([(db, list(argv or SET))])

    def fail(self, step: str, error: OSError = FULL) -> None:
        """Let every step with that name fail."""
        self.files.plan = lambda number, name: error if name == step else None

    def mend(self) -> None:
        self.files.plan = None

    def pass_s(self, seconds: float) -> None:
        self.now_s += seconds
        self.unix_s += int(seconds)

    @property
    def text(self) -> bytes:
        return self.files.get(PATH)

    @property
    def on_disk(self) -> bytes:
        return bytes(self.files.names[PATH].on_disk)

    def syncs(self) -> int:
        return self.files.steps.count("sync")
