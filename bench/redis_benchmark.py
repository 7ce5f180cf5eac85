"""Load by redis-benchmark: for cheap commands, for which a generator in Python is too slow."""

from __future__ import annotations

import csv
import subprocess
from dataclasses import dataclass

from bench.client import RefusedError

KEYS = 100_000


@dataclass(frozen=True)
class RedisBenchmark:
    """One command, which *clients* connections send again and again.

    Each ``__rand_int__`` in it becomes a number of twelve digits below *keys*.
    """

    command: tuple[str, ...]
    clients: int = 50
    keys: int = KEYS
    options: tuple[str, ...] = ()  # such as those for TLS

    def run(self, port: int, requests: int, depth: int) -> float:
        """Send *requests* requests, *depth* at a time on each connection; return the seconds.

        Raises RefusedError if the server answered with an error.
        """
        options = {"-p": port, "-c": self.clients, "-n": requests, "-P": depth, "-r": self.keys}
        words = ["redis-benchmark", *(str(word) for option in options.items() for word in option)]
        ran = subprocess.run(
            [*words, *self.options, "--csv", *self.command],
            capture_output=True,
            text=True,
            check=False,
        )
        rows = list(csv.reader(ran.stdout.splitlines()))
        if ran.returncode or len(rows) < 2:
            raise RefusedError(ran.stderr.strip() or ran.stdout.strip())
        return requests / float(rows[1][1])
