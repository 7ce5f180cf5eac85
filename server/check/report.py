"""Findings as text."""

from __future__ import annotations

from collections.abc import Iterator

from server.check.contents import Contents, StreamFacts
from server.check.findings import Finding
from server.observe.sizes import human

MAX_KEY = 60  # characters of a key that are shown


def lines_of(found: Finding, most_streams: int) -> Iterator[str]:
    """The lines about a file, with at most *most_streams* of its streams."""
    state = "whole" if found.is_whole else f"BROKEN: {found.problem}"
    where = f" (offset {found.offset} of {found.size})" if found.offset >= 0 else ""
    yield f"{found.path}: {found.kind}, {human(found.size)}: {state}{where}"
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
    for stream in contents.streams[:most_streams]:
        yield from _stream(stream)
    if len(contents.streams) > most_streams:
        yield f"    ... and {len(contents.streams) - most_streams:,} more streams (--streams N)"
    if contents.largest:
        yield "    the largest keys:"
    for key in contents.largest:
        name = _shown(key.key)
        yield f"        {human(key.size):>10} {key.kind:8} {key.elements:>12,}  {key.db}:{name}"


def _stream(stream: StreamFacts) -> Iterator[str]:
    yield (
        f"    stream {stream.db}:{_shown(stream.key)}: {stream.length:,} entries,"
        f" {stream.first_id} .. {stream.last_id}"
    )
    for group in stream.groups:
        yield (
            f"        group {_shown(group.name)}: delivered up to {group.last_delivered},"
            f" {group.consumers:,} consumers, {group.pending:,} pending"
        )


def _shown(name: bytes) -> str:
    """A name with everything unprintable escaped."""
    text = name.decode("utf-8", "backslashreplace")
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= MAX_KEY else text[:MAX_KEY] + "..."
