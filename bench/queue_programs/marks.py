"""How a program of this folder says what it has done: lines that bench/queues.py reads.

enqueued SECONDS    all jobs are in the queue
first               the first job begins
last SECONDS        so many seconds later the last one does
"""

from __future__ import annotations

import itertools
import sys
import threading
import time


def say(line):
    """Write *line* at once: print() writes its end later, and another thread may come between."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def enqueued(begun):
    say(f"enqueued {time.perf_counter() - begun}")


class Marks:
    """Counts *jobs* jobs, from any thread."""

    def __init__(self, jobs):
        self._jobs = jobs
        self._numbers = itertools.count(1)
        self._begun = 0.0
        self._has_begun = threading.Event()

    def job(self):
        number = next(self._numbers)
        if number == 1:
            self._begun = time.perf_counter()
            say("first")
            self._has_begun.set()
        elif number == self._jobs:
            self._has_begun.wait()  # the benchmark reads "first" before it
            say(f"last {time.perf_counter() - self._begun}")
