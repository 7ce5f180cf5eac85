"""Rates and CPU costs: each workload runs on all servers in turn, in many rounds.

A warm-up sets the number of requests, so that a round takes about the wanted time. The order of the
servers changes from round to round, since the load of the machine changes with time.

Of the rates the best counts: other load only makes a round slower. Of the costs the median counts.
Chance makes a round cheap, too, when many requests happen to come at once; and the least of all
rounds of all peers would be compared with the least of fewer rounds of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from bench.client import RefusedError
from bench.results import Sample, Speed
from bench.servers import Server, cpu_seconds, in_turns
from bench.workloads import Workload

FIRST_REQUESTS = 1000
WARM_UP_SECONDS = 0.1


def measure(
    workload: Workload, depth: int, servers: Sequence[Server], seconds: float, rounds: int
) -> Speed:
    """Compare the first of *servers*, ours, with the others on one workload at one depth.

    There are *rounds* rounds of about *seconds* each. Who does not know the command is left out.
    """
    able = [server for server in servers if _knows(workload, server)]
    requests = max(int(rate(workload, depth, able[-1]) * seconds), FIRST_REQUESTS)
    for server in able[:-1]:
        run(workload, depth, server, requests // 4)
    samples: dict[Server, list[Sample]] = {server: [] for server in servers}
    for server in in_turns(able, rounds):
        samples[server].append(run(workload, depth, server, requests))
    ours = _summary(samples[servers[0]])
    peers = [_summary(samples[peer]) if peer in able else None for peer in servers[1:]]
    best = min(able[1:] or able, key=lambda peer: _cost(samples[peer]))
    costs = [sample.cost for sample in samples[best]]
    return Speed(
        title=workload.title,
        depth=depth,
        ours=ours,
        peers=peers,
        most=workload.most[depth] if able[1:] else None,
        noise=max(costs) / min(costs) - 1,
    )


def rate(workload: Workload, depth: int, server: Server) -> float:
    """About how many requests a second the server answers, after a warm-up."""
    requests = FIRST_REQUESTS
    while (sample := run(workload, depth, server, requests)).seconds < WARM_UP_SECONDS:
        requests *= 4
    return sample.rate


def _knows(workload: Workload, server: Server) -> bool:
    """Whether the server knows the command. If not, it is left out."""
    if not workload.trial:
        return True
    with server.client() as client:
        try:
            client.call(*workload.trial)
        except RefusedError:
            return False
    return True


def run(workload: Workload, depth: int, server: Server, requests: int) -> Sample:
    """One round on the emptied server."""
    prepare(workload, server, requests)
    before = cpu_seconds(server.pid)
    seconds = workload.load.run(server.load_port, requests, depth)
    return Sample(requests, seconds, cpu_seconds(server.pid) - before)


def prepare(workload: Workload, server: Server, requests: int) -> None:
    """Empty the server, and give it what *requests* requests of the workload need."""
    with server.client() as client:
        client.call("FLUSHALL")
        client.call("CONFIG", "SET", "maxmemory", 0)  # the workload before may have limited it
        client.load(workload.setup(requests))


def _summary(samples: list[Sample]) -> Sample:
    """The best rate, and the median of the costs."""
    fastest = max(samples, key=lambda sample: sample.rate)
    cpu = _cost(samples) / 1e6 * fastest.requests
    return Sample(fastest.requests, fastest.seconds, cpu)


def _cost(samples: list[Sample]) -> float:
    """Microseconds of CPU a request: the median."""
    return median(sample.cost for sample in samples)
