"""The data of the charts of consumer groups: lag of all; idle time and redelivery of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyspark_penstock.jobs.health import AGES, TOP, GroupHealth
from pyspark_penstock.jobs.text_tables import duration, number
from pyspark_penstock.names import readable

COLUMNS = (
    "stream", "group", "lag", "consumers", "pending", "stuck", "longest idle", "redelivered",
    "dead consumers",
)  # fmt: skip
NAMES = 2  # the first columns hold names; the others are aligned to the right

Bar = tuple[str, int]


class Chart(NamedTuple):
    """A bar chart, with a label and a value for each bar. *bad* values are drawn in red."""

    title: str
    bars: Sequence[Bar]
    bad: bool = False

    @property
    def most(self) -> int:
        """The largest value."""
        return max((value for _, value in self.bars), default=0) or 1


def name_of(group: GroupHealth) -> str:
    """The name of a group, with its stream."""
    return readable(f"{group.stream} / {group.group}")


def texts(group: GroupHealth) -> tuple[str, ...]:
    """The row of one group in the table with COLUMNS."""
    dead = ", ".join(f"{readable(one.name)} ({one.pending:,})" for one in group.dead)
    return (
        readable(group.stream), readable(group.group), number(group.lag), number(group.consumers),
        number(group.pending), number(group.stuck), duration(group.oldest_idle_ms),
        number(group.redelivered), dead or "none",
    )  # fmt: skip


def lags(groups: Sequence[GroupHealth]) -> Chart:
    """The chart of all groups' lags."""
    bars = [(name_of(group), group.lag or 0) for group in groups]
    return Chart("Lag, entries not yet given out", bars)


def charts(group: GroupHealth) -> list[Chart]:
    """The charts of one group; none if nothing is pending."""
    drawn = []
    if group.pending:
        ages = [(name, count) for (name, _), count in zip(AGES, group.ages, strict=True)]
        drawn.append(Chart("Pending, by time since given out", ages))
    if group.most_redelivered:
        worst = [(readable(f"{e.id} ({e.consumer})"), e.deliveries) for e in group.most_redelivered]
        drawn.append(Chart(f"Deliveries of the {TOP} most delivered entries", worst, bad=True))
    return drawn


def shortened(label: str, most: int = 28) -> str:
    """A label that fits before a bar. Its end is kept, which says more than its beginning."""
    return label if len(label) <= most else f"\u2026{label[1 - most :]}"
