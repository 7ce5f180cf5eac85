"""The figures of any Redis or Valkey, gathered from what it can say, a bounded amount at a time.

One look looks at some 10,000 keys (SCAN), and asks for the figures of 500 streams: those that
people see, then the others in turn. So with very many streams some figures are older than others,
which the screen says. A stream costs some commands, and its server some 10 microseconds a command;
pipelines of 50 streams let other clients in between.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable
from itertools import islice
from typing import Any

import redis

from penstock.shown import pairs, text
from penstock.top.entry_ids import parts
from penstock.top.figures import Group, Number, Stream, number
from penstock.top.server import Server, Words
from penstock.top.source import Look, Source

SCANS, SCANNED = 10, 1000  # calls of SCAN a look, and keys that each looks at
ASKED, TOGETHER = 500, 50  # streams a look, and in one pipeline
OLDEST_OF = 10  # pending entries of a group that are looked at for the oldest one


class RedisSource(Source):
    """Streams by SCAN; their figures by XINFO, XPENDING and MEMORY USAGE."""

    def __init__(self, server: Server, match: str = "*") -> None:
        super().__init__()
        self._server = server
        self._match = match
        self._cursor: Any = 0
        self._found: set[bytes] = set()  # since SCAN began anew
        self._known: dict[bytes, None] = {}  # in the order in which they are asked
        self._asked: set[bytes] = set()  # those of which the figures have been got
        self._knows_all = False  # whether SCAN has come to its end
        self._has_types = True  # SCAN ... TYPE came with Redis 6

    async def look(self, wanted: Collection[bytes]) -> AsyncIterator[Look]:
        """Find streams, then ask for the figures of some of them."""
        all_keys = await self._scan()
        yield Look(all_keys=all_keys)
        chosen = self._choose(wanted)
        self.has_all = self._knows_all and not self._known
        for some in _batches(chosen, TOGETHER):
            look = await self._ask(some)
            self._asked.update(some)
            self.has_all = self._knows_all and len(self._asked) >= len(self._known)
            yield look

    async def _scan(self) -> Collection[bytes] | None:
        """Go on with SCAN. All streams, when it has come to its end."""
        for _ in range(SCANS):
            cursor, keys = await self._scan_step()
            self._found.update(keys)
            self._known.update(dict.fromkeys(key for key in keys if key not in self._known))
            self._cursor = cursor
            if int(cursor) == 0:
                found, self._found = self._found, set()
                self._known = {key: None for key in self._known if key in found}
                self._asked &= found
                self._knows_all = True
                return found
        return None

    async def _scan_step(self) -> tuple[Any, list[bytes]]:
        words: list[Any] = ["SCAN", self._cursor, "MATCH", self._match, "COUNT", SCANNED]
        if self._has_types:
            try:
                cursor, keys = await self._server.call(*words, "TYPE", "stream")
            except redis.ResponseError as error:
                if "syntax" not in str(error).lower():
                    raise
                self._has_types = False
            else:
                return cursor, keys
        cursor, keys = await self._server.call(*words)
        types = await self._server.ask([("TYPE", key) for key in keys])
        return cursor, [key for key, kind in zip(keys, types, strict=True) if kind == b"stream"]

    def _choose(self, wanted: Collection[bytes]) -> list[bytes]:
        """Whom to ask now; they go to the end of the queue."""
        chosen = dict.fromkeys(key for key in wanted if key in self._known)
        chosen.update(dict.fromkeys(islice(self._known, ASKED)))
        keys = list(islice(chosen, ASKED))
        for key in keys:
            del self._known[key]
            self._known[key] = None
        return keys

    async def _ask(self, keys: list[bytes]) -> Look:
        questions: list[Words] = []
        for key in keys:
            questions += [("XINFO", "STREAM", key), ("XINFO", "GROUPS", key)]
            questions.append(("MEMORY", "USAGE", key))
        answers = await self._server.ask(questions)
        look = Look()
        groups: dict[bytes, list[dict[str, Any]] | None] = {}
        for at, key in enumerate(keys):
            stream, some, _ = answers[3 * at : 3 * at + 3]
            if _is_gone(stream) or _is_gone(some):
                look.gone.append(key)
                self._known.pop(key, None)
            else:
                groups[key] = self._groups(some)
        oldest = await self._oldest(groups)
        for at, key in enumerate(keys):
            if key in groups:
                stream, _, size = answers[3 * at : 3 * at + 3]
                look.streams.append(self._stream(key, stream, size, groups[key], oldest))
        return look

    def _groups(self, answer: Any) -> list[dict[str, Any]] | None:
        if isinstance(answer, Exception):
            self.denials.note("XINFO GROUPS", answer)
            return None
        return [_named(each) for each in answer]

    async def _oldest(
        self, groups: dict[bytes, list[dict[str, Any]] | None]
    ) -> dict[tuple[bytes, bytes], Number]:
        """Since when the oldest pending entry of each group has been pending.

        XPENDING goes by ids, and the first ones are usually those that were delivered first.
        """
        asked = [
            (key, group["name"])
            for key, some in groups.items()
            for group in some or ()
            if group.get("pending")
        ]
        words = [("XPENDING", key, group, "-", "+", OLDEST_OF) for key, group in asked]
        ages: dict[tuple[bytes, bytes], Number] = {}
        for of, answer in zip(asked, await self._server.ask(words), strict=True):
            if isinstance(answer, Exception):
                self.denials.note("XPENDING", answer)
            else:
                ages[of] = max((int(entry[2]) for entry in answer), default=None)
        return ages

    def _stream(
        self,
        key: bytes,
        answer: Any,
        size: Any,
        groups: list[dict[str, Any]] | None,
        oldest: dict[tuple[bytes, bytes], Number],
    ) -> Stream:
        octets = None if self.denials.note("MEMORY USAGE", size) else number(size)
        if isinstance(answer, Exception):
            self.denials.note("XINFO STREAM", answer)
            fields: dict[str, Any] = {}
        else:
            fields = _named(answer)
        last_id = text(fields.get("last-generated-id") or b"0-0")
        read = None
        if groups is not None:
            read = tuple(
                _group(group, last_id, oldest.get((key, group["name"]))) for group in groups
            )
        return Stream(
            key=key,
            length=number(fields.get("length")),
            octets=octets,
            entries_added=number(fields.get("entries-added")),
            last_id=last_id,
            groups=read,
        )


def _group(fields: dict[str, Any], last_id: str, oldest_ms: Number) -> Group:
    """Before Redis 7.0 there is no lag; but who has had the last entry has none."""
    delivered = text(fields["last-delivered-id"])
    lag = number(fields.get("lag"))
    if lag is None and last_id != "0-0" and parts(delivered) >= parts(last_id):
        lag = 0
    return Group(
        name=fields["name"],
        consumers=number(fields.get("consumers")),
        pending=number(fields.get("pending")),
        lag=lag,
        last_delivered_id=delivered,
        oldest_ms=oldest_ms,
    )


def _named(answer: Any) -> dict[str, Any]:
    return {bytes(name).decode(errors="replace"): value for name, value in pairs(answer)}


def _is_gone(answer: Any) -> bool:
    """Whether there is no such stream any more, or something else of that name."""
    said = str(answer) if isinstance(answer, redis.ResponseError) else ""
    return "no such key" in said or "WRONGTYPE" in said or "wrong kind" in said


def _batches(keys: Iterable[bytes], count: int) -> Iterable[list[bytes]]:
    left = iter(keys)
    while some := list(islice(left, count)):
        yield some
