"""Says which part of the server's lines the tests run: ``python -m tests.coverage_table FILE``.

*FILE* is what coverage.py writes as JSON. First come the rooms, then the modules below LEAST, then
all modules. A room is a folder of the first two levels, such as server/network.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

LEAST = 90  # percent: modules below that are named


class Lines(NamedTuple):
    """How many of the lines that can run have run."""

    run: int
    all: int

    def __add__(self, other: object) -> Lines:
        assert isinstance(other, Lines)
        return Lines(self.run + other.run, self.all + other.all)

    @property
    def percent(self) -> float:
        return 100 * self.run / self.all if self.all else 100.0


def modules(report: dict[str, Any]) -> dict[str, Lines]:
    """The lines of each module that has some, by its path."""
    lines = {}
    for path, file in report["files"].items():
        counts = file["summary"]
        if counts["num_statements"]:
            lines[path] = Lines(counts["covered_lines"], counts["num_statements"])
    return lines


def rooms(lines: dict[str, Lines]) -> dict[str, Lines]:
    """The lines of each room."""
    sums: dict[str, Lines] = defaultdict(lambda: Lines(0, 0))
    for path, counts in lines.items():
        sums["/".join(Path(path).parts[:-1][:2])] += counts
    return dict(sorted(sums.items()))


def table(lines: dict[str, Lines]) -> Iterator[str]:
    for path, counts in lines.items():
        yield f"{counts.percent:5.1f} %  {counts.run:5} of {counts.all:5}  {path}"


def report(lines: dict[str, Lines]) -> Iterator[str]:
    """The lines of all tables."""
    yield from table({**rooms(lines), "all": sum(lines.values(), Lines(0, 0))})
    yield f"\nModules below {LEAST} %:\n"
    low = {path: counts for path, counts in lines.items() if counts.percent < LEAST}
    yield from table(dict(sorted(low.items(), key=lambda item: item[1].percent)))
    yield "\nAll modules:\n"
    yield from table(dict(sorted(lines.items())))


if __name__ == "__main__":
    print(*report(modules(json.loads(Path(sys.argv[1]).read_text()))), sep="\n")
