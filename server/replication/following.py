"""The primary that this server follows, and how the link to it stands."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class LinkState(Enum):
    """The values are those of ROLE."""

    CONNECT = "connect"  # to be dialled
    CONNECTING = "connecting"
    HANDSHAKE = "handshake"  # REPLCONF, PSYNC
    SYNC = "sync"  # a copy of all data comes
    CONNECTED = "connected"  # the stream comes


class Following:
    """What INFO and ROLE tell of the primary. Times are monotonic ms."""

    def __init__(self, host: str, port: int, now_ms: int) -> None:
        self.host = host
        self.port = port
        self.state = LinkState.CONNECT
        self.heard_ms = now_ms  # when something came last
        self.down_since_ms = now_ms
        self.copy_bytes = -1  # of the copy that comes; -1: unknown
        self.copied_bytes = 0
        self.copied_ms = now_ms
        self.is_failover = False  # the primary is one that we ask to take over

    @property
    def is_up(self) -> bool:
        """Whether the stream of the primary comes."""
        return self.state is LinkState.CONNECTED

    def set_state(self, state: LinkState, now_ms: int) -> None:
        """The link has come to *state*."""
        if self.is_up and state is not LinkState.CONNECTED:
            self.down_since_ms = now_ms
        self.state = state

    def info(self, now_ms: int) -> Iterable[tuple[str, object]]:
        """The fields of INFO replication about the link."""
        yield "master_host", self.host
        yield "master_port", self.port
        yield "master_link_status", "up" if self.is_up else "down"
        ago_s = (now_ms - self.heard_ms) // 1000
        yield "master_last_io_seconds_ago", ago_s if self.is_up else -1
        yield "master_sync_in_progress", int(self.state is LinkState.SYNC)
        if self.state is LinkState.SYNC:
            left = max(0, self.copy_bytes - self.copied_bytes) if self.copy_bytes >= 0 else 0
            total = max(self.copy_bytes, 0)
            yield "master_sync_total_bytes", total
            yield "master_sync_read_bytes", self.copied_bytes
            yield "master_sync_left_bytes", left
            yield "master_sync_perc", f"{100 * self.copied_bytes / total if total else 0:.2f}"
            yield "master_sync_last_io_seconds_ago", (now_ms - self.copied_ms) // 1000
        if not self.is_up:
            yield "master_link_down_since_seconds", (now_ms - self.down_since_ms) // 1000
