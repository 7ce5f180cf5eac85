"""The health of groups as a picture, drawn with matplotlib: a line for each group, worst first.

    name of the group | lag | pending entries by idle time | redelivered | lost | dead consumers

Below are the entries that were delivered most often.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from pyspark_penstock.jobs.health import AGES, MIN_IDLE_MS, GroupHealth
from pyspark_penstock.jobs.health_charts import (
    dead,
    most_delivered,
    name_within,
    short,
    shortened,
    summary,
)
from pyspark_penstock.jobs.text_tables import duration
from pyspark_penstock.names import readable

MOST_GROUPS = 40  # a larger picture is of no use to anybody, and its memory grows with its area

WIDTH, ROW, TITLE, HEAD, BETWEEN, FOOT = 14.8, 0.27, 0.8, 0.5, 0.6, 0.2  # inches
NAMES, LAG, AGE, AGAIN, LOST, GAP = 3.7, 3.0, 4.1, 1.05, 0.8, 0.25
DEAD = WIDTH - NAMES - LAG - AGE - AGAIN - LOST
LONGEST_NAME, LONGEST_CONSUMER = 44, 27  # characters
INK, GREY, BLUE, RED = "#222222", "#777777", "#3572b0", "#c0392b"
IN_CELLS = "#222223"  # as INK, but also on a dark page, since cells are light
SIZE = 9.0
AGE_COLOURS = LinearSegmentedColormap.from_list("ages", ["#e8f0f8", "#8fb4d9"])
STUCK_COLOURS = LinearSegmentedColormap.from_list("stuck", ["#f9e4e1", "#e59a90"])
SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "penstock", "font.size": SIZE,
            "text.parse_math": False}  # fmt: skip


def png(groups: Sequence[GroupHealth], when: str, min_idle_ms: int = MIN_IDLE_MS) -> bytes:
    """The picture as PNG, at the time *when*. Entries idle for *min_idle_ms* are stuck."""
    return saved(drawn(groups, min_idle_ms, when), format="png", dpi=144)


def svg(groups: Sequence[GroupHealth], min_idle_ms: int = MIN_IDLE_MS) -> str:
    """The picture as SVG, to stand in a page: without a title, its text in the page's colour."""
    figure = drawn(groups, min_idle_ms)
    text = saved(figure, format="svg", transparent=True, metadata={"Date": None}).decode()
    return text[text.index("<svg") :].replace(INK, "currentColor")


def saved(figure: Figure, **how: Any) -> bytes:
    """The picture in some form."""
    data = BytesIO()
    with mpl.rc_context(SETTINGS), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # a name's, which no font here has
        figure.savefig(data, **how)
    return data.getvalue()


def drawn(groups: Sequence[GroupHealth], min_idle_ms: int, when: str = "") -> Figure:
    """The whole picture, of at most MOST_GROUPS groups; with a title, if it says *when*."""
    shown = groups[:MOST_GROUPS]
    entries = most_delivered(shown)
    rows = len(shown)
    top = HEAD + (TITLE if when else 0.0)
    height = top + rows * ROW + (len(entries) * ROW + BETWEEN if entries else 0.0) + FOOT
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(WIDTH, height))
        if when:
            title = f"Consumer groups, {when}{the_worst(groups)}"
            write(figure, height - 0.35, title, size=SIZE * 1.5, weight="bold")
            write(figure, height - 0.65, summary(groups))
        stripes(figure, height - top, rows)
        places, left = [], NAMES
        for width in (LAG, AGE, AGAIN, LOST, DEAD):
            places.append(panel(figure, left, height - top, width - GAP, rows))
            left += width
        lag, ages, again, lost, gone = places
        lags(lag, shown)
        pending(ages, shown, min_idle_ms)
        numbers(again, "Redelivered", [group.redelivered for group in shown])
        numbers(lost, "Lost", [group.lost for group in shown])
        dead_consumers(gone, shown)
        if entries:
            below = FOOT + len(entries) * ROW
            stripes(figure, below, len(entries))
            deliveries(panel(figure, NAMES, below, LAG - GAP, len(entries)), entries)
    return figure


def the_worst(groups: Sequence[GroupHealth]) -> str:
    """What is said if not all groups are drawn."""
    return f": the {MOST_GROUPS} worst" if len(groups) > MOST_GROUPS else ""


def stripes(figure: Figure, top: float, rows: int) -> None:
    """A shade under every other row, which leads from a name to what is far to its right."""
    height = figure.get_figheight()
    for row in range(0, rows, 2):
        at = 0.1 / WIDTH, (top - (row + 1) * ROW) / height
        size = (WIDTH - 0.2) / WIDTH, ROW / height
        figure.add_artist(Rectangle(at, *size, color=GREY, alpha=0.07, linewidth=0, zorder=-1))


