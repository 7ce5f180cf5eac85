"""Rates and CPU costs: each workload on both servers by turns, the best round of each counts.

The number of requests is set by a warm-up, so that a round lasts about as long as it is told to.
Rounds alternate (A B, B A, A B ...), since what else runs on the machine changes with time; a
round that was disturbed is slower than one that was not, so the best is the least disturbed.
"""

from __future__ import annotations

from bench.results import Sample, Speed
from bench.servers import Server, cpu_seconds
from bench.workloads import Workload

FIRST_REQUESTS = 1000
WARM_UP_SECONDS = 0.1


def measure(
    workload: Workload, depth: int, ours: Server, redis: Server, seconds: float, rounds: int
) -> Speed:
    """Compare the servers on one workload at one depth, in *rounds* rounds of *seconds* each."""
    requests = max(int(_warm_up(workload, depth, redis) * seconds), FIRST_REQUESTS)
    _run(workload, depth, ours, requests // 4)
    samples: dict[str, list[Sample]] = {ours.name: [], redis.name: []}
    for number in range(rounds):
        for server in (ours, redis) if number % 2 == 0 else (redis, ours):
            samples[server.name].append(_run(workload, depth, server, requests))
    rates = [sample.rate for sample in samples[redis.name]]
    return Speed(
        title=workload.title,
        depth=depth,
        ours=_best(samples[ours.name]),
        redis=_best(samples[redis.name]),
        least=workload.least[depth],
        spread=1 - min(rates) / max(rates),
    )


def _warm_up(workload: Workload, depth: int, server: Server) -> float:
    """Requests a second, roughly, after the server has become warm."""
    requests = FIRST_REQUESTS
    while (sample := _run(workload, depth, server, requests)).seconds < WARM_UP_SECONDS:
        requests *= 4
    return sample.rate


def _run(workload: Workload, depth: int, server: Server, requests: int) -> Sample:
    with server.client() as client:
        client.call("FLUSHALL")
        client.load(workload.setup(requests))
    before = cpu_seconds(server.pid)
    seconds = workload.load.run(server.port, requests, depth)
    return Sample(requests, seconds, cpu_seconds(server.pid) - before)


def _best(samples: list[Sample]) -> Sample:
    """The best rate and the lowest cost, be they of one round or of two."""
    fastest = max(samples, key=lambda sample: sample.rate)
    cost = min(sample.cpu / sample.requests for sample in samples)
    return Sample(fastest.requests, fastest.seconds, cost * fastest.requests)
