"""docs/metrics.md, from the families of metrics."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from server.metrics.family import Family

DOCUMENT = Path(__file__).parents[1] / "metrics.md"

HEADING = """\
# Metrics

What `/metrics` tells; `make docs` writes this page from the server's own tables.
[Monitoring](monitoring.md) says how to turn it on, and what to look at.

The names that begin with `redis_` are those of redis_exporter, with its labels, so that dashboards
and alerts for Redis find what they ask for. What only Penstock tells begins with `penstock_`. A
counter grows only: since the start, or since `CONFIG RESETSTAT`. What is not known, or does not
apply, has no sample: it is never shown as 0.

"""

# The titles, and how the names in each section begin: a family is in the first that wants it.
SECTIONS = {
    "Streams, groups and consumers": "redis_stream_ penstock_stream_ penstock_metrics_",
    "What only Penstock tells": "penstock_",
    "Commands": "redis_commands_ redis_latency_ redis_errors_ redis_slowlog redis_last_slow",
    "Keys": "redis_db_ redis_key",
    "Memory": "redis_mem redis_allocator redis_rss redis_total_system",
    "Persistence": "redis_rdb redis_aof redis_loading redis_async_loading redis_current_",
    "Replication": "redis_repl redis_slave redis_master redis_connected_slave redis_second",
    "All else": "redis_",
}

COLUMNS = ["| Metric | Type | Labels | Unit | Meaning |", "|---|---|---|---|---|"]


def document(families: Iterable[Family]) -> str:
    """The whole of docs/metrics.md: each family in the first section that wants its name."""
    rows: dict[str, list[str]] = {title: [] for title in SECTIONS}
    for family in families:
        rows[_section(family.name)].append(_row(family))
    texts = ["\n".join([f"## {title}", "", *COLUMNS, *rows[title], ""]) for title in SECTIONS]
    return HEADING + "\n".join(texts)


def _section(name: str) -> str:
    return next(
        title for title, starts in SECTIONS.items() if name.startswith(tuple(starts.split()))
    )


def _row(family: Family) -> str:
    labels = ", ".join(f"`{label}`" for label in family.labels)
    return (
        f"| `{family.name}` | {family.kind.value} | {labels} | {family.unit} | {family.meaning} |"
    )
