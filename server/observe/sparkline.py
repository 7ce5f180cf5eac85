"""LATENCY GRAPH: samples as columns of text, with a label that is read downwards below each.

command - high 500 ms, low 100 ms (all time high 500 ms)
---------------------------------------------------------
   #_            each row has three heights: _ o #
 o |||           a bar that goes on above: |
_|||||

11854            11 s, 18 m ... ago
98mhd
ss
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from server.observe.latency_events import Sample, Series

ROWS = 4
COLUMNS = 80
LEVELS = "_o#"  # how far a bar reaches into the row where it ends
UNITS = ((60, 1, "s"), (3600, 60, "m"), (86400, 3600, "h"))


def graph(event: str, series: Series, now_s: int) -> str:
    """The samples of *event*, of which there is at least one, at the unix time *now_s*."""
    times = [sample.ms for sample in series.samples]
    title = (
        f"{event} - high {max(times)} ms, low {min(times)} ms (all time high {series.worst_ms} ms)"
    )
    lines = [title, "-" * COLUMNS]
    samples = list(series.samples)
    for at in range(0, len(samples), COLUMNS):
        lines += _band(samples[at : at + COLUMNS], min(times), max(times), now_s)
    return "\n".join(lines) + "\n"


def _band(samples: Sequence[Sample], low: int, high: int, now_s: int) -> list[str]:
    """As many samples as one line holds: the bars, a blank line, the labels."""
    levels, span = ROWS * len(LEVELS), high - low or 1
    heights = [min((sample.ms - low) * levels // span, levels - 1) for sample in samples]
    bars = ["".join(_cell(height, row) for height in heights) for row in reversed(range(ROWS))]
    labels = [_ago(now_s - sample.time_s) for sample in samples]
    downwards = ["".join(letters) for letters in zip_longest(*labels, fillvalue=" ")]
    return [*bars, " " * len(samples), *downwards]


def _cell(height: int, row: int) -> str:
    """What a bar of that height shows in *row*, counted from the bottom."""
    level = height - row * len(LEVELS)
    if level < 0:
        return " "
    return LEVELS[level] if level < len(LEVELS) else "|"


def _ago(seconds: int) -> str:
    for below, unit, letter in UNITS:
        if seconds < below:
            return f"{seconds // unit}{letter}"
    return f"{seconds // 86400}d"
