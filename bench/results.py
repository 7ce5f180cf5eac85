"""What a measurement yields: figures of both servers, their ratio, and the ratio aimed at."""

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


@dataclass(frozen=True)
class Speed:
    """A workload at a pipeline depth: the best rate and the lowest CPU cost of all rounds."""

    title: str
    depth: int
    ours: Sample
    redis: Sample
    least: float
    spread: float  # of Redis's rate over the rounds: (best - worst) / best; the noise

    @property
    def rate_ratio(self) -> float:
        return self.ours.rate / self.redis.rate

    @property
    def cost_ratio(self) -> float:
        return self.ours.cost / self.redis.cost

    @property
    def missed(self) -> bool:
        return self.rate_ratio < self.least


@dataclass(frozen=True)
class Comparison:
    """A figure of which less is better: bytes of memory, milliseconds of latency."""

    title: str
    unit: str
    ours: float
    redis: float
    most: float | None  # the ratio aimed at, if there is one

    @property
    def ratio(self) -> float:
        return self.ours / self.redis

    @property
    def missed(self) -> bool:
        return self.most is not None and self.ratio > self.most
