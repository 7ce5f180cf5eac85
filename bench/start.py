"""What a server needs before it holds anything: the time from its start to PONG, and its memory.

Each round restarts every server, one after the other. The time counts from the start of the
process to the answer to the first PING; the resident memory is that of the server when it has been
left alone for a while. The median of the rounds counts, for each figure by itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median

from bench import progress
from bench.results import Comparison
from bench.servers import Start, resident_bytes

SETTLE_SECONDS = 2.0  # a server gives memory back when it has started


def measure(start: Start, rounds: int) -> Iterator[Comparison]:
    """Compare the starts of *rounds* rounds."""
    times: list[list[float]] = []
    sizes: list[list[float]] = []
    for number in range(rounds):
        progress.say(f"start: round {number + 1} of {rounds}")
        with start() as servers:
            times.append([server.start_seconds * 1e3 for server in servers])
            time.sleep(SETTLE_SECONDS)
            sizes.append([resident_bytes(server.pid) / 1e6 for server in servers])
    yield _comparison("from the start to PONG", "ms", times)
    yield _comparison("resident memory, empty", "MB", sizes)


def _comparison(title: str, unit: str, rows: list[list[float]]) -> Comparison:
    ours, *peers = map(median, zip(*rows, strict=True))
    return Comparison(title, unit, ours, peers)
