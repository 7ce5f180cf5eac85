"""A cluster of small servers, whose slots a test moves, and whose nodes it kills."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.compat.processes import ROOT
from tests.ports import free_port

SLOTS = 16_384
START_S = 60.0
NODE_TIMEOUT_MS = 1_000
NODE = (
    "--cluster-enabled", "yes", "--cluster-node-timeout", str(NODE_TIMEOUT_MS),
    "--cluster-replica-validity-factor", "0", "--cluster-migration-barrier", "99",
    "--repl-diskless-sync-delay", "0", "--save", "", "--bind", "127.0.0.1",
)  # fmt: skip


def until(true: Callable[[], bool], what: str) -> None:
    """Wait for a fact."""
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        try:
            if true():
                return
        except redis.RedisError:
            pass
        time.sleep(0.01)
    pytest.fail(f"{what}: not within {START_S:.0f} s")


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
        self.start()

    def start(self) -> None:
        """Start the process, and wait until it answers."""
        self.process = subprocess.Popen(self._words, cwd=ROOT, stdout=subprocess.DEVNULL)
        until(lambda: bool(self.client.ping()), "a node answers")
        self.id = self.ask("CLUSTER", "MYID").decode()

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


class Cluster:
    """Primaries, which have equal shares of the slots, and a replica for each."""

    def __init__(self, command: list[str], folder: Path, primaries: int = 3, *options: str) -> None:
        self.nodes = [Node(command, folder, *options) for _ in range(2 * primaries)]
        self.primaries, replicas = self.nodes[:primaries], self.nodes[primaries:]
        self.at = {"bootstrap.servers": f"127.0.0.1:{self.nodes[0].port}"}
        ends = [SLOTS * n // primaries for n in range(primaries + 1)]
        for n, node in enumerate(self.primaries):
            node.ask("CLUSTER", "ADDSLOTSRANGE", ends[n], ends[n + 1] - 1)
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", n + 1)
        for node in self.nodes[1:]:
            first = self.nodes[0]
            node.ask("CLUSTER", "MEET", "127.0.0.1", first.port, first.bus)
        for node in self.nodes:
            until(lambda node=node: len(self.known(node)) == len(self.nodes), "nodes have met")  # type: ignore[misc]
        for node, primary in zip(replicas, self.primaries, strict=True):
            node.ask("CLUSTER", "REPLICATE", primary.id)
        for node in self.nodes:
            until(lambda node=node: self.is_well(node), "the cluster is ready")  # type: ignore[misc]

    @staticmethod
    def known(node: Node) -> list[str]:
        """What a node knows of all others, a line for each that it has met."""
        lines = redis_text(node, "CLUSTER", "NODES").splitlines()
        return [line for line in lines if "handshake" not in line]

    @staticmethod
    def is_up(node: Node) -> bool:
        """Whether the node says that the cluster serves."""
        return node.facts("CLUSTER", "INFO")["cluster_state"] == "ok"

    def is_well(self, node: Node) -> bool:
        """Whether the node serves, and its replica is connected if it has one."""
        info = node.client.info("replication")
        connected = (
            info["connected_slaves"] == 1
            if info["role"] == "master"
            else info["master_link_status"] == "up"
        )
        return connected and self.is_up(node)

    def stop(self) -> None:
        """End all nodes."""
        for node in self.nodes:
            node.kill()

    # ------------------------------------------------------------------ changes

    def owner(self, slot: int) -> Node:
        """The primary that has a slot."""
        for node in self.nodes:
            if node.process.poll() is not None:
                continue
            line = next(line for line in self.known(node) if "myself" in line).split()
            for part in line[8:] if "master" in line[2] else ():
                first, _, last = part.partition("-")
                if not part.startswith("[") and int(first) <= slot <= int(last or first):
                    return node
        pytest.fail(f"nobody has the slot {slot}")

    def other(self, node: Node) -> Node:
        """Another primary."""
        return next(other for other in self.primaries if other is not node)

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
            source.ask("MIGRATE", "127.0.0.1", target.port, "", 0, 10_000, "KEYS", *keys)

    def close_slot(self, slot: int, target: Node) -> None:
        """End the move: the target has the slot, and all primaries know."""
        source = self.owner(slot)
        target.ask("CLUSTER", "SETSLOT", slot, "NODE", target.id)
        source.ask("CLUSTER", "SETSLOT", slot, "NODE", target.id)

    def move(self, slot: int, target: Node | None = None) -> None:
        """Move a slot to another primary."""
        target = target or self.other(self.owner(slot))
        self.open_slot(slot, target)
        self.move_keys(slot, target)
        self.close_slot(slot, target)

    def replica_of(self, primary: Node) -> Node:
        """The replica of a primary."""
        for line in self.known(primary):
            words = line.split()
            if words[3] == primary.id:
                return next(node for node in self.nodes if node.id == words[0])
        pytest.fail("the primary has no replica")

    @staticmethod
    def applied(replica: Node) -> int:
        """How far a replica is in what its primary has written."""
        return int(replica.client.info("replication")["slave_repl_offset"])

    def die(self, primary: Node) -> Node:
        """Kill a primary once its replica has everything; its replica, which will take over."""
        replica = self.replica_of(primary)
        # WAIT would answer at once: it is about what its own connection has written.
        written = primary.client.info("replication")["master_repl_offset"]
        until(lambda: self.applied(replica) >= written, "the replica has everything")
        primary.kill()
        self.primaries = [replica if node is primary else node for node in self.primaries]
        return replica

    def mend(self) -> None:
        """Start dead nodes again, and wait until all is well."""
        for node in self.nodes:
            if node.process.poll() is not None:
                node.start()
        for node in self.nodes:
            until(lambda node=node: self.is_well(node), "the cluster is well again")  # type: ignore[misc]

    def empty(self) -> None:
        """Delete all keys."""
        for node in self.primaries:
            node.client.flushall()


def redis_text(node: Node, *words: str) -> str:
    """A reply of text, which redis-py would parse."""
    with redis.Redis(port=node.port, retry=Retry(NoBackoff(), 0)) as plain:
        plain.response_callbacks.clear()
        reply = plain.execute_command(*words)
        return reply.decode() if isinstance(reply, bytes) else str(reply)
