"""The primary that this server follows, and how the link to it stands."""

from __future__ import annotations

from enum import Enum


class LinkState(Enum):
    """The values are those of ROLE."""

    CONNECT = "connect"  # to be dialled
    CONNECTING = "connecting"
    HANDSHAKE = "handshake"  # REPLCONF, PSYNC
    SYNC = "sync"  # a copy of all data comes
    CONNECTED = "connected"  # the stream comes


class Following:
    """What INFO and ROLE report about the primary. Times are monotonic ms."""

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

    @property
    def is_copying(self) -> bool:
        """Whether a copy of all data comes."""
        return self.state is LinkState.SYNC

    def set_state(self, state: LinkState, now_ms: int) -> None:
        """The link has come to *state*."""
        if self.is_up and state is not LinkState.CONNECTED:
            self.down_since_ms = now_ms
        self.state = state

    @property
    def copy_total(self) -> int:
        """Bytes of the copy that comes; 0 while that is unknown."""
        return max(self.copy_bytes, 0)

    @property
    def copy_left(self) -> int:
        """Bytes of it that are missing; 0 while that is unknown."""
        return max(0, self.copy_total - self.copied_bytes)

    @property
    def copy_percent(self) -> float:
        """How much of it is there."""
        return 100 * self.copied_bytes / self.copy_total if self.copy_total else 0.0
