"""Kills a primary under load again and again, and lets Sentinel promote a replica.

    round:  writers add entries -> kill -9 -> Sentinel promotes -> look -> the old one follows

A writer adds an entry to its stream, and asks WAIT for one replica. What WAIT has confirmed must be
in the stream of the new primary. Of an entry that was not confirmed nothing is promised.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from redis.exceptions import RedisError

from tests.replication.deployment import NAME, Deployment, Node

WRITERS = 4
WAIT_MS = 1000
TIMEOUT_S = 5.0
WORK_S = (0.2, 1.0)  # of a round: what it takes at least, and at most


class Writer(threading.Thread):
    """Adds numbered entries through Sentinel's client, and notes which of them WAIT confirmed."""

    def __init__(self, number: int, deployment: Deployment) -> None:
        super().__init__(daemon=True)
        self.stream = f"stream:{number}"
        self.confirmed: set[int] = set()
        self.added = 0
        self.ends = False
        finder = deployment.finder(socket_timeout=TIMEOUT_S)
        self._client = finder.master_for(NAME, socket_timeout=TIMEOUT_S)

    def run(self) -> None:
        while not self.ends:
            self.added += 1
            with contextlib.suppress(RedisError, OSError):
                self._add(self.added)

    def _add(self, number: int) -> None:
        with self._client.pipeline(transaction=False) as pipe:
            pipe.xadd(self.stream, {"number": number})
            pipe.wait(1, WAIT_MS)
            _, replicas = pipe.execute()
        if replicas:
            self.confirmed.add(number)


class FailoverTest:
    """A primary and two replicas of *commands*, three Sentinels, and what was written so far."""

    def __init__(self, folder: Path, commands: Sequence[Sequence[str]]) -> None:
        self._deployment = Deployment(folder, commands)
        self.confirmed = 0
        self.longest_s = 0.0  # from a kill to the new primary

    def run(self, rounds: int) -> None:
        """Raises AssertionError if a round loses an entry that WAIT has confirmed."""
        with self._deployment as deployment:
            writers = [Writer(n, deployment) for n in range(WRITERS)]
            for writer in writers:
                writer.start()
            for _ in range(rounds):
                self._round(writers)
            for writer in writers:
                writer.ends = True
            for writer in writers:
                writer.join()

    def _round(self, writers: list[Writer]) -> None:
        time.sleep(random.uniform(*WORK_S))
        old = self._deployment.primary()
        old.kill()
        sure = [set(writer.confirmed) for writer in writers]
        killed = time.monotonic()
        new = self._deployment.await_promotion(old)
        self.longest_s = max(self.longest_s, time.monotonic() - killed)
        for writer, numbers in zip(writers, sure, strict=True):
            missing = numbers - entries(new, writer.stream)
            assert not missing, f"{writer.stream} lacks {sorted(missing)[:10]}, as WAIT confirmed"
        self.confirmed = sum(map(len, sure))
        old.start("--replicaof", f"127.0.0.1 {new.port}")
        self._deployment.await_replicas(new)
        self._deployment.await_watchers()


def entries(node: Node, stream: str) -> set[int]:
    """The numbers in *stream*; each must be there once."""
    found = [int(fields[b"number"]) for _, fields in node.client.xrange(stream)]
    assert len(found) == len(set(found)), f"{stream} has entries twice"
    return set(found)
