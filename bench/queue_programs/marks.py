"""How a program of this folder says what it has done: lines that bench/queues.py reads.

enqueued SECONDS    all jobs are in the queue
first               the first job begins
last SECONDS        so many seconds later the last one does
"""

from __future__ import annotations

import itertools
import time


def enqueued(begun):
    print(f"enqueued {time.perf_counter() - begun}", flush=True)


class Marks:
    """Counts *jobs* jobs, from any thread."""

    def __init__(self, jobs):
        self._jobs = jobs
        self._numbers = itertools.count(1)
        self._begun = 0.0

    def job(self):
        number = next(self._numbers)
        if number == 1:
            self._begun = time.perf_counter()
            print("first", flush=True)
        elif number == self._jobs:
            print(f"last {time.perf_counter() - self._begun}", flush=True)
