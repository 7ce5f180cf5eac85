"""Findings as text."""

from __future__ import annotations

from collections.abc import Iterator

from server.check.findings import Contents, Finding, shown
from server.observe.memory import human


def lines_of(found: Finding, most_streams: int) -> Iterator[str]:
    """The lines about a file, with at most *most_streams* of its streams."""
    state = "whole" if found.is_whole else f"{found.verdict}: {found.problem}"
    where = f" (offset {found.offset} of {found.size})" if found.offset >= 0 else ""
    size = f", {human(found.size)}" if found.size else ""
    yield f"{found.path}: {found.kind}{size}: {state}{where}"
    for fact in found.facts:
        yield f"    {fact}"
    if found.contents is not None:
        yield from _contents(found.contents, most_streams)


def _contents(contents: Contents, most_streams: int) -> Iterator[str]:
    for db, keys in sorted(contents.keys.items()):
        yield f"    database {db}: {keys:,} keys, {contents.expiring[db]:,} of them expire"
    for kind, total in sorted(contents.types.items()):
        yield (
            f"    {kind:8} {total.keys:>12,} keys {total.elements:>14,} elements"
            f" {human(total.size):>10}"
        )
    for description in contents.described[:most_streams]:
        first, *details = description.lines
        yield f"    {description.kind} {description.db}:{shown(description.key)}: {first}"
        yield from (f"        {detail}" for detail in details)
    if len(contents.described) > most_streams:
        yield f"    ... and {len(contents.described) - most_streams:,} more streams (--streams N)"
    if contents.largest:
        yield "    the largest keys:"
    for key in contents.largest:
        name = shown(key.key)
        yield f"        {human(key.size):>10} {key.kind:8} {key.elements:>12,}  {key.db}:{name}"
