"""python -m bench.acks: what it costs that a replica confirms each write (CLIENT ACKS).

A primary with one replica, both on the first CPU, is loaded by redis-benchmark from the second:
with SET and with XADD of three fields, at several depths of pipelines, on 50 connections. In turns
its replies leave at once, and when the replica has confirmed them (client-acks 1). What counts is
the median of the ratios of neighbouring rounds.
"""

from __future__ import annotations

import argparse
import os
import sys
from statistics import median

from bench import progress, report
from bench.redis_benchmark import RedisBenchmark
from bench.replication import follow
from bench.servers import PENSTOCK, Server, pin_generator
from bench.workloads import FIELDS

LEAST = 0.7  # of the rate without confirmations, at depth 16: the aim
LOADS = {
    "SET": RedisBenchmark(("SET", "key:__rand_int__", "xxx")),
    "XADD": RedisBenchmark(("XADD", "stream:__rand_int__", "*", *FIELDS), keys=100),
}
SETTINGS = ("--repl-diskless-sync-delay", "0")
WARM_UP = 20_000


def main() -> int:
    """Measure, and print a line for each load and depth. The exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.acks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round (%(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="(default: %(default)s)")
    parser.add_argument("--depths", type=int, nargs="+", default=[1, 16])
    options = parser.parse_args()
    pin_generator()
    print(report.machine())
    print(report.neighbours())
    command = os.environ.get("PENSTOCK_COMMAND", PENSTOCK)
    with (
        Server("primary", command, *SETTINGS) as primary,
        Server("replica", command, *SETTINGS) as replica,
    ):
        follow(replica, primary)
        print(f"{'requests a second':22}{'at once':>12}{'confirmed':>12}{'ratio':>8}")
        for name, load in LOADS.items():
            for depth in options.depths:
                rates = _rates(primary, load, depth, options.seconds, options.rounds)
                print(_line(f"{name}, depth {depth}", rates, depth))
    return 0


def _line(title: str, rates: list[tuple[float, float]], depth: int) -> str:
    ratio = median(confirmed / plain for plain, confirmed in rates)
    plain, confirmed = (median(rate) for rate in zip(*rates, strict=True))
    missed = f"  less than {LEAST}" if depth == 16 and ratio < LEAST else ""
    return f"{title:22}{plain:12,.0f}{confirmed:12,.0f}{ratio:8.2f}{missed}"


def _rates(
    primary: Server, load: RedisBenchmark, depth: int, seconds: float, rounds: int
) -> list[tuple[float, float]]:
    """Requests a second, at once and confirmed, of each round."""
    requests = max(WARM_UP, int(WARM_UP / _run(primary, load, depth, WARM_UP, "off") * seconds))
    found = []
    for number in range(rounds):
        progress.say(f"depth {depth}: {number + 1} of {rounds}")
        times = {}
        for acks in ("off", "1") if number % 2 else ("1", "off"):
            times[acks] = _run(primary, load, depth, requests, acks)
        found.append((requests / times["off"], requests / times["1"]))
    progress.clear()
    return found


def _run(primary: Server, load: RedisBenchmark, depth: int, requests: int, acks: str) -> float:
    with primary.client() as client:
        client.call("CONFIG", "SET", "client-acks", acks)
        took = load.run(primary.port, requests, depth)
        client.call("CONFIG", "SET", "client-acks", "off")
    with primary.client() as client:
        client.call("FLUSHALL")
        client.call("WAIT", 1, 60_000)
    return took


if __name__ == "__main__":
    sys.exit(main())
