"""Kills a consumer at a moment at which entries are pending for it."""

from __future__ import annotations

import signal
import subprocess
import time
from typing import Any

import redis

from bench.demo.names import STREAM

ENOUGH = 10  # pending entries
SETTLE_SECONDS = 0.05  # for the server to handle what the process had sent before it was halted
TRIES = 200


def kill_while_pending(
    server: redis.Redis, process: subprocess.Popen[bytes], group: str, name: str
) -> int:
    """Kill the process of consumer *name*; return how many entries were pending for it then.

    The process is halted at an arbitrary moment. If fewer than ENOUGH entries are pending, it
    continues for a short time and is halted again. After TRIES times it is killed nevertheless.
    """
    for _ in range(TRIES):
        process.send_signal(signal.SIGSTOP)
        time.sleep(SETTLE_SECONDS)
        if _pending(server, group, name) >= ENOUGH:
            break
        process.send_signal(signal.SIGCONT)
        time.sleep(SETTLE_SECONDS / 10)
    process.kill()
    process.wait()
    return _pending(server, group, name)


def _pending(server: redis.Redis, group: str, name: str) -> int:
    consumers: Any = server.xinfo_consumers(STREAM, group)
    return sum(c["pending"] for c in consumers if c["name"] == name.encode())
