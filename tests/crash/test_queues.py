"""A queue with policies, on a server that is killed and started again: each job ends in one place.

Jobs come at once and by and by, some are left by their consumer, some always fail. At the end each
one was acknowledged, or is a dead letter once; none was given after its acknowledgement. With
ORDERBY each customer's jobs are done in their order.
"""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.ports import free_port

ROOT = Path(__file__).parents[2]
KEEP = ["--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0"]
POLICY = (
    "VISIBILITY 60 BACKOFF 20 60 MAXDELIVERIES 3 DEADLETTER dead MKSTREAM MAXPENDING 200"
    " CONSUMERTIMEOUT 5000"
)
CUSTOMERS = 20
JOBS = 400
KILLS = 4
WITHIN_S = 60


class Server:
    """A process on a folder, and a client of it."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        folder.mkdir()
        self.port = free_port()
        port = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        self._words = [sys.executable, "-m", "server", "--dir", str(folder), *port, *arguments]
        self._log = folder / "log"
        self.client: Any = redis.Redis(port=self.port, protocol=2, retry=Retry(NoBackoff(), 0))
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._words, cwd=ROOT, stdout=log, stderr=log)
        until_s = time.monotonic() + WITHIN_S
        while time.monotonic() < until_s:
            with contextlib.suppress(redis.RedisError):
                self.client.ping()
                return
            time.sleep(0.02)
        raise AssertionError(self._log.read_text())

    def call(self, line: str, *words: object) -> Any:
        return self.client.execute_command(*line.split(), *words)

    def end(self, how: signal.Signals) -> None:
        self._process.send_signal(how)
        self._process.wait()


class Workers:
    """Consumers of the group g of the stream s, in one loop."""

    def __init__(self, server: Server, in_order: bool) -> None:
        self._server = server
        self._in_order = in_order
        self.acked: set[int] = set()  # also those of which the answer was lost
        self._told: set[int] = set()
        self._left: set[int] = set()
        self._last: dict[bytes, bytes] = {}  # of each customer the id of the job that is done

    def work(self) -> bool:
        """Take some jobs, and do or fail them. Whether there were any."""
        name = random.choice(("ann", "bob", "cem"))
        line = f"XREADGROUP GROUP g {name} COUNT 20 BLOCK 50 STREAMS s >"
        reply = self._server.call(line)
        done: dict[int, bytes] = {}
        failed, held_back = [], set()
        for entry_id, fields in reply[0][1] if reply else []:
            job, customer = int(fields[b"job"]), fields[b"customer"]
            assert job not in self._told
            if self._in_order and customer in held_back:
                continue
            if job % 10 == 0:
                failed.append(entry_id)
                held_back.add(customer)
            elif job % 10 == 5 and job not in self._left:
                self._left.add(job)  # as a consumer does that dies
                held_back.add(customer)
            else:
                done[job] = entry_id
                self._note_order(customer, entry_id)
        if done:
            self.acked |= set(done)
            self._server.call("XACK s g", *done.values())
            self._told |= set(done)
        if failed:
            words = ("IDS", len(failed), *failed, "REASON", "no good")
            self._server.call("XNACK s g FAIL", *words)
        return bool(reply)

    def _note_order(self, customer: bytes, entry_id: bytes) -> None:
        """It may be the last one again, of which the answer was lost."""
        if self._in_order:
            last = self._last.get(customer, b"0-0")
            assert number(last) <= number(entry_id)
            self._last[customer] = entry_id


def number(entry_id: bytes) -> tuple[int, ...]:
    return tuple(map(int, entry_id.split(b"-")))


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[Server, Server]]:
    """A primary and its replica."""
    primary = Server(tmp_path / "primary", *KEEP)
    replica = Server(tmp_path / "replica", "--replicaof", f"127.0.0.1 {primary.port}")
    yield primary, replica
    for server in (primary, replica):
        server.client.close()
        server.end(signal.SIGTERM)


def add_jobs(server: Server, in_order: bool) -> None:
    server.call("XGROUP CREATE s g 0 MKSTREAM")
    server.call(f"XGROUP CFGSET s g {POLICY}{' ORDERBY customer' * in_order}")
    server.call("XCFGSET s RETAIN-ACKED yes")
    for job in range(JOBS):
        delay = f"DELAY {random.randint(1, 2000)}" if job % 3 == 0 else ""
        server.call(f"XADD s {delay} * job {job} customer {job % CUSTOMERS}")


def is_over(server: Server) -> bool:
    pending = server.call("XPENDING s g")["pending"]
    return pending == 0 and not server.call("XSCHEDULED s")


def state(server: Server) -> list[Any]:
    return [
        server.call(line)
        for line in ("XRANGE dead - +", "XLEN s", "XPENDING s g", "XGROUP CFGGET s g")
    ]


@pytest.mark.parametrize("in_order", [False, True])
def test_each_job_ends_in_one_place(servers: tuple[Server, Server], in_order: bool) -> None:
    primary, replica = servers
    add_jobs(primary, in_order)
    workers, kills, kill_s = Workers(primary, in_order), 0, time.monotonic() + 0.3
    until_s = time.monotonic() + WITHIN_S
    while time.monotonic() < until_s:
        with contextlib.suppress(redis.ConnectionError):
            if kills < KILLS and time.monotonic() > kill_s:
                kills += 1
                if kills % 2 == 0:
                    primary.call("BGREWRITEAOF")
                    time.sleep(random.uniform(0, 0.2))
                primary.end(signal.SIGKILL)
                primary.start()
                kill_s = time.monotonic() + random.uniform(0.2, 0.6)
            if not workers.work() and kills == KILLS and is_over(primary):
                break
    dead = [int(fields[b"job"]) for _, fields in primary.client.xrange("dead")]
    assert kills == KILLS
    assert sorted(dead) == list(range(0, JOBS, 10))
    assert workers.acked | set(dead) == set(range(JOBS))
    while primary.call("XLEN s"):  # the server's clock ticks, and they go
        assert time.monotonic() < until_s
        time.sleep(0.05)
    while state(replica) != state(primary):
        assert time.monotonic() < until_s
        time.sleep(0.05)
