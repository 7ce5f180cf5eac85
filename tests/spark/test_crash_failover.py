"""Servers that fail over and slots that move while a query runs: each entry is written once.

A primary dies by kill -9 in the middle of a query, and its replica takes over as it does in
earnest: the other nodes, or Sentinels, miss the dead one for a while, and agree. In a cluster slots
move, too. Now and then driver and JVM are killed as well.

Replication is asynchronous: what a primary has accepted and not yet passed on dies with it. So
before its end a primary holds new writes back (CLIENT PAUSE) until its replica has the old ones.
Transactions that are open then, or wait, are lost with it. It does not where the sink waits for
replicas (``-waiting``): there the primary dies at any time.

The usual run has one death and one move, in a cluster; ``make crash-spark`` has many rounds.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Protocol

import pytest
import redis

from pyspark_penstock.connect.slots import key_slot
from tests.compat.processes import penstock_command, redis_tool
from tests.replication.deployment import NAME, Deployment
from tests.spark.clustered import PATIENT, Cluster, caught_up, until
from tests.spark.crashing_query import Copy, kill_group
from tests.spark.stored import xrange
from tests.spark.test_crash import CRASHES, ENTRIES, LIMIT_S, MODES

STREAMS = 6
PAUSED = ["cluster", "sentinel-redis", "sentinel-penstock"]
WAITING = ["sentinel-redis-waiting", "sentinel-penstock-waiting"]
CASES = (
    [("cluster", "publish")]
    if CRASHES == 1
    else [*product(PAUSED, MODES), *((kind, "publish") for kind in WAITING)]
)
ROUNDS = max(2, CRASHES)
BATCH = ENTRIES // (8 * ROUNDS + 2)  # some are written before a round, others while it goes on
NODE_TIMEOUT_MS = 5_000  # a node that gets no processor for so long would count as dead
PAUSE_MS = 60_000
LONGEST_STEP_S = 0.3  # between the parts of a move, during which the query goes on


class Servers(Protocol):
    """What a query reads and writes, and what may happen to it. *at* are the options."""

    at: dict[str, str]
    waits: int  # replicas that confirm

    def client(self, stream: str) -> redis.Redis:
        """A client of the primary that has a stream."""

    def disturb(self, number: int) -> None:
        """What happens in a round; afterwards all is well again."""

    def settle(self) -> None:
        """Wait until the replicas have everything."""

    def stop(self) -> None:
        """End all processes."""


class Clustered:
    """A cluster: by turns a primary dies, and the slot of a stream moves."""

    waits = 0

    def __init__(self, folder: Path) -> None:
        self.cluster = Cluster(
            [redis_tool("redis-server")], folder, node_timeout_ms=NODE_TIMEOUT_MS
        )
        self.at = self.cluster.at
        self.stop = self.cluster.stop
        self.settle = self.cluster.replicate

    def client(self, stream: str) -> redis.Redis:
        return self.cluster.owner(key_slot(stream.encode())).client

    def disturb(self, number: int) -> None:
        stream = f"{random.choice(['in', 'out'])}:{random.randrange(STREAMS)}"
        slot = key_slot(stream.encode())
        if number % 2:
            self.move(slot)
        else:
            self.die(slot)

    def move(self, slot: int) -> None:
        target = self.cluster.other(self.cluster.owner(slot))
        for part in (self.cluster.open_slot, self.cluster.move_keys, self.cluster.close_slot):
            part(slot, target)
            time.sleep(random.uniform(0, LONGEST_STEP_S))

    def die(self, slot: int) -> None:
        primary = self.cluster.owner(slot)
        primary.ask("CLIENT", "PAUSE", PAUSE_MS, "WRITE")
        others = {node.port for node in self.cluster.primaries} - {primary.port}
        replica = self.cluster.die(primary)
        until(lambda: bool(replica.slots()), "its replica takes over")
        assert {node.port for node in self.cluster.primaries} == others | {replica.port}
        self.cluster.mend()


class Watched:
    """Two servers and three Sentinels: the primary dies each time."""

    def __init__(self, folder: Path, command: list[str], waits: int) -> None:
        self.waits = waits
        self.deployment = Deployment(folder, [command] * 2)
        self.stop = self.deployment.__exit__
        self.deployment.__enter__()
        self.primary, self.replica = self.deployment.nodes
        places = ",".join(f"127.0.0.1:{each.port}" for each in self.deployment.sentinels)
        self.at = {"sentinels": places, "masterName": NAME} | PATIENT

    def client(self, stream: str) -> redis.Redis:
        found: redis.Redis = self.primary.client
        return found

    def settle(self) -> None:
        caught_up(self.primary.client, self.replica.client)

    def disturb(self, number: int) -> None:
        assert self.deployment.primary() is self.primary, "the replica took over without a reason"
        if not self.waits:
            self.primary.client.execute_command("CLIENT", "PAUSE", PAUSE_MS, "WRITE")
            self.settle()
        self.primary.kill()
        assert self.deployment.await_promotion(self.primary) is self.replica
        self.primary.start("--replicaof", f"127.0.0.1 {self.replica.port}")
        self.primary, self.replica = self.replica, self.primary
        self.deployment.await_replicas(self.primary)
        self.deployment.await_watchers()


@pytest.fixture
def servers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Servers]:
    """What the query uses, with streams to copy."""
    folder = tmp_path / "servers"
    folder.mkdir()
    redis_server = redis_tool("redis-server")
    if request.param == "cluster":
        found: Servers = Clustered(folder)
    else:
        command = penstock_command() if "penstock" in request.param else [redis_server]
        found = Watched(folder, command, waits=int("waiting" in request.param))
    try:
        for n in range(STREAMS):
            pipeline = found.client(f"in:{n}").pipeline(transaction=False)
            for i in range(n, ENTRIES, STREAMS):
                pipeline.xadd(f"in:{n}", {"i": i})
            pipeline.execute()
        found.settle()
        yield found
    finally:
        found.stop()


@pytest.mark.parametrize(("servers", "mode"), CASES, indirect=["servers"])
def test_a_query_whose_servers_fail_over_writes_each_entry_once(
    servers: Servers, tmp_path: Path, mode: str
) -> None:
    copy = Copy(servers.at, str(tmp_path / "checkpoint"), BATCH, mode, STREAMS, servers.waits)
    process = copy.start()
    try:
        for number in range(ROUNDS):
            wait_until_rows(servers, random.randint(1, BATCH), process)
            assert process.poll() is None, f"round {number}, it ended before: {copy.last_words}"
            if number % 4 == 3:
                kill_group(process)
            servers.disturb(number)
            if process.poll() is not None and number % 4 == 3:
                process = copy.start()
        assert process.wait(LIMIT_S) == 0, copy.last_words
    finally:
        if process.poll() is None:
            kill_group(process)
    counts = Counter(
        int(fields[b"i"])
        for stream in copy.names("out")
        for _, fields in xrange(servers.client(stream), stream)
    )
    assert counts == Counter(range(ENTRIES))


def wait_until_rows(servers: Servers, more: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until the query has written that many more rows, or is done."""
    clients = {f"out:{n}": servers.client(f"out:{n}") for n in range(STREAMS)}

    def written() -> int:
        return sum(client.xlen(stream) for stream, client in clients.items())

    rows = written() + more
    deadline = time.monotonic() + LIMIT_S
    while written() < rows and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
