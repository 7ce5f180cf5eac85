"""The health of groups as an HTML page: the sums, the picture, and the table, worst first.

It is one file with its picture as SVG, and loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from pyspark_penstock.jobs.health import MIN_IDLE_MS, GroupHealth
from pyspark_penstock.jobs.health_charts import columns, has_servers, redeliveries, rows, summary
from pyspark_penstock.jobs.health_picture import svg, the_worst
from pyspark_penstock.names import readable

STYLE = """\
:root { color-scheme: light dark; --bad: #c0392b; --line: #8886 }
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em; max-width: 85em }
table { border-collapse: collapse; margin: 2em 0 }
th, td { padding: .25em .8em; border-bottom: 1px solid var(--line); text-align: right }
td.name, th.name { text-align: left }
tr.sum td { font-weight: 600; border-bottom: 0 }
svg { display: block; width: 100%; height: auto }
td.bad { color: var(--bad) }
"""


def page(groups: Sequence[GroupHealth], when: str, min_idle_ms: int = MIN_IDLE_MS) -> str:
    """The whole page, at the time *when*. Entries idle for *min_idle_ms* are stuck."""
    entries = "".join(f"<li>{escape(readable(text))}</li>\n" for text in redeliveries(groups))
    return f"""\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Consumer groups, {escape(when)}</title>
<style>{STYLE}</style></head><body>
<h1>Consumer groups{the_worst(groups)}</h1>
<p>{escape(when)}: {escape(summary(groups))}</p>
{svg(groups, min_idle_ms) if groups else ""}
{table(groups)}
<ul>{entries}</ul>
</body></html>
"""


def table(groups: Sequence[GroupHealth]) -> str:
    """The table of all groups, with their sums."""
    names = 3 if has_servers(groups) else 2  # the first columns; the others are numbers
    head = "".join(
        f'<th class="{"name" if at < names else ""}">{escape(name)}</th>'
        for at, name in enumerate(columns(groups))
    )
    body = "".join(table_rows(groups, names))
    return f"<table><tr>{head}</tr>\n{body}</table>"


def table_rows(groups: Sequence[GroupHealth], names: int) -> Iterator[str]:
    """A row for each group, and one for their sums."""
    for at, row in enumerate(rows(groups)):
        is_sum = at == len(groups)
        is_bad = not is_sum and bool(groups[at].dead)
        kinds = ["name"] * names + [""] * (len(row) - names - 1) + ["bad" if is_bad else ""]
        cells = (
            f'<td class="{kind}">{escape(text)}</td>' for kind, text in zip(kinds, row, strict=True)
        )
        yield f'<tr class="{"sum" if is_sum else ""}">{"".join(cells)}</tr>\n'
