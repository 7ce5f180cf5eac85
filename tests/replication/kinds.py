"""The servers that replicate from each other, and what tests ask of each pair."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis.exceptions import ResponseError

from tests.compat.oracles import REDIS_7, REDIS_8, REDIS_8_6, VALKEY_9, command_of
from tests.compat.processes import penstock_command
from tests.polling import until
from tests.replication.deployment import Node

OURS = "Penstock"
KINDS = (OURS, REDIS_7, REDIS_8, REDIS_8_6, VALKEY_9)
PAIRS = [(OURS, kind) for kind in KINDS] + [(kind, OURS) for kind in KINDS[1:]]
# A primary's PING is a change: one that comes while the roles are exchanged costs a copy.
OPTIONS = (
    "--save", "", "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0",
    "--repl-ping-replica-period", "3600",
)  # fmt: skip


def node_of(kind: str, folder: Path, *options: str) -> Node:
    """A server of that *kind* that is not started yet. Skips the test if there is none."""
    command = penstock_command() if kind == OURS else command_of(kind)
    return Node(folder, command, *OPTIONS, *options)


@contextmanager
def started(*nodes: Node) -> Iterator[None]:
    """The first is started as a primary, the others as its replicas."""
    try:
        nodes[0].start()
        for node in nodes[1:]:
            node.start("--replicaof", f"127.0.0.1 {nodes[0].port}")
        yield
    finally:
        for node in nodes:
            node.kill()


def digest(node: Node) -> bytes:
    found: bytes = node.client.execute_command("DEBUG", "DIGEST")
    return found


def await_link(replica: Node) -> None:
    """Wait until *replica* has the stream of its primary."""
    until(lambda: replica.replication()["master_link_status"] == "up", "a link that is up")


def await_same(one: Node, other: Node) -> None:
    """Wait until both have the same data, and the same offset.

    Not every command changes a digest: one that is still on its way to a replica that becomes a
    primary costs a copy.
    """
    until(lambda: offset(one) == offset(other), "equal offsets")
    until(lambda: digest(one) == digest(other), "equal digests")


def offset(node: Node) -> int:
    """How many bytes of changes it has sent or received."""
    return int(node.replication()["master_repl_offset"])


def counted(node: Node, field: str) -> int:
    """A counter of INFO stats."""
    return int(node.client.info("stats")[field])


def follow(replica: Node, primary: Node) -> None:
    """REPLICAOF."""
    replica.client.execute_command("REPLICAOF", "127.0.0.1", primary.port)


class Writer:
    """Random commands of all types, the same for the same *seed*."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def write(self, client: Any, count: int) -> None:
        """Run *count* of them; a key that holds another type is no concern."""
        for _ in range(count):
            try:
                self._one(client, f"key:{self._random.randrange(40)}".encode())
            except ResponseError as error:
                if not any(why in str(error) for why in ("WRONGTYPE", "not an integer")):
                    raise

    def _number(self, most: int = 50) -> int:
        return self._random.randrange(most)

    def _one(self, client: Any, key: bytes) -> None:
        draw = self._number(20)
        if draw == 0:
            client.set(key, self._random.randbytes(self._number(300)))
        elif draw == 1:
            client.set(key, b"x", px=100_000 + self._number())
        elif draw == 2:
            client.rpush(key, *range(self._number(6) + 1))
        elif draw == 3:
            client.lpop(key)
        elif draw == 4:
            client.xadd(key, {b"f": self._number()}, maxlen=15, approximate=True)
        elif draw == 5:
            self._read_group(client, key)
        elif draw == 6:
            client.hset(key, f"f{self._number(9)}", self._number())
        elif draw == 7:
            client.zadd(key, {str(self._number()): self._number() / 2})
        elif draw == 8:
            client.sadd(key, *range(self._number(), 60))
        elif draw == 9:
            client.spop(key)
        elif draw == 10:
            client.pexpire(key, 50_000 + self._number())
        elif draw == 11:
            client.delete(key)
        elif draw == 12:
            client.pipeline().incr(key + b"n").lpush(key + b"l", 1).execute()
        elif draw == 13:
            script = "redis.call('incr', KEYS[1]) redis.call('sadd', KEYS[2], KEYS[1])"
            client.eval(script, 2, key + b"n", key + b"s")
        elif draw == 14:
            client.execute_command("COPY", key, key + b"c", "REPLACE")
        elif draw == 15:
            client.setbit(key + b"b", self._number(1000), 1)
        elif draw == 16:
            client.pfadd(key + b"p", self._number(10_000))
        elif draw == 17:
            client.geoadd(key + b"g", (self._number(), self._number(), str(self._number())))
        elif draw == 18:
            client.blpop([key + b"l", key], 0.001)
        else:
            client.rename(key, key + b"r") if client.exists(key) else client.get(key)

    def _read_group(self, client: Any, key: bytes) -> None:
        stream = key + b"x"
        entry = client.xadd(stream, {b"a": self._number()})
        if self._number(4) == 0 or not client.xinfo_groups(stream):
            group = f"g{self._number(3)}"
            if group.encode() not in [row["name"] for row in client.xinfo_groups(stream)]:
                client.xgroup_create(stream, group, "0")
        for row in client.xinfo_groups(stream):
            client.xreadgroup(row["name"], f"c{self._number(3)}", {stream: ">"}, count=3)
            if self._number(2):
                client.xack(stream, row["name"], entry)
