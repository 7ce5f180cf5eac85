"""A file with queues that run themselves: older servers load it without the policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.compat.oracles import REDIS_7, REDIS_8, REDIS_8_6, VALKEY_9, command_of
from tests.compat.processes import ServerProcess, bulk, penstock_command

LINES = """
XGROUP CREATE jobs workers 0 MKSTREAM
XGROUP CFGSET jobs workers VISIBILITY 60000 BACKOFF 100000 MAXDELIVERIES 3 DEADLETTER dead MKSTREAM
XADD jobs 1-1 n 1
XADD jobs 1-2 n 2
XADD jobs 1-3 n 3
XREADGROUP GROUP workers ann STREAMS jobs >
XNACK jobs workers FAIL IDS 1 1-2
XNACK jobs workers SILENT IDS 1 1-1
XGROUP CREATE orders clerks 0 MKSTREAM
XGROUP CFGSET orders clerks ORDERBY customer
XADD orders 1-1 customer a
XADD orders 1-2 customer a
XADD orders 1-3 customer b
XREADGROUP GROUP clerks bob COUNT 1 STREAMS orders >
XREADGROUP GROUP clerks cid COUNT 5 STREAMS orders >
XCFGSET orders RETAIN-LENGTH 100
XADD orders DELAY 100000000 * customer c
"""

FACTS = [
    "DEBUG DIGEST", "XINFO GROUPS jobs", "XGROUP CFGGET jobs workers", "XSCHEDULED orders",
]  # fmt: skip


def call(server: ServerProcess, line: str) -> Any:
    kind, value = server.control.call(*[word.encode() for word in line.split()])
    assert kind != "-", (line, value)
    return value


def facts(server: ServerProcess) -> list[object]:
    """What is the same after the file was loaded; of pending entries all but how long they wait."""
    pending: list[object] = []
    for line in ("XPENDING jobs workers - + 9", "XPENDING orders clerks - + 9"):
        rows = call(server, line)
        assert isinstance(rows, list)
        pending += [row[1][:2] + row[1][3:] for row in rows]
    return [*pending, *(call(server, line) for line in FACTS)]


@pytest.mark.parametrize(
    ("name", "reader"),
    [(REDIS_7, "7.0"), (VALKEY_9, "7.2"), (REDIS_8, "7.2"), (REDIS_8_6, "7.2"), (REDIS_8_6, "8.6")],
)
def test_it_is_loaded(name: str, reader: str, tmp_path: Path) -> None:
    """Once, the file of a queue from which anything had been given back was one of Redis 8.8."""
    older = command_of(name)
    server = ServerProcess(penstock_command(), tmp_path, "--rdb-oldest-reader", reader)
    try:
        for line in LINES.split("\n")[1:-1]:
            call(server, line)
        payload = server.control.call(b"DUMP", b"jobs")[1]
        call(server, "SAVE")
        before = facts(server)
        call(server, "DEBUG RELOAD")
        assert facts(server) == before
    finally:
        server.stop()
    assert isinstance(payload, bytes)
    server = ServerProcess(older, tmp_path)
    try:
        assert [call(server, f"XLEN {key}") for key in ("jobs", "orders")] == [b"3", b"3"]
        assert server.control.call(b"RESTORE", b"copy", b"0", payload)[1] == b"OK"
        for key in ("jobs", "copy"):
            pending = call(server, f"XPENDING {key} workers")
            assert isinstance(pending, list)
            assert bulk(pending[0]) == b"3"
            assert call(server, f"XACK {key} workers 1-1 1-2 1-3") == b"3"
        pending = call(server, "XPENDING orders clerks")
        assert isinstance(pending, list)
        assert bulk(pending[0]) == b"3"
    finally:
        server.stop()
