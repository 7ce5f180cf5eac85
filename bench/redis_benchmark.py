"""Load by redis-benchmark: cheap commands, whose rate a generator in Python could not reach."""

from __future__ import annotations

import csv
import subprocess
from dataclasses import dataclass

from bench.client import RefusedError

KEYS = 100_000  # __rand_int__ in a command becomes a number of twelve digits below this


@dataclass(frozen=True)
class RedisBenchmark:
    """One command, sent over and over by *clients* connections."""

    command: tuple[str, ...]
    clients: int = 50

    def run(self, port: int, requests: int, depth: int) -> float:
        """Seconds that *requests* requests took, *depth* of them in flight on each connection.

        Raises RefusedError if the server answered with an error.
        """
        options = {"-p": port, "-c": self.clients, "-n": requests, "-P": depth, "-r": KEYS}
        words = ["redis-benchmark", *(str(word) for option in options.items() for word in option)]
        ran = subprocess.run(
            [*words, "--csv", *self.command], capture_output=True, text=True, check=False
        )
        rows = list(csv.reader(ran.stdout.splitlines()))
        if ran.returncode or len(rows) < 2:
            raise RefusedError(ran.stderr.strip() or ran.stdout.strip())
        return requests / float(rows[1][1])
