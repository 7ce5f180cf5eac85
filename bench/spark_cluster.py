"""A cluster of three primaries on this machine, read by Spark, beside one server with its streams.

All servers are pinned to one processor, and Spark has the same two cores for both, so the ratio of
the rates is that of the rates an executor core.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any

import redis
from pyspark.sql import SparkSession

from bench.servers import REDIS, START_SECONDS, Server, ServerError
from bench.spark_workloads import PAGE, SCHEMA, fields
from pyspark_penstock.connect.slots import key_slot
from tests.ports import free_port

PRIMARIES = 3
STREAMS = 2 * PRIMARIES
SLOTS = 16_384
POLL_S = 0.05

Options = dict[str, str]


def first_slot(primary: int) -> int:
    """Where the slots of a primary begin."""
    return SLOTS * primary // PRIMARIES


def names() -> list[str]:
    """Streams, of which each primary has as many; those of the first, of the second, and so on."""
    by_primary: list[list[str]] = [[] for _ in range(PRIMARIES)]
    number = 0
    while any(len(each) < STREAMS // PRIMARIES for each in by_primary):
        name, number = f"cluster:{number}", number + 1
        its = by_primary[key_slot(name.encode()) * PRIMARIES // SLOTS]
        if len(its) < STREAMS // PRIMARIES:
            its.append(name)
    return [name for its in by_primary for name in its]


@contextmanager
def cluster() -> Iterator[list[Server]]:
    """Three primaries, which have equal shares of the slots."""
    with ExitStack() as parts:
        buses = [free_port() for _ in range(PRIMARIES)]
        options = [("--cluster-enabled", "yes", "--cluster-port", str(bus)) for bus in buses]
        nodes = [parts.enter_context(Server("primary", REDIS, *each)) for each in options]
        clients = [parts.enter_context(redis.Redis(port=node.port)) for node in nodes]
        for n, client in enumerate(clients):
            ask(client, "CLUSTER", "ADDSLOTSRANGE", first_slot(n), first_slot(n + 1) - 1)
            ask(client, "CLUSTER", "SET-CONFIG-EPOCH", n + 1)
            ask(clients[0], "CLUSTER", "MEET", "127.0.0.1", nodes[n].port, buses[n])
        end = time.monotonic() + START_SECONDS
        while not all(b"cluster_state:ok" in ask(each, "CLUSTER", "INFO") for each in clients):
            if time.monotonic() > end:
                raise ServerError("the cluster does not serve")
            time.sleep(POLL_S)
        yield nodes


def ask(client: Any, *words: object) -> bytes:
    """A reply as bytes."""
    reply: bytes = client.execute_command(*words, NEVER_DECODE=True)
    return reply


def fill(port_of: Callable[[int], int], entries: int) -> None:
    """Add the entries, an equal part to each stream; *port_of* is the port of a primary."""
    for n, name in enumerate(names()):
        with redis.Redis(port=port_of(n * PRIMARIES // STREAMS)) as client:
            for first in range(n, entries, STREAMS * PAGE):
                with client.pipeline(transaction=False) as pipeline:
                    for i in range(first, min(first + STREAMS * PAGE, entries), STREAMS):
                        pipeline.xadd(name, fields(i))
                    pipeline.execute()


def seconds_to_read(spark: SparkSession, at: Options) -> float:
    """Seconds of a typed batch read of all streams into Spark's ``noop`` sink."""
    reader = spark.read.format("penstock").options(**at, subscribe=",".join(names()))
    frame = reader.schema(SCHEMA).load()
    started = time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started


def rates(
    spark: SparkSession, port: int, entries: int, rounds: int, step: Callable[[str], None]
) -> tuple[float, float]:
    """The median rates of the cluster, and of the server at *port*, in entries a second."""
    with cluster() as nodes:
        fill(lambda primary: nodes[primary].port, entries)
        fill(lambda _: port, entries)
        both = {
            "a cluster of three": {"bootstrap.servers": f"127.0.0.1:{nodes[0].port}"},
            "one server": {"bootstrap.servers": f"127.0.0.1:{port}"},
        }
        found: dict[str, list[float]] = {name: [] for name in both}
        for turn in range(rounds):
            for name in reversed(both) if turn % 2 else both:
                step(f"{name}, round {turn + 1} of {rounds}")
                found[name].append(entries / seconds_to_read(spark, both[name]))
    of_cluster, of_one = (median(each) for each in found.values())
    return of_cluster, of_one
