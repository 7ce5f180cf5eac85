"""The metrics that dashboards and alerts for Redis ask for: names.txt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

LINES = (Path(__file__).parent / "names.txt").read_text().split("\n")


def wanted_names() -> Iterator[tuple[str, list[str], str]]:
    """Each name, its labels, and when it is there, if that is not always."""
    for line in LINES:
        if line and not line.startswith("#"):
            words, _, when = line.partition("!")
            name, *labels = words.split()
            yield name, labels, when.strip()
