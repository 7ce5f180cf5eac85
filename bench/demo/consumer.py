"""python -m bench.demo.consumer PORT GROUP NAME: reads, acknowledges, claims from dead consumers.

An acknowledgement and its line in the group's ledger are one transaction. So, whenever this
process is killed, the ledger lists exactly the acknowledged entries.
"""

from __future__ import annotations

import signal
import sys
from typing import Any

import redis

from bench.demo.dataset import digest
from bench.demo.names import MIN_IDLE_MS, STREAM, connect, ledger, refused

BATCH = 50
BLOCK_MS = 200

Entries = list[tuple[bytes, dict[bytes, bytes]]]


class Consumer:
    """One consumer of a group; run() ends after SIGTERM."""

    def __init__(self, server: redis.Redis, group: str, name: str) -> None:
        self._server = server
        self._group = group
        self._name = name
        self._stopping = False

    def stop(self, *_: Any) -> None:
        """End after the entries at hand."""
        self._stopping = True

    def run(self) -> None:
        """Read new entries; when there are none, claim what a dead consumer has left."""
        while not self._stopping:
            if entries := self._read():
                self._acknowledge(entries, "read")
            elif entries := self._claim():
                self._acknowledge(entries, "claimed")

    def _read(self) -> Entries:
        answer: Any = self._server.xreadgroup(
            self._group, self._name, {STREAM: ">"}, count=BATCH, block=BLOCK_MS
        )
        return answer[0][1] if answer else []

    def _claim(self) -> Entries:
        answer: Any = self._server.xautoclaim(
            STREAM, self._group, self._name, MIN_IDLE_MS, "0-0", count=BATCH
        )
        return list(answer[1])

    def _acknowledge(self, entries: Entries, how: str) -> None:
        ids = [entry_id for entry_id, _ in entries]
        lines = [
            f"{entry_id.decode()} {digest(fields):016x} {self._name} {how}"
            for entry_id, fields in entries
        ]
        pipe = self._server.pipeline(transaction=True)
        pipe.xack(STREAM, self._group, *ids)
        pipe.rpush(ledger(self._group), *lines)
        acknowledged = pipe.execute()[0]
        if acknowledged != len(ids):
            self._server.incrby(refused(self._group), len(ids) - acknowledged)


def main() -> None:
    port, group, name = sys.argv[1:4]
    with connect(int(port)) as server:
        consumer = Consumer(server, group, name)
        signal.signal(signal.SIGTERM, consumer.stop)
        consumer.run()


if __name__ == "__main__":
    main()
