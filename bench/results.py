"""What a measurement yields: figures of ours and of every peer, and the ratio to the best of them.

Of all figures that are aimed at, less is better: microseconds of CPU a request, bytes of memory,
milliseconds. So a ratio is ours over the least of the peers', and an aim is the most it may be.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """One round of load on one server: seconds of wall time and of the server's CPU."""

    requests: float
    seconds: float
    cpu: float

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.seconds

    @property
    def cost(self) -> float:
        """Microseconds of server CPU a request."""
        return self.cpu / self.requests * 1e6

    @property
    def busy(self) -> float:
        """Share of the wall time in which the server used a CPU."""
        return self.cpu / self.seconds


class Aimed:
    """A ratio to the best of the peers, and the most that it may be, if there is an aim."""

    most: float | None

    @property
    def ratio(self) -> float:
        raise NotImplementedError

    @property
    def missed(self) -> bool:
        return self.most is not None and self.ratio > self.most


@dataclass(frozen=True)
class Speed(Aimed):
    """A workload at a pipeline depth: of each server the best rate and the lowest cost."""

    title: str
    depth: int
    ours: Sample
    peers: list[Sample]
    most: float | None
    noise: float  # how much the best peer's cost differed over the rounds: (worst - best) / best

    @property
    def ratio(self) -> float:
        """Of the CPU that a request costs."""
        return self.ours.cost / min(peer.cost for peer in self.peers)

    @property
    def rate_ratio(self) -> float:
        return self.ours.rate / max(peer.rate for peer in self.peers)


@dataclass(frozen=True)
class Comparison(Aimed):
    """A figure of each server: bytes of memory, milliseconds of latency."""

    title: str
    unit: str
    ours: float
    peers: list[float]
    most: float | None = None

    @property
    def ratio(self) -> float:
        least = min(self.peers)
        return self.ours / least if least else float("inf")
