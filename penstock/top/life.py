"""One entry's life: its fields, its trace, and how far each group of its stream is with it."""

from __future__ import annotations

from dataclasses import dataclass

import redis

from penstock.shown import span, text
from penstock.top.backlog import Entry, fields_of
from penstock.top.board import Row
from penstock.top.entry_ids import parts
from penstock.top.figures import Group
from penstock.top.server import Server, Words


@dataclass(frozen=True, slots=True)
class Life:
    """What is known of an entry."""

    entry: Entry
    groups: tuple[tuple[str, str], ...]  # each group, and how far it is


async def life_of(server: Server, row: Row, entry: Entry) -> Life:
    """Ask for everything about *entry*, which lies in the stream of *row*. Raises LOST."""
    groups = row.stream.groups or ()
    key, entry_id = row.stream.key, entry.entry_id
    words: list[Words] = [("XRANGE", key, entry_id, entry_id)]
    words += [("XPENDING", key, group.name, entry_id, entry_id, 1) for group in groups]
    found, *pending = await server.ask(words)
    if not isinstance(found, redis.RedisError):
        fields = fields_of(found[0][1]) if found else None
        entry = Entry(
            entry_id, fields, entry.consumer, entry.idle_ms, entry.deliveries, entry.stream
        )
    states = tuple(
        (text(group.name), _state(group, entry_id, answer, entry.fields is not None))
        for group, answer in zip(groups, pending, strict=True)
    )
    return Life(entry, states)


def _state(group: Group, entry_id: str, answer: object, is_there: bool) -> str:
    if isinstance(answer, redis.RedisError):
        return " ".join(str(answer).split())
    assert isinstance(answer, list)
    if answer:
        _, consumer, idle_ms, times = answer[0]
        who = text(consumer) or "nobody"
        return f"pending: {who}, since {span(int(idle_ms))}, delivered {times} times"
    if parts(entry_id) <= parts(group.last_delivered_id):
        return "delivered and acknowledged, or passed over"
    return "not delivered yet" if is_there else "never delivered"
