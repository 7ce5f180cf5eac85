"""The death of a consumer: killed at some moment at which entries are pending for it."""

from __future__ import annotations

import signal
import subprocess
import time
from typing import Any

import redis

from bench.demo.names import STREAM

ENOUGH = 10  # entries pending: so that something is lost if nobody claims them
SETTLE_SECONDS = 0.05  # for what the process had sent before it stood still
TRIES = 200


def kill_while_pending(
    server: redis.Redis, process: subprocess.Popen[bytes], group: str, name: str
) -> int:
    """Kill the process of consumer *name*; how many entries were pending for it then.

    It is halted wherever it happens to be. If fewer than ENOUGH are pending for it there, it may
    go on for a moment; after TRIES such moments it is killed all the same.
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
