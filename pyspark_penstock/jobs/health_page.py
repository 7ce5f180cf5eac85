"""The health of groups as an HTML page: the table, then charts of lag, idle time and redelivery.

It is one file with its charts as SVG, and loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from pyspark_penstock.jobs.health import GroupHealth
from pyspark_penstock.jobs.health_charts import (
    COLUMNS,
    Chart,
    charts,
    lags,
    name_of,
    shortened,
    texts,
)

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


def page(groups: Sequence[GroupHealth], when: str) -> str:
    """The whole page, at the time *when*."""
    return f"""\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Consumer groups, {escape(when)}</title>
<style>{STYLE}</style></head><body>
<h1>Consumer groups</h1><p>{escape(when)}</p>
{table(groups)}
{picture(lags(groups))}
{"".join(section(group) for group in groups)}
</body></html>
"""


def section(group: GroupHealth) -> str:
    """The charts of one group; empty if there are none."""
    drawn = "".join(picture(chart) for chart in charts(group))
    return f"<h2>{escape(name_of(group))}</h2>\n{drawn}" if drawn else ""


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


def picture(chart: Chart) -> str:
    """A chart as SVG."""
    height = TITLE + ROW * len(chart.bars)
    title = escape(chart.title)
    parts = [f'<text class="title" x="0" y="16">{title}</text>']
    for at, (label, value) in enumerate(chart.bars):
        kind = "bad" if chart.bad else ""
        parts += bar(label, value, value / chart.most, TITLE + at * ROW, kind)
    drawn = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" role="img" '
        f'aria-label="{title}">\n{drawn}\n</svg>\n'
    )


def bar(label: str, value: int, share: float, top: int, kind: str) -> Iterable[str]:
    """One bar, its label before it and its value after it."""
    width = share * (WIDTH - LABEL_WIDTH - VALUE_WIDTH)
    base = top + BAR - 2
    name = escape(shortened(label))
    yield f'<text x="{LABEL_WIDTH - 8}" y="{base}" text-anchor="end">{name}</text>'
    yield f'<rect class="{kind}" x="{LABEL_WIDTH}" y="{top}" width="{width:.1f}" height="{BAR}"/>'
    yield f'<text x="{LABEL_WIDTH + width + 6:.1f}" y="{base}">{value:,}</text>'
