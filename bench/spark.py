"""Measures the Spark side: ``make bench-spark``.

    python -m bench.spark [--entries N] [--rounds N] [--only redis|penstock] [--json FILE]

Each figure is a ratio of two rates that were measured in the same run on the same server, once with
redis-server and once with Penstock. Entries have five small fields; the median of the rounds
counts. The last figure is a latency. See ``spark_workloads.py`` for what is timed. Progress is
printed on standard error.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from bench import spark_cluster
from bench.progress import Progress
from bench.report import describe, machine, neighbours
from bench.servers import PENSTOCK, REDIS, Server
from bench.spark_latency import WARM_UP_S, latency_ms
from bench.spark_workloads import WORKLOADS, Workloads, spark_session

MOST_LATENCY_MS = 500.0
PER_SECOND = 5_000


@dataclass(frozen=True)
class Figure:
    """A ratio of two rates in entries a second. *least* is the aim: the smallest ratio accepted."""

    title: str
    rate: float
    yardstick: float
    least: float | None

    @property
    def ratio(self) -> float:
        return self.rate / self.yardstick

    def line(self) -> str:
        aim = f"{self.least:.1f}" if self.least else "-"
        mark = "<- below the aim" if self.ratio < (self.least or 0) else ""
        return (
            f"{self.title:46}{self.rate:>12,.0f}{self.yardstick:>12,.0f}"
            f"{self.ratio:>8.2f}{aim:>6} {mark}"
        ).rstrip()


HEAD = f"{'entries a second':46}{'rate':>12}{'yardstick':>12}{'ratio':>8}{'aim':>6}"


def figures(work: Workloads, step: Callable[[str], None]) -> list[Figure]:
    """All ratios of one server."""
    rates = work.median_rates(step)
    return [
        Figure("batch, typed / redis-py xrange loop", rates["batch"], rates["redis-py read"], 1.5),
        Figure("streaming, one batch / redis-py xrange loop", rates["stream"],
               rates["redis-py read"], 1.4),
        Figure("batch, Arrow / tuples", rates["batch"], rates["tuples"], 3.0),
        Figure("load of Parquet / redis-py pipeline", rates["load"], rates["redis-py write"], 3.0),
        Figure("streaming sink, exactly once / at least once", rates["exactly once"],
               rates["at least once"], 0.9),
        Figure("streaming sink, ordered / at least once", rates["ordered"],
               rates["at least once"], None),
        Figure("streaming sink, atomic / at least once", rates["atomic"],
               rates["at least once"], None),
        Figure("load of Parquet, exactly once / at least once", rates["load"],
               rates["load at least once"], None),
    ]  # fmt: skip


def cluster_figure(
    spark: SparkSession, port: int, entries: int, rounds: int, step: Callable[[str], None]
) -> Figure:
    """How fast a cluster is read, beside one server, by the same two cores."""
    rate, yardstick = spark_cluster.rates(spark, port, entries, rounds, step)
    return Figure("batch, cluster of three primaries / one server", rate, yardstick, 0.9)


def steps_of(name: str, rounds: int) -> int:
    """The number of steps of one server: Spark, entries, workloads of each round, latency."""
    return 3 + rounds * (len(WORKLOADS) + 2 * (name == "redis"))


def measure(
    name: str, command: str, arguments: argparse.Namespace, progress: Progress
) -> dict[str, object]:
    """Print and return the figures of one server."""

    def step(what: str) -> None:
        progress.step(f"{name}: {what}")

    with Server(name, command) as server, tempfile.TemporaryDirectory() as folder:
        step("Spark starts")
        spark = spark_session()
        step(f"{arguments.entries:,} entries are made")
        work = Workloads(spark, server.port, Path(folder), arguments.entries, arguments.rounds)
        found = figures(work, step)
        if name == "redis":  # a node of a cluster is none of Penstock's
            found.append(
                cluster_figure(spark, server.port, arguments.entries, arguments.rounds, step)
            )
        step(f"latency, for {arguments.seconds + WARM_UP_S:.0f} s")
        p50, p99 = latency_ms(spark, server.port, Path(folder), PER_SECOND, arguments.seconds)
        print(f"\n{describe(server)}\n{HEAD}")
        for figure in found:
            print(figure.line(), flush=True)
        mark = "" if p50 <= MOST_LATENCY_MS else "<- above the aim"
        print(f"latency at {PER_SECOND:,} entries a second: p50 {p50:.0f} ms (aim"
              f" {MOST_LATENCY_MS:.0f}), p99 {p99:.0f} ms {mark}".rstrip(), flush=True)  # fmt: skip
    return {
        "server": name,
        "figures": [asdict(figure) | {"ratio": figure.ratio} for figure in found],
        "latency_ms": {"p50": p50, "p99": p99},
    }


def main() -> None:
    """Measure both servers, or only one of them."""
    parser = argparse.ArgumentParser(prog="python -m bench.spark", description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=20, help="of the latency measurement")
    parser.add_argument("--only", choices=["redis", "penstock"])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    print(f"{machine()}\n{neighbours()}")
    servers = {"redis": REDIS, "penstock": PENSTOCK}
    chosen = {arguments.only: servers[arguments.only]} if arguments.only else servers
    with Progress(sum(steps_of(name, arguments.rounds) for name in chosen)) as progress:
        results = [measure(name, command, arguments, progress) for name, command in chosen.items()]
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
