"""The latency of an entry from its XADD, through a streaming query, to XADD into another stream.

    python -m bench.spark_latency [--only SERVER] [--seconds N] [--warm-up N]
                                  [--plain] [--set KEY=VALUE] [--option NAME=VALUE]

A thread adds entries at a fixed rate, each with the time at which it was due, so that delays of the
producer count as latency. The query copies them with Spark's default trigger, exactly once. The id
of the copy says when the server has written it; both clocks are this machine's.

The checkpoint is written as the jobs of the command line write it; with ``--plain``, as Spark does
by default. Run by itself, it also says where the time of a batch goes. ``--set`` sets one of
Spark's settings, ``--option`` an option of the sink.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import redis
from pyspark.sql import SparkSession

from bench.report import describe
from bench.servers import PENSTOCK, REDIS, Server
from pyspark_penstock.jobs.session import quick_checkpoint, session

IN, OUT = "latency:in", "latency:out"
WARM_UP_S = 15.0
BURST_S = 0.01
PER_SECOND = 5_000
PHASES = ("latestOffset", "walCommit", "queryPlanning", "addBatch", "commitBatch", "commitOffsets")


class Producer(threading.Thread):
    """Adds *per_second* entries a second until it is stopped."""

    def __init__(self, port: int, per_second: int) -> None:
        super().__init__(daemon=True)
        self._port = port
        self._burst = int(per_second * BURST_S)
        self._stopped = threading.Event()

    def run(self) -> None:
        """Add a burst of entries every BURST_S seconds; a late burst is added at once."""
        due = time.time()
        with redis.Redis(port=self._port) as client:
            while not self._stopped.is_set():
                with client.pipeline(transaction=False) as pipeline:
                    for _ in range(self._burst):
                        pipeline.xadd(IN, {"due": int(due * 1_000)})
                    pipeline.execute()
                due += BURST_S
                time.sleep(max(0.0, due - time.time()))

    def stop(self) -> None:
        """Stop after the present burst."""
        self._stopped.set()
        self.join()


class Latency(NamedTuple):
    """What was measured, in milliseconds: *batch* is a whole batch, *phases* its parts."""

    p50: float
    p99: float
    batch: float
    phases: Mapping[str, float]


def measured(
    spark: SparkSession,
    port: int,
    folder: Path,
    per_second: int,
    seconds: float,
    options: Mapping[str, str] | None = None,
    *,
    plain: bool = False,
    warm_up: float = WARM_UP_S,
) -> Latency:
    """The latency over *seconds*, after *warm_up* seconds."""
    if not plain:
        quick_checkpoint(spark, str(folder))
    at = {"host": "127.0.0.1", "port": str(port)}
    reader = spark.readStream.format("penstock").options(**at, subscribe=IN).schema("due long")
    writer = reader.load().writeStream.format("penstock").options(**at, stream=OUT)
    writer = writer.options(**(options or {}))
    query = writer.option("checkpointLocation", str(folder / "latency")).start()
    producer = Producer(port, per_second)
    producer.start()
    try:
        time.sleep(warm_up)
        begin = int(time.time() * 1_000)
        time.sleep(seconds)
    finally:
        producer.stop()
        batches = [json.loads(one.json) for one in query.recentProgress]
        query.stop()
    with redis.Redis(port=port) as client:
        copies = client.xrange(OUT, begin, "+")
        client.delete(IN, OUT)
    taken = sorted(int(i.split(b"-")[0]) - int(fields[b"due"]) for i, fields in copies)
    times = [one["durationMs"] for one in batches if one["numInputRows"]][-int(seconds) :]
    return Latency(
        taken[len(taken) // 2],
        taken[int(len(taken) * 0.99)],
        middle(times, "triggerExecution"),
        {phase: middle(times, phase) for phase in PHASES},
    )


def middle(times: Sequence[Mapping[str, int]], phase: str) -> float:
    """The median of a phase's times."""
    return median(one.get(phase, 0) for one in times) if times else 0.0


def latency_ms(
    spark: SparkSession, port: int, folder: Path, per_second: int, seconds: int
) -> tuple[float, float]:
    """The median and the 99th percentile of the latency over *seconds*, after a warm-up."""
    found = measured(spark, port, folder, per_second, seconds)
    return found.p50, found.p99


def pair(text: str) -> tuple[str, str]:
    """A name and a value."""
    name, _, value = text.partition("=")
    return name, value


def main() -> None:
    """Measure both servers, or only one of them."""
    parser = argparse.ArgumentParser(prog="python -m bench.spark_latency", description=__doc__)
    parser.add_argument("--only", choices=["redis", "penstock"])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--warm-up", type=float, default=WARM_UP_S, metavar="SECONDS")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--set", type=pair, action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--option", type=pair, action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    spark = session("latency", master="local[2]", settings=dict(given.set))
    for name, command in {"redis": REDIS, "penstock": PENSTOCK}.items():
        if given.only in {None, name}:
            with Server(name, command) as server, tempfile.TemporaryDirectory() as folder:
                found = measured(
                    spark, server.port, Path(folder), PER_SECOND, given.seconds,
                    dict(given.option), plain=given.plain, warm_up=given.warm_up,
                )  # fmt: skip
                parts = "  ".join(f"{phase} {ms:.0f}" for phase, ms in found.phases.items())
                print(f"{describe(server)}: p50 {found.p50:.0f} ms, p99 {found.p99:.0f} ms")
                print(f"  a batch {found.batch:.0f} ms: {parts}", flush=True)


if __name__ == "__main__":
    main()