def write(figure: Figure, y: float, text: str, **how: Any) -> None:
    """Text at the left, at a height in inches."""
    figure.text(0.15 / WIDTH, y / figure.get_figheight(), text, color=INK, **how)


def panel(figure: Figure, left: float, top: float, width: float, rows: int) -> Axes:
    """Axes without a frame, at a place in inches, with a line for each row."""
    height, tall = figure.get_figheight(), max(rows, 1) * ROW
    at = (left / WIDTH, (top - tall) / height, width / WIDTH, tall / height)
    axes = figure.add_axes(at, frameon=False)
    axes.set_ylim(max(rows, 1) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xticks([])
    axes.set_yticks([])
    return axes


def heading(axes: Axes, text: str, x: float = 0, ha: str = "left", above: int = 20) -> None:
    """What a panel shows."""
    axes.annotate(
        text, (x, 1), (0, above), "axes fraction", "offset points", ha=ha, color=INK, weight="bold",
    )  # fmt: skip


def label(axes: Axes, row: int, text: str) -> None:
    """The name of a row, before a panel."""
    axes.annotate(
        text, (0, row), (-8, 0), ("axes fraction", "data"), "offset points",
        ha="right", va="center_baseline", color=INK,
    )  # fmt: skip


def bars(axes: Axes, values: Sequence[int | None], colour: str) -> None:
    """Bars from the left, with their values after them; a number that is not known has none."""
    known = [value or 0 for value in values]
    axes.barh(range(len(known)), known, height=0.62, color=colour)
    axes.set_xlim(0, max(1, *known) * 1.3 if known else 1)
    for row, value in enumerate(values):
        text = "not known" if value is None else f"{value:,}"
        axes.annotate(
            text, (value or 0, row), (4, 0), "data", "offset points",
            va="center_baseline", color=INK if value else GREY,
        )  # fmt: skip


def lags(axes: Axes, groups: Sequence[GroupHealth]) -> None:
    """The lag of each group."""
    heading(axes, "Lag")
    for row, group in enumerate(groups):
        label(axes, row, name_within(group, LONGEST_NAME))
    bars(axes, [group.lag for group in groups], BLUE)


def pending(axes: Axes, groups: Sequence[GroupHealth], min_idle_ms: int) -> None:
    """How many entries are pending, by the time since they were given out: stuck ones in red."""
    heading(axes, "Pending, by time since given out")
    axes.set_xlim(-0.5, len(AGES) - 0.5)
    most = max((count for group in groups for count in group.ages), default=1)
    norm = LogNorm(1, max(2, most))
    youngest = 0  # in milliseconds, of a column
    for column, (name, oldest) in enumerate(AGES):
        axes.annotate(
            name, (column, 1), (0, 6), ("data", "axes fraction"), "offset points",
            ha="center", color=GREY, size=SIZE - 1,
        )  # fmt: skip
        colours = STUCK_COLOURS if youngest >= min_idle_ms else AGE_COLOURS
        youngest = oldest or 0
        for row, group in enumerate(groups):
            count = group.ages[column]
            if count:
                axes.barh(row, 0.94, 0.86, column - 0.47, color=colours(norm(count)))
                axes.text(
                    column, row, short(count), ha="center", va="center_baseline", color=IN_CELLS
                )


def numbers(axes: Axes, name: str, values: Sequence[int]) -> None:
    """A column of numbers; what is zero is left out."""
    heading(axes, name, 1, "right")
    for row, value in enumerate(values):
        if value:
            axes.text(1, row, f"{value:,}", ha="right", va="center_baseline", color=INK)


def dead_consumers(axes: Axes, groups: Sequence[GroupHealth]) -> None:
    """Who has left entries pending."""
    heading(axes, "Dead consumers")
    for row, group in enumerate(groups):
        if group.dead:
            first, *others = dead(group).split(", ")
            more = f" and {len(others)} more" if others else ""
            text = shortened(first, LONGEST_CONSUMER - len(more)) + more
            axes.text(0, row, text, va="center_baseline", color=RED)


def deliveries(axes: Axes, entries: Sequence[Any]) -> None:
    """The entries that were delivered most often, of all groups."""
    heading(axes, "Deliveries of the most delivered entries", above=7)
    for row, (group, entry) in enumerate(entries):
        name = name_within(group, LONGEST_NAME - len(entry.id) - 1)
        label(axes, row, f"{name} {entry.id}")
    bars(axes, [entry.deliveries for _, entry in entries], BLUE)
    for row, (_, entry) in enumerate(entries):
        consumer = shortened(readable(entry.consumer), LONGEST_CONSUMER)
        axes.annotate(
            f"last to {consumer}, {duration(entry.idle_ms)} ago",
            (1, row), (12, 0),
            ("axes fraction", "data"), "offset points", va="center_baseline", color=GREY,
        )  # fmt: skip
