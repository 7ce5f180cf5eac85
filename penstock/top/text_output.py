"""What --once prints: one table, or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from penstock.shown import text
from penstock.top.board import Row
from penstock.top.columns import NAME_MAX, SPARK, TROUBLE, Column, padded
from penstock.top.facts import Facts


def table(rows: Sequence[Row], columns: Sequence[Column]) -> Iterator[str]:
    """Aligned columns under their titles; each is as wide as it must be."""
    shown = [column for column in columns if column is not SPARK]
    cells = [[column.cell(row) for column in shown] for row in rows]
    widths = [
        min(NAME_MAX, max(len(column.title), *(len(line[at]) for line in cells), 0))
        for at, column in enumerate(shown)
    ]
    for line in ([column.title for column in shown], *cells):
        parts = (
            cell if column is TROUBLE else padded(cell, column, width)
            for cell, column, width in zip(line, shown, widths, strict=True)
        )
        yield "  ".join(parts).rstrip()


def as_json(facts: Facts | None, streams: Sequence[Row], groups: Sequence[Row], db: int) -> str:
    """Everything, for programs. What is not known is null."""
    of: dict[bytes, list[Row]] = {}
    for row in groups:
        of.setdefault(row.stream.key, []).append(row)
    return json.dumps(
        {
            "server": _facts(facts),
            "db": db,
            "streams": [_stream(row, of.get(row.stream.key, [])) for row in streams],
        },
        indent=1,
    )


def _facts(facts: Facts | None) -> dict[str, Any] | None:
    if facts is None:
        return None
    return {
        "product": facts.product,
        "version": facts.version,
        "role": facts.role or None,
        "uptime_s": facts.uptime_s,
        "ops_per_s": facts.ops_per_s,
        "used_memory": facts.used_memory,
        "max_memory": facts.max_memory,
        "clients": facts.clients,
        "blocked": facts.blocked,
    }


def _stream(row: Row, groups: Sequence[Row]) -> dict[str, Any]:
    stream = row.stream
    return {
        "stream": row.name,
        "length": stream.length,
        "bytes": stream.octets,
        "entries_added": stream.entries_added,
        "last_id": stream.last_id,
        "scheduled": stream.scheduled,
        **_both(row),
        "groups": None if stream.groups is None else [_group(each) for each in groups],
    }


def _group(row: Row) -> dict[str, Any]:
    group = row.group
    assert group is not None
    return {
        "group": row.group_name,
        "last_delivered_id": group.last_delivered_id,
        "redelivered": group.redelivered,
        "dead_lettered": group.dead_lettered,
        "dead_letters": text(group.dead_letter) if group.dead_letter else None,
        "paused": group.paused,
        **_both(row),
    }


def _both(row: Row) -> dict[str, Any]:
    """What a stream and a group have."""
    return {
        "consumers": row.consumers,
        "lag": row.lag,
        "pending": row.pending,
        "oldest_ms": row.oldest_ms,
        "dead": row.dead,
        "trouble": {"points": row.trouble.points, "words": list(row.trouble.words)},
    }
