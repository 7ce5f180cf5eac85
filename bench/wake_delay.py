"""python -m bench.wake_delay: how late the machine wakes a process that only sleeps.

It runs on the same CPU as the server under measurement. No server could have avoided this delay, so
it distinguishes a slow server from a busy machine.
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
def measured_wake_delay() -> Iterator[Callable[[], float]]:
    """Measure in a process of its own during the with statement.

    Gives a function that ends the process and returns the greatest delay, in seconds.
    """
    process = subprocess.Popen(
        [*on_cpu(0), sys.executable, "-m", "bench.wake_delay"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )

    def end_and_tell() -> float:
        return float(process.communicate(b"end\n")[0])

    try:
        yield end_and_tell
    finally:
        process.kill()
        process.wait()


def _greatest_delay() -> float:
    latest = 0.0
    ready: list[object] = []
    while not ready:
        began = time.perf_counter()
        ready = select.select([sys.stdin], [], [], STEP_SECONDS)[0]
        if not ready:
            latest = max(latest, time.perf_counter() - began - STEP_SECONDS)
    return latest


if __name__ == "__main__":
    print(_greatest_delay())
