"""The backlog of a group as entries: pending, not delivered, dead, scheduled; a page at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import redis

from penstock.shown import pairs, span, text
from penstock.top.entry_ids import entry_time_ms, following
from penstock.top.server import Server, Words

PAGE = 100  # entries of a page: so many are held, and asked for
TOGETHER = 20  # entries whose fields one pipeline asks for


class Part(Enum):
    """The parts of a backlog, in the order of the keys 1 to 4."""

    PENDING = "pending"
    WAITING = "not delivered"
    DEAD = "dead"
    SCHEDULED = "scheduled"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a backlog. *fields* is None if the stream has it no more."""

    entry_id: str
    fields: dict[bytes, bytes] | None = None
    consumer: str | None = None
    idle_ms: int | None = None
    deliveries: int | None = None
    stream: bytes = b""  # where it lies

    def about(self, part: Part, now_ms: int) -> str:
        """What is said of it in its line, besides its id and fields."""
        if part is Part.PENDING:
            return (
                f"{self.consumer or 'nobody'}, {span(self.idle_ms or 0)}, {self.deliveries or 0} x"
            )
        when_ms = entry_time_ms(self.entry_id)
        if part is Part.SCHEDULED:
            return f"in {span(max(0, when_ms - now_ms))}"
        if part is Part.DEAD:
            fields = self.fields or {}
            reason, times = fields.get(b"dead-reason", b""), fields.get(b"dead-deliveries", b"?")
            return f"{text(reason)}, {text(times)} x"
        return f"{span(max(0, now_ms - when_ms))} old"

    def shown_fields(self, most: int = 200) -> str:
        """The fields in one line, as much as a line may need."""
        if self.fields is None:
            return "(the stream has this entry no more)"
        parts, room = [], most
        for name, value in self.fields.items():
            part = f"{text(name[:room])}={text(value[:room])}"
            parts.append(part)
            room -= len(part) + 1
            if room <= 0:
                break
        return " ".join(parts)[:most]


@dataclass(slots=True)
class Page:
    """Some entries of one part of a backlog, or why there are none to see."""

    part: Part
    entries: list[Entry] = field(default_factory=list)
    why_not: str = ""
    has_more: bool = False
    last_id: str = ""  # after which the next page begins


class Backlog:
    """Of one group. The fields of pending entries are asked for once: entries do not change."""

    def __init__(self, server: Server, key: bytes, group: bytes) -> None:
        self._server = server
        self.key = key
        self.group = group
        self._fields: dict[str, dict[bytes, bytes] | None] = {}

    async def page(
        self, part: Part, after: str, last_delivered_id: str, dead_letter: bytes | None
    ) -> Page:
        """The page of *part* after the entry *after*; empty: the first one.

        Raises LOST; an answer that is an error is the page's why_not.
        """
        try:
            if part is Part.PENDING:
                return await self._pending(after)
            if part is Part.WAITING:
                return await self._range(part, self.key, after or last_delivered_id)
            if part is Part.SCHEDULED:
                return await self._scheduled()
            if not dead_letter:
                return Page(part, why_not=_no_dead(dead_letter))
            return await self._dead(dead_letter, after)
        except redis.ResponseError as error:
            return Page(part, why_not=_why(part, error))

    async def _pending(self, after: str) -> Page:
        start = following(after) if after else "-"
        words = ("XPENDING", self.key, self.group, start, "+", PAGE)
        found = await self._server.call(*words)
        ids = [text(entry_id) for entry_id, *_ in found]
        await self._fetch(ids)
        entries = [
            Entry(text(entry_id), self._fields.get(text(entry_id)), text(name), ms, times, self.key)
            for entry_id, name, ms, times in found
        ]
        return Page(Part.PENDING, entries, "", len(entries) == PAGE, _last(entries))

    async def _fetch(self, ids: Sequence[str]) -> None:
        """The fields of these; others are forgotten."""
        self._fields = {each: self._fields[each] for each in ids if each in self._fields}
        missing = [each for each in ids if each not in self._fields]
        for at in range(0, len(missing), TOGETHER):
            some = missing[at : at + TOGETHER]
            words: list[Words] = [("XRANGE", self.key, each, each) for each in some]
            for each, answer in zip(some, await self._server.ask(words), strict=True):
                if isinstance(answer, Exception):
                    raise answer
                self._fields[each] = fields_of(answer[0][1]) if answer else None

    async def _range(self, part: Part, key: bytes, after: str) -> Page:
        start = following(after) if after else "-"
        found = await self._server.call("XRANGE", key, start, "+", "COUNT", PAGE)
        entries = entries_of(found, key)
        return Page(part, entries, "", len(found) == PAGE, _last(entries))

    async def _dead(self, dead_letter: bytes, after: str) -> Page:
        """Other groups may have theirs in the same stream: those are left out."""
        page = await self._range(Part.DEAD, dead_letter, after)
        ours = (self.key, self.group)
        page.entries = [each for each in page.entries if _origin(each, ours) == ours]
        return page

    async def _scheduled(self) -> Page:
        found = await self._server.call("XSCHEDULED", self.key, "COUNT", PAGE)
        return Page(Part.SCHEDULED, entries_of(found, self.key))


def _last(entries: Sequence[Entry]) -> str:
    return entries[-1].entry_id if entries else ""


def entries_of(answer: Iterable[Any], key: bytes) -> list[Entry]:
    """Of a reply of XRANGE."""
    return [Entry(text(each), fields_of(fields), stream=key) for each, fields in answer]


def fields_of(answer: Any) -> dict[bytes, bytes]:
    return {bytes(name): bytes(value) for name, value in pairs(answer)}


def _origin(entry: Entry, ours: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    fields = entry.fields or {}
    return fields.get(b"dead-stream", ours[0]), fields.get(b"dead-group", ours[1])


def _no_dead(dead_letter: bytes | None) -> str:
    if dead_letter is None:
        return "this server keeps no dead letters"
    return "the group keeps none: XGROUP CFGSET ... DEADLETTER"


def _why(part: Part, error: redis.ResponseError) -> str:
    said = " ".join(str(error).split())
    if part is Part.SCHEDULED and "unknown command" in said.lower():
        return "this server schedules nothing"
    return said
