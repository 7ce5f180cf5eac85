"""kill -9 of driver and JVM at any time: no entry is missing or duplicated.

Spark's workers notice the kill, and can write for a moment more. The usual run kills once;
PENSTOCK_CRASHES=10 (``make crash-spark``) kills more often, with both servers.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
import redis

from tests.spark.crashing_query import Copy, kill_group
from tests.spark.stored import xrange

ENTRIES = 40_000
LIMIT_S = 600.0  # a busy machine
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


@pytest.mark.parametrize("server", SERVERS, indirect=True, scope="session")
@pytest.mark.parametrize("mode", MODES)
def test_a_query_killed_while_writing_writes_each_entry_once(
    source: redis.Redis, at: dict[str, str], tmp_path: Path, mode: str
) -> None:
    choice = random.Random(CRASHES)
    copy = Copy(at, str(tmp_path / "checkpoint"), BATCH, mode)
    for _ in range(CRASHES):
        process = copy.start()
        wait_until_rows(source, source.xlen("out") + choice.randint(1, BATCH), process)
        assert process.poll() is None, f"it ended before it was killed: {copy.last_words}"
        kill_group(process)
    process = copy.start()
    try:
        assert process.wait(LIMIT_S) == 0, copy.last_words
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
