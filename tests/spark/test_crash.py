"""kill -9 of driver and JVM at any time: no entry is missing or duplicated.

Spark's workers notice the kill, and can write for a moment more. The usual run kills once;
PENSTOCK_CRASHES=10 (``make crash-spark``) kills more often, with both servers.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
import redis

from tests.spark.stored import xrange

ROOT = Path(__file__).parents[2]
ENTRIES = 40_000
LIMIT_S = 180.0
CRASHES = int(os.environ.get("PENSTOCK_CRASHES", "1"))
BATCH = ENTRIES // (3 * CRASHES + 2)  # up to two are written between two kills, so some are left
SERVERS = ["penstock"] if CRASHES == 1 else ["penstock", "redis"]
MODES = ["publish"] if CRASHES == 1 else ["publish", "shared"]


@pytest.fixture
def source(client: redis.Redis) -> redis.Redis:
    """A server with a stream to copy."""
    pipeline = client.pipeline(transaction=False)
    for i in range(ENTRIES):
        pipeline.xadd("in", {"i": i})
    pipeline.execute()
    return client


def start(port: str, checkpoint: Path, mode: str) -> subprocess.Popen[bytes]:
    """Start the query as the leader of a process group, which is killed as a whole."""
    command = [sys.executable, "-m", "tests.spark.crashing_query", port, str(checkpoint)]
    return subprocess.Popen(
        [*command, str(BATCH), mode], cwd=ROOT, start_new_session=True, stderr=subprocess.DEVNULL
    )


def kill_group(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("server", SERVERS, indirect=True, scope="session")
@pytest.mark.parametrize("mode", MODES)
def test_a_query_killed_while_writing_writes_each_entry_once(
    source: redis.Redis, at: dict[str, str], tmp_path: Path, mode: str
) -> None:
    choice = random.Random(CRASHES)
    for _ in range(CRASHES):
        process = start(at["port"], tmp_path, mode)
        wait_until_rows(source, source.xlen("out") + choice.randint(1, BATCH), process)
        assert process.poll() is None, "the query was done before it could be killed"
        kill_group(process)
    process = start(at["port"], tmp_path, mode)
    try:
        assert process.wait(LIMIT_S) == 0
    finally:
        if process.poll() is None:
            kill_group(process)
    counts = Counter(int(fields[b"i"]) for _, fields in xrange(source, "out"))
    assert counts == Counter(range(ENTRIES))


def wait_until_rows(client: redis.Redis, rows: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until the query has written that many rows, or is done."""
    deadline = time.monotonic() + LIMIT_S
    while client.xlen("out") < rows and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
