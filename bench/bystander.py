"""python -m bench.bystander: a process that only sleeps; how late the machine itself wakes it.

It runs on the servers' CPU beside the server under measurement. What it is late by, no server
could have avoided: so it tells a slow server from a busy machine.
"""

from __future__ import annotations

import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bench.servers import ROOT, on_cpu

STEP_SECONDS = 0.005


@contextmanager
def bystander() -> Iterator[Callable[[], float]]:
    """Beside what is done within: a function that ends it and tells its greatest lateness, in s."""
    process = subprocess.Popen(
        [*on_cpu(0), sys.executable, "-m", "bench.bystander"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )

    def lateness() -> float:
        return float(process.communicate(b"end\n")[0])

    try:
        yield lateness
    finally:
        process.kill()
        process.wait()


def _sleep_until_told() -> float:
    latest = 0.0
    ready: list[object] = []
    while not ready:
        began = time.perf_counter()
        ready = select.select([sys.stdin], [], [], STEP_SECONDS)[0]
        if not ready:
            latest = max(latest, time.perf_counter() - began - STEP_SECONDS)
    return latest


if __name__ == "__main__":
    print(_sleep_until_told())
