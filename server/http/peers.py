"""All connections that speak HTTP, and how long each may keep the server waiting."""

from __future__ import annotations

from typing import Protocol

# These defend the server's files and memory against those who connect and do nothing.
MOST = 256  # connections at a time
PATIENCE_MS = 15_000  # for a request, or for each 16 KB of one
STALLED_MS = 60_000  # for a peer to take more of its answer


class Peer(Protocol):
    """One connection. *heard_ms* is when enough has come, or was taken, to wait on: ms."""

    heard_ms: int
    is_waiting: bool  # for a request
    is_backed_up: bool  # the peer has not taken all that it was sent

    def disconnect(self) -> None:
        """Close at once."""


class Peers:
    """The connections that are open. *now_ms* is the monotonic clock at the last tick."""

    def __init__(self) -> None:
        self.now_ms = 0
        self._all: set[Peer] = set()

    def __len__(self) -> int:
        return len(self._all)

    @property
    def is_full(self) -> bool:
        return len(self._all) >= MOST

    def joined(self, peer: Peer) -> None:
        self._all.add(peer)

    def left(self, peer: Peer) -> None:
        self._all.discard(peer)

    def tick(self, now_ms: int) -> None:
        """Disconnect those that send no request, or take no more of an answer, for too long."""
        self.now_ms = now_ms
        for peer in list(self._all):
            idle_ms = now_ms - peer.heard_ms
            if peer.is_backed_up:
                is_over = idle_ms > STALLED_MS
            else:
                is_over = peer.is_waiting and idle_ms > PATIENCE_MS
            if is_over:
                peer.disconnect()

    def close(self) -> None:
        """Disconnect all."""
        for peer in list(self._all):
            peer.disconnect()
