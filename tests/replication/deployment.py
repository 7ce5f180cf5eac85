"""A primary, its replicas, and the Sentinels that watch them, as processes on loopback.

Sentinel promotes the replica whose INFO told it the largest offset. It asks for INFO
each 10 s, and each second when it knows that the link to the primary is lost. If the primary counts
as down before that, the choice is made by offsets of before its end, and a replica may win that
lacks what another one has confirmed to WAIT. So here they ask often, and wait longer than that.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import redis
from redis.sentinel import Sentinel

from tests.polling import WITHIN_S, until
from tests.ports import free_port
from tests.replication.walls import Walls

ROOT = Path(__file__).parents[2]
PENSTOCK = [sys.executable, "-m", "server"]
REDIS = ["redis-server"]
SENTINEL = ["redis-server"]  # with --sentinel

NAME = "mymaster"
QUORUM = 2
DOWN_AFTER_MS = 3000
FAILOVER_TIMEOUT_MS = 2000  # the next one may begin after twice that
NEVER_MS = 600_000  # until a server counts as down, where failovers are asked for
INFO_PERIOD_MS = 300


class Node:
    """A server with its own folder and port, through many starts. *command* is what starts it."""

    def __init__(self, folder: Path, command: Sequence[str], *options: str) -> None:
        folder.mkdir()
        self.port = free_port()
        self.known_port = self.port  # by which other servers and Sentinels know it
        self.folder = folder
        self._command = [*command, *options]
        self._process: subprocess.Popen[bytes] | None = None
        self.client: Any = redis.Redis(port=self.port, socket_timeout=WITHIN_S)

    def announce(self, port: int) -> None:
        """As a replica, it says that it is at *port*."""
        self._command += [
            "--replica-announce-ip",
            "127.0.0.1",
            "--replica-announce-port",
            str(port),
        ]

    def signal(self, number: int) -> None:
        """Send it a signal, if it runs."""
        if self._process is not None:
            self._process.send_signal(number)

    def start(self, *options: str) -> None:
        """Start it, and wait until it answers."""
        words = [*self._command, "--port", str(self.port), "--bind", "127.0.0.1",
                 "--dir", str(self.folder), *options]  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        until(self.client.ping, f"a PONG of {words}")

    def kill(self) -> None:
        """End it by SIGKILL, if it runs."""
        self.client.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def wait(self) -> None:
        """Wait for its end, which somebody has asked it for."""
        self.client.close()
        if self._process is not None:
            self._process.wait(WITHIN_S)
            self._process = None

    @property
    def lives(self) -> bool:
        """Whether it was started, and not ended."""
        return self._process is not None

    def replication(self) -> dict[str, Any]:
        """INFO replication."""
        found: dict[str, Any] = self.client.info("replication")
        return found


class Deployment:
    """A server for each of *commands*, the first of which begins as the primary; and Sentinels.

    A server that does not answer for *down_after_ms* counts as down. With NEVER_MS none does, and
    on the busiest machine a replica takes over only when a test says so (``fail_over``); Sentinels
    that get no processor for a while must not rest afterwards, which they call TILT. With *walls*,
    all but clients reach each server through a gate. *options* are of all servers.
    """

    def __init__(
        self,
        folder: Path,
        commands: Sequence[Sequence[str]],
        sentinels: int = 3,
        down_after_ms: int = DOWN_AFTER_MS,
        options: Sequence[str] = (),
        walls: Walls | None = None,
    ) -> None:
        self.nodes = [
            Node(folder / f"server-{n}", command, "--save", "", "--repl-diskless-sync-delay", "0",
                 *options)
            for n, command in enumerate(commands)
        ]  # fmt: skip
        if walls is not None:
            for node in self.nodes:
                node.known_port = walls.build(node.port)
                node.announce(node.known_port)
        self._conf = [
            f"sentinel monitor {NAME} 127.0.0.1 {self.nodes[0].known_port} {QUORUM}",
            f"sentinel down-after-milliseconds {NAME} {down_after_ms}",
            f"sentinel failover-timeout {NAME} {max(FAILOVER_TIMEOUT_MS, down_after_ms // 10)}",
            f"sentinel parallel-syncs {NAME} 2",
        ]
        self._debug = ["info-period", INFO_PERIOD_MS]
        if down_after_ms == NEVER_MS:
            self._debug += ["publish-period", INFO_PERIOD_MS, "tilt-trigger", NEVER_MS]
        self.sentinels = [self._sentinel(folder / f"sentinel-{n}") for n in range(sentinels)]

    def _sentinel(self, folder: Path) -> Node:
        node = Node(folder, SENTINEL)
        conf = folder / "sentinel.conf"
        conf.write_text("\n".join(self._conf) + "\n")
        node._command = [*SENTINEL, str(conf), "--sentinel"]  # Sentinel rewrites the file
        return node

    def __enter__(self) -> Deployment:
        first, *others = self.nodes
        try:
            first.start()
            for node in others:
                node.start("--replicaof", f"127.0.0.1 {first.known_port}")
            self.await_replicas(first)
            for sentinel in self.sentinels:
                sentinel.start()
                sentinel.client.execute_command("SENTINEL", "DEBUG", *self._debug)
            until(lambda: all(map(self._knows_all, self.sentinels)), "Sentinels that know all")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for node in (*self.sentinels, *self.nodes):
            node.kill()

    def _knows_all(self, sentinel: Node) -> bool:
        found = sentinel.client.sentinel_master(NAME)
        others = len(self.sentinels) - 1
        replicas = len(self.nodes) - 1
        return bool(found["num-slaves"] == replicas and found["num-other-sentinels"] == others)

    # ------------------------------------------------------------------ what is asked of it

    def finder(self, **options: Any) -> Sentinel:
        """redis-py's way to the primary and its replicas."""
        return Sentinel([("127.0.0.1", s.port) for s in self.sentinels], **options)

    def primary(self) -> Node:
        """The primary, as the first Sentinel names it."""
        _, port = self.sentinels[0].client.sentinel_get_master_addr_by_name(NAME)
        return next(node for node in self.nodes if node.known_port == int(port))

    def await_replicas(self, primary: Node) -> None:
        """Wait until all others follow *primary*."""
        others = len(self.nodes) - 1

        def follow() -> bool:
            info = primary.replication()
            states = [info[f"slave{n}"]["state"] for n in range(others) if f"slave{n}" in info]
            return states == ["online"] * others

        until(follow, "replicas that are online")

    def await_watchers(self) -> None:
        """Wait until each Sentinel sees that all replicas follow the primary."""
        others = len(self.nodes) - 1

        def see() -> bool:
            seen = [s.client.sentinel_slaves(NAME) for s in self.sentinels]
            return all(len(rows) == others and all(map(_is_well, rows)) for rows in seen)

        until(see, "Sentinels that see the replicas")

    def fail_over(self, old: Node) -> Node:
        """Let the first Sentinel promote a replica in place of *old*, which is dead; the replica.

        It is asked again and again: it gives up if no replica has told it of itself lately.
        """

        def promoted() -> Node | None:
            node = self.primary()
            if node is not old:
                return node if node.replication()["role"] == "master" else None
            with contextlib.suppress(redis.ResponseError):
                self.sentinels[0].client.execute_command("SENTINEL", "FAILOVER", NAME)
            return None

        return until(promoted, "a replica that is promoted")

    def await_promotion(self, old: Node) -> Node:
        """Wait until all Sentinels name another primary than *old*, and it is one."""

        def promoted() -> Node | None:
            node = self.primary()
            names = {s.client.sentinel_get_master_addr_by_name(NAME) for s in self.sentinels}
            is_one = node is not old and len(names) == 1 and node.replication()["role"] == "master"
            return node if is_one else None

        return until(promoted, "a new primary")


def _is_well(replica: dict[str, Any]) -> bool:
    return bool(replica["flags"] == "slave" and replica["master-link-status"] == "ok")
