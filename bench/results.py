"""Results of measurements: our figure, those of the peers, and the ratio to the best peer.

Less is better for all figures with an aim: microseconds of CPU per request, bytes of memory,
milliseconds. A ratio is our figure divided by the smallest of the peers' figures. An aim is the
largest ratio that is accepted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    """A result with a ratio to the best peer. *most* is the aim: the largest ratio accepted."""

    most: float | None

    @property
    def ratio(self) -> float:
        raise NotImplementedError

    @property
    def missed(self) -> bool:
        return self.most is not None and self.ratio > self.most


@dataclass(frozen=True)
class Speed(Aimed):
    """A workload at a pipeline depth, with the best rate and the median cost of each server.

    None stands for a peer that does not know the command. Without any there are no ratios.
    """

    title: str
    depth: int
    ours: Sample
    peers: Sequence[Sample | None]
    most: float | None
    noise: float  # how much the best peer's cost differed over the rounds: (worst - best) / best

    @property
    def ratio(self) -> float:
        """The ratio of the CPU time that a request costs."""
        return self.ours.cost / min((peer.cost for peer in self.peers if peer), default=math.nan)

    @property
    def rate_ratio(self) -> float:
        return self.ours.rate / max((peer.rate for peer in self.peers if peer), default=math.nan)


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
