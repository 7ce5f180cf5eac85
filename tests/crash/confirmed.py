"""Takes a primary away under load, dead or alive, and looks for what CLIENT ACKS has confirmed.

    round:  clients write and read -> the primary is killed, stopped for a while, or cut off
            -> Sentinel promotes a replica -> the old one comes back as a replica -> look

A server counts as down after DOWN_AFTER_MS only, so that living primaries are replaced, too: there
is another one while the old one still takes commands. Clients reach every server, also the one that
is cut off from the others. They know:

- what was confirmed: each entry of it must be on the new primary, and at the end on all servers;
- how far a counter had come when a read of it began: no server may answer less, or it answers an
  error.

Of what was answered by an error, or not at all, nothing is promised. Clients ask for confirmations
in one of three WAYS.
"""

from __future__ import annotations

import contextlib
import random
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from redis.exceptions import RedisError

from penstock.confirmed import with_acks
from tests.crash.failover import entries
from tests.polling import WITHIN_S, until
from tests.replication.deployment import Deployment, Node
from tests.replication.walls import Walls

WRITERS = 2  # for each server
DOWN_AFTER_MS = 1000
LEASE_MS = 600
TIMEOUT_MS = 1000
FSYNC_TIMEOUT_MS = 3000  # disks are asked once a second, each at its own time
SOCKET_S = 5.0
WORK_S = (0.2, 1.0)  # of a round: what it takes at least, and at most
AWAY_S = (1.5, 6.0)  # how long a primary is stopped or cut off
FAULTS = ("kill", "stop", "cut", "cut, stop")
OPTIONS = (
    "--replica-quorum-of", "2", "--replica-quorum-lease", str(LEASE_MS),
    "--replica-quorum-grace", "10000",
)  # fmt: skip


@dataclass(frozen=True)
class Way:
    """How clients ask: *connect* is what redis-py does with each connection of theirs."""

    connect: Callable[..., None] | None
    options: Sequence[str] = ()  # of all servers


WAYS = {
    "acks": Way(with_acks("quorum", timeout_ms=TIMEOUT_MS)),
    "fsync": Way(
        with_acks("quorum", fsync=True, timeout_ms=FSYNC_TIMEOUT_MS),
        ("--appendonly", "yes", "--appendfsync", "everysec"),
    ),
    "default": Way(None, ("--client-acks", f"quorum timeout {TIMEOUT_MS}")),
}


class Known:
    """What clients know to be confirmed."""

    def __init__(self) -> None:
        self.counter = 0
        self.problem: str | None = None
        self.reads = 0


class Client(threading.Thread):
    """Talks to one server, whatever it is at the time, by connections that wait for a quorum."""

    def __init__(self, node: Node, known: Known, way: Way) -> None:
        super().__init__(daemon=True)
        self.node = node
        self.known = known
        self.ends = False
        self.client: Any = redis.Redis(
            port=node.port, socket_timeout=SOCKET_S, redis_connect_func=way.connect
        )

    def run(self) -> None:
        while not self.ends:
            try:
                self.work()
            except (RedisError, OSError):
                time.sleep(0.01)  # it is no primary, or there is none

    def work(self) -> None:
        """One request, and what follows from its answer."""


class Writer(Client):
    """Adds numbered entries, some in a pipeline, and notes those that were confirmed."""

    def __init__(self, number: int, node: Node, known: Known, way: Way) -> None:
        super().__init__(node, known, way)
        self.stream = f"stream:{number}"
        self.confirmed: set[int] = set()
        self.sent = 0

    def work(self) -> None:
        numbers = range(self.sent, self.sent + random.choice((1, 1, 16)))
        self.sent = numbers.stop
        with self.client.pipeline(transaction=False) as pipe:
            for number in numbers:
                pipe.xadd(self.stream, {"number": number})
            found = pipe.execute(raise_on_error=False)
        sure = [n for n, reply in zip(numbers, found, strict=True) if isinstance(reply, bytes)]
        self.confirmed.update(sure)
        if not sure:
            time.sleep(0.01)


