"""A cluster of small servers, whose slots a test moves, and whose nodes it kills.

Who has what is asked of the nodes each time. No node takes over by itself unless a test waits for
that: on a busy machine a node may get no processor for seconds, and would count as dead. So a
replica takes over when the test says so (``take_over``), at once.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from itertools import combinations, permutations
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.compat.processes import ROOT
from tests.ports import free_port

SLOTS = 16_384
START_S = 120.0
PATIENT = {"retryTimeout": "120s"}  # on a busy machine all takes long, and the server comes back
PERIOD_S = 0.005  # between two questions
NEVER_MS = 600_000  # until a node counts as dead
NODE = (
    "--cluster-enabled", "yes", "--cluster-replica-validity-factor", "0",
    "--cluster-migration-barrier", "99", "--repl-diskless-sync-delay", "0", "--save", "",
    "--bind", "127.0.0.1",
)  # fmt: skip
MIGRATE_MS = 60_000


def until(true: Callable[[], bool], what: str) -> None:
    """Wait for a fact."""
    end = time.monotonic() + START_S
    problem = ""
    while time.monotonic() < end:
        try:
            if true():
                return
            problem = ""
        except redis.RedisError as error:
            problem = f", the last time with: {error}"
        time.sleep(PERIOD_S)
    pytest.fail(f"{what}: not within {START_S:.0f} s{problem}")


def caught_up(primary: redis.Redis, replica: redis.Redis) -> None:
    """Wait until the replica has everything that its primary has written so far.

    WAIT is no help: it is about what its own connection has written.
    """
    written = int(primary.info("replication")["master_repl_offset"])
    until(
        lambda: int(replica.info("replication")["slave_repl_offset"]) >= written,
        "the replica has everything",
    )


class Node:
    """One server of a cluster."""

    def __init__(self, command: list[str], folder: Path, *options: str) -> None:
        self.port = free_port()
        self.bus = free_port()
        folder = folder / str(self.port)
        folder.mkdir()
        self._words = [
            *command, "--port", str(self.port), "--cluster-port", str(self.bus),
            "--dir", str(folder), *NODE, *options,
        ]  # fmt: skip
        self.client = redis.Redis(port=self.port, retry=Retry(NoBackoff(), 0))
        self.launch()

    def launch(self) -> None:
        """Start the process, without waiting for it."""
        self.process = subprocess.Popen(self._words, cwd=ROOT, stdout=subprocess.DEVNULL)

    def start(self) -> None:
        """Wait until the launched process answers."""
        until(lambda: bool(self.client.ping()), "a node answers")
        self.id = self.ask("CLUSTER", "MYID").decode()

    @property
    def lives(self) -> bool:
        """Whether its process runs."""
        return self.process.poll() is None

    def kill(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.wait()
        self.client.close()

    def ask(self, *words: object) -> bytes:
        """The reply to a command, as redis-py parses the unknown."""
        reply: bytes = self.client.execute_command(*words, NEVER_DECODE=True)
        return reply

    def facts(self, *words: str) -> dict[str, str]:
        """A reply of lines such as ``cluster_state:ok``."""
        raw = self.client.execute_command(*words)
        if isinstance(raw, dict):
            return {str(name): str(value) for name, value in raw.items()}
        text = raw.decode() if isinstance(raw, bytes) else raw
        return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)

    def known(self) -> list[list[str]]:
        """The words of CLUSTER NODES, a line for each node that this one has met."""
        with redis.Redis(port=self.port, retry=Retry(NoBackoff(), 0)) as plain:
            plain.response_callbacks.clear()  # redis-py would parse it
            reply: bytes = plain.execute_command("CLUSTER", "NODES")
        lines = [line.split() for line in reply.decode().splitlines()]
        return [words for words in lines if "handshake" not in words[2]]

    def myself(self) -> list[str]:
        """The line of CLUSTER NODES that is about this node."""
        return next(words for words in self.known() if "myself" in words[2])

    def meet(self, other: Node) -> None:
        """Let another node hear of this one."""
        self.ask("CLUSTER", "MEET", "127.0.0.1", other.port, other.bus)

    def slots(self) -> list[str]:
        """The ranges of slots that it has, as a primary; and ``[slot->-id]`` of those that move."""
        words = self.myself()
        return words[8:] if "master" in words[2] else []


def about(words: list[str]) -> list[str]:
    """Of a line of CLUSTER NODES: whose replica the node is, and its slots, but for moves."""
    return [words[3], *(part for part in words[8:] if not part.startswith("["))]


class Cluster:
    """Primaries, which have equal shares of the slots, and a replica for each.

    *node_timeout_ms* is how long a node is not heard of until it counts as dead.
    """

    def __init__(
        self,
        command: list[str],
        folder: Path,
        primaries: int = 3,
        node_timeout_ms: int = NEVER_MS,
    ) -> None:
        timeout = ("--cluster-node-timeout", str(node_timeout_ms))
        self.nodes = [Node(command, folder, *timeout) for _ in range(2 * primaries)]
        for node in self.nodes:
            node.start()
        first, replicas = self.nodes[:primaries], self.nodes[primaries:]
        given = ",".join(f"127.0.0.1:{node.port}" for node in (first[0], replicas[0]))
        self.at = {"bootstrap.servers": given} | PATIENT  # of two, one lives
        ends = [SLOTS * n // primaries for n in range(primaries + 1)]
        for n, node in enumerate(first):
            node.ask("CLUSTER", "ADDSLOTSRANGE", ends[n], ends[n + 1] - 1)
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", n + 1)
        for node, other in combinations(self.nodes, 2):
            node.meet(other)
        for node in self.nodes:
            until(lambda node=node: len(node.known()) == len(self.nodes), "nodes have met")  # type: ignore[misc]
        for node, primary in zip(replicas, first, strict=True):
            node.ask("CLUSTER", "REPLICATE", primary.id)
        self.settle()

    def settle(self) -> None:
        """Wait until all nodes serve, each primary has its replica, and all know of it."""
        for node in self.nodes:
            until(lambda node=node: self.is_well(node), "the cluster is well")  # type: ignore[misc]
        self.hear()

    def hear(self) -> None:
        """Let all nodes hear who the others are, and which slots they have.

        Those that count none as dead ping each other rarely: a replica might take over without a
        slot that its primary has got since.
        """
        if not self.agree():
            for node, other in permutations(self.living, 2):
                node.meet(other)
            until(self.agree, "all nodes know of all others")

    def agree(self) -> bool:
        """Whether all living nodes say the same of each other."""
        truth = {node.id: about(node.myself()) for node in self.living}
        return all(
            {words[0]: about(words) for words in node.known() if words[0] in truth} == truth
            for node in self.living
        )

    @staticmethod
    def is_well(node: Node) -> bool:
        """Whether the node serves, and its replica is connected if it has one."""
        info = node.client.info("replication")
        connected = (
            info["connected_slaves"] == 1
            if info["role"] == "master"
            else info["master_link_status"] == "up"
        )
        return connected and Cluster.is_up(node)

    @staticmethod
    def is_up(node: Node) -> bool:
        """Whether the node says that the cluster serves."""
        return node.facts("CLUSTER", "INFO")["cluster_state"] == "ok"

    def stop(self) -> None:
        """End all nodes."""
        for node in self.nodes:
            node.kill()

    # ------------------------------------------------------------------ who has what

    @property
    def living(self) -> list[Node]:
        """The nodes whose processes run."""
        return [node for node in self.nodes if node.lives]

    @property
    def primaries(self) -> list[Node]:
        """The nodes that have slots."""
        return [node for node in self.living if node.slots()]

    def owner(self, slot: int) -> Node:
        """The primary that has a slot."""
        for node in self.living:
            for part in node.slots():
                first, _, last = part.partition("-")
                if not part.startswith("[") and int(first) <= slot <= int(last or first):
                    return node
        pytest.fail(f"nobody has the slot {slot}")

    def other(self, node: Node) -> Node:
        """Another primary."""
        return next(other for other in self.primaries if other is not node)

    def replica_of(self, primary: Node) -> Node:
        """The replica of a primary."""
        for node in self.living:
            if node.myself()[3] == primary.id:
                return node
        pytest.fail("the primary has no replica")

    # ------------------------------------------------------------------ slots that move

    def open_slot(self, slot: int, target: Node) -> None:
        """Begin to move a slot: the next requests may be answered by ASK."""
        source = self.owner(slot)
        target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)

    def move_keys(self, slot: int, target: Node) -> None:
        """Move all keys of an open slot."""
        source = self.owner(slot)
        until(lambda: self.is_up(target), "the target serves")
        while keys := source.client.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 100):
            source.ask("MIGRATE", "127.0.0.1", target.port, "", 0, MIGRATE_MS, "KEYS", *keys)

    def close_slot(self, slot: int, target: Node) -> None:
        """End the move: the target has the slot, and both know."""
        source = self.owner(slot)
        target.ask("CLUSTER", "SETSLOT", slot, "NODE", target.id)
        source.ask("CLUSTER", "SETSLOT", slot, "NODE", target.id)

    def move(self, slot: int, target: Node | None = None) -> None:
        """Move a slot to another primary."""
        target = target or self.other(self.owner(slot))
        self.open_slot(slot, target)
        self.move_keys(slot, target)
        self.close_slot(slot, target)

    # ------------------------------------------------------------------ nodes that die

    def replicate(self) -> None:
        """Wait until all replicas have everything, and CLUSTER SLOTS of each node has them."""
        self.hear()  # else a replica sends its reader to its primary
        for primary in self.primaries:
            caught_up(primary.client, self.replica_of(primary).client)
        if not self.are_listed():
            for node, other in permutations(self.living, 2):
                node.meet(other)
            until(self.are_listed, "all nodes tell of all replicas")

    def are_listed(self) -> bool:
        """Whether all tell of all: a replica is left out until it has said how far it is."""
        ports = [str(node.port) for node in self.living]
        lists = [str(node.ask("CLUSTER", "SLOTS")) for node in self.living]
        return all(port in told for told in lists for port in ports)

    def die(self, primary: Node) -> Node:
        """Kill a primary once its replica has everything; the replica, which may take over."""
        self.hear()
        replica = self.replica_of(primary)
        caught_up(primary.client, replica.client)
        primary.kill()
        return replica

    @staticmethod
    def take_over(replica: Node) -> None:
        """Let a replica be the primary, now."""
        replica.ask("CLUSTER", "FAILOVER", "TAKEOVER")

    def fail_over(self, primary: Node) -> None:
        """A primary dies, and its replica takes over."""
        self.take_over(self.die(primary))

    def mend(self) -> None:
        """Start dead nodes again, end moves, and wait until all is well."""
        dead = [node for node in self.nodes if not node.lives]
        for node in dead:
            node.launch()
        for node in dead:
            node.start()
        for node in self.nodes:
            for part in node.slots():
                if part.startswith("["):
                    node.ask("CLUSTER", "SETSLOT", part[1:].partition("-")[0], "STABLE")
        self.settle()

    def empty(self) -> None:
        """Delete all keys."""
        for node in self.primaries:
            node.client.flushall()
