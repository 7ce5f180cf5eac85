"""The health of groups as a page: pictures of lag, pending age and redelivery beside the table.

One HTML file with its pictures inside, as SVG; it loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from pyspark_penstock.jobs.health import AGES, TOP, GroupHealth
from pyspark_penstock.jobs.tables import duration, number

WIDTH, LABEL_WIDTH, VALUE_WIDTH = 560, 200, 80
ROW, BAR, TITLE = 22, 14, 28
STYLE = """\
:root { color-scheme: light dark; --bar: #3572b0; --bad: #c0392b; --line: #8886 }
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; max-width: 75em }
table { border-collapse: collapse }
th, td { padding: .25em .8em; border-bottom: 1px solid var(--line); text-align: right }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left }
svg { display: inline-block; margin: 1.5em 3em 0 0; vertical-align: top }
svg text { font: 13px system-ui, sans-serif; fill: currentColor }
svg .title { font-weight: 600 }
svg rect { fill: var(--bar) } svg .bad { fill: var(--bad) } td.bad { color: var(--bad) }
"""
COLUMNS = (
    "stream", "group", "lag", "consumers", "pending", "stuck", "longest idle", "redelivered",
    "dead consumers",
)  # fmt: skip

Bar = tuple[str, int]


def page(groups: Sequence[GroupHealth], when: str) -> str:
    """The whole page, as of *when*."""
    return f"""\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Consumer groups, {escape(when)}</title>
<style>{STYLE}</style></head><body>
<h1>Consumer groups</h1><p>{escape(when)}</p>
{table(groups)}
{lags(groups)}
{"".join(section(group) for group in groups)}
</body></html>
"""


def lags(groups: Sequence[GroupHealth]) -> str:
    """One picture of all groups' lags."""
    bars = [(f"{group.stream} / {group.group}", group.lag or 0) for group in groups]
    return picture("Lag, entries not yet given out", bars)


def section(group: GroupHealth) -> str:
    """What is pending in one group, in pictures; nothing if nothing is."""
    drawn = []
    if group.pending:
        ages = [(name, count) for (name, _), count in zip(AGES, group.ages, strict=True)]
        drawn.append(picture("Pending, by time since given out", ages))
    if group.most_redelivered:
        worst = [(f"{e.id} ({e.consumer})", e.deliveries) for e in group.most_redelivered]
        drawn.append(picture(f"Deliveries of the {TOP} most delivered entries", worst, "bad"))
    title = escape(f"{group.stream} / {group.group}")
    return f"<h2>{title}</h2>\n{''.join(drawn)}" if drawn else ""


def table(groups: Sequence[GroupHealth]) -> str:
    """The table of all groups."""
    head = "".join(f"<th>{escape(name)}</th>" for name in COLUMNS)
    body = "".join(f"<tr>{cells(group)}</tr>\n" for group in groups)
    return f"<table><tr>{head}</tr>\n{body}</table>"


def cells(group: GroupHealth) -> str:
    """One group's row."""
    kinds = [*[""] * (len(COLUMNS) - 1), "bad" if group.dead else ""]
    pairs = zip(kinds, texts(group), strict=True)
    return "".join(f'<td class="{kind}">{escape(text)}</td>' for kind, text in pairs)


def texts(group: GroupHealth) -> tuple[str, ...]:
    """One group's row, for COLUMNS."""
    return (
        group.stream, group.group, number(group.lag), number(group.consumers),
        number(group.pending), number(group.stuck), duration(group.oldest_idle_ms),
        number(group.redelivered),
        ", ".join(f"{consumer.name} ({consumer.pending:,})" for consumer in group.dead) or "none",
    )  # fmt: skip


def picture(title: str, bars: Sequence[Bar], kind: str = "") -> str:
    """A bar for each pair of a label and a value, in proportion to the largest."""
    height = TITLE + ROW * len(bars)
    most = max((value for _, value in bars), default=0) or 1
    parts = [f'<text class="title" x="0" y="16">{escape(title)}</text>']
    for at, (label, value) in enumerate(bars):
        parts += bar(label, value, value / most, TITLE + at * ROW, kind)
    drawn = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" role="img" '
        f'aria-label="{escape(title)}">\n{drawn}\n</svg>\n'
    )


def bar(label: str, value: int, share: float, top: int, kind: str) -> Iterable[str]:
    """One bar with its label in front and its value behind."""
    width = share * (WIDTH - LABEL_WIDTH - VALUE_WIDTH)
    base = top + BAR - 2
    name = escape(shortened(label))
    yield f'<text x="{LABEL_WIDTH - 8}" y="{base}" text-anchor="end">{name}</text>'
    yield f'<rect class="{kind}" x="{LABEL_WIDTH}" y="{top}" width="{width:.1f}" height="{BAR}"/>'
    yield f'<text x="{LABEL_WIDTH + width + 6:.1f}" y="{base}">{value:,}</text>'


def shortened(label: str, most: int = 28) -> str:
    """A label that fits in front of a bar; its end says more than its beginning."""
    return label if len(label) <= most else f"\u2026{label[1 - most :]}"