class Counter(Client):
    """Counts, and notes how far."""

    def work(self) -> None:
        count = self.client.incr("counter")
        self.known.counter = max(self.known.counter, count)


class Reader(Client):
    """Reads the counter: at least what was confirmed when it began."""

    def work(self) -> None:
        least = self.known.counter
        found = int(self.client.get("counter") or 0)
        self.known.reads += 1
        if found < least:
            self.known.problem = f"{found} was read, and {least} had been confirmed"


class ConfirmedTest:
    """A primary and two replicas of *commands* behind walls, three Sentinels, and clients.

    *way* is one of WAYS.
    """

    def __init__(self, folder: Path, commands: Sequence[Sequence[str]], way: str = "acks") -> None:
        self._walls = Walls()
        asked = WAYS[way]
        self._deployment = Deployment(
            folder, commands, down_after_ms=DOWN_AFTER_MS,
            options=(*OPTIONS, *asked.options), walls=self._walls,
        )  # fmt: skip
        self._known = Known()
        nodes = self._deployment.nodes
        for node in nodes:  # the test itself looks at what is there, confirmed or not
            node.client = redis.Redis(
                port=node.port, socket_timeout=WITHIN_S, redis_connect_func=with_acks("off")
            )
        self._writers = [
            Writer(n, nodes[n % len(nodes)], self._known, asked)
            for n in range(WRITERS * len(nodes))
        ]
        others: list[Client] = [Counter(node, self._known, asked) for node in nodes]
        others += [Reader(node, self._known, asked) for node in nodes]
        self._clients = [*self._writers, *others]
        self.confirmed = self.reads = 0

    def run(self, faults: Sequence[str]) -> None:
        """A round for each of *faults*. Raises AssertionError if something confirmed is lost."""
        try:
            with self._deployment:
                for client in self._clients:
                    client.start()
                for fault in faults:
                    self._round(fault)
                self._end()
        finally:
            for client in self._clients:
                client.ends = True
            self._walls.close()

    def _round(self, fault: str) -> None:
        time.sleep(random.uniform(*WORK_S))
        before = self._count()
        until(lambda: self._count() > before + 20, "something that is confirmed")
        old = self._deployment.primary()
        if "cut" in fault:
            self._walls.shut(old.port)
        if fault == "kill":
            old.kill()
        if "stop" in fault:
            old.signal(signal.SIGSTOP)
        if fault != "kill":
            time.sleep(random.uniform(*AWAY_S))
            old.signal(signal.SIGCONT)
            self._walls.open_all()
        else:
            new = self._deployment.await_promotion(old)
            old.start("--replicaof", f"127.0.0.1 {new.known_port}")
        self._settle()
        self._check(fault)

    def _settle(self) -> None:
        """Wait until there is one primary, which all others follow."""

        def is_settled() -> bool:
            primary = self._deployment.primary()
            named = {s.client.sentinel_get_master_addr_by_name("mymaster")
                     for s in self._deployment.sentinels}  # fmt: skip
            info = primary.replication()
            roles = [node.replication()["role"] for node in self._deployment.nodes]
            online = sum(info.get(f"slave{n}", {}).get("state") == "online" for n in range(3))
            return (len(named) == 1 and roles.count("master") == 1
                    and info["role"] == "master" and online == 2)  # fmt: skip

        until(is_settled, "one primary with two replicas")

    def _count(self) -> int:
        return sum(len(writer.confirmed) for writer in self._writers)

    def _check(self, fault: str) -> None:
        sure = [(writer, set(writer.confirmed)) for writer in self._writers]
        primary = self._deployment.primary()
        for writer, numbers in sure:
            missing = numbers - entries(primary, writer.stream)
            assert not missing, (
                f"after {fault}: {writer.stream} lacks {sorted(missing)[:10]}, which were confirmed"
            )
        assert self._known.problem is None, f"after {fault}: {self._known.problem}"
        self.confirmed, self.reads = self._count(), self._known.reads

    def _end(self) -> None:
        for client in self._clients:
            client.ends = True
        for client in self._clients:
            client.join()
        with contextlib.suppress(AssertionError):
            self._settle()
        self._check("the end")
