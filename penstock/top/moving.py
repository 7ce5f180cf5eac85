"""Moves a group to an entry, a time or an id, with a preview of what that means."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from penstock.shown import text
from penstock.top.actions import COUNTED, Action, Plan, Refused, Target, count_between
from penstock.top.entry_ids import following, meant_by, parts
from penstock.top.server import Server


class Move(Action):
    """XGROUP SETID, after it has been said what would be skipped, or delivered again."""

    name, key = "move", "m"
    prompt = "Go on after which id, or from which time? (id, 0, $, 14:30, 2026-11-25 14:30, 2h)"

    def suggestion(self, target: Target) -> str:
        return target.row.group.last_delivered_id if target.row.group else ""

    async def plan(self, target: Target, said: str, server: Server) -> Plan:
        group = target.row.group
        assert group is not None
        try:
            wanted = meant_by(said, datetime.now().astimezone())
        except ValueError as error:
            raise Refused(str(error)) from None
        here = await self._position(target, server)
        last = await self._last(target, server) if wanted == "$" else wanted
        if parts(last) == parts(here):
            raise Refused(f"it stands at {here} already")
        if parts(last) > parts(here):
            says = await self._skipped(target.key, here, last, server)
        else:
            says = await self._again(target, last, here, server)
        question = f"Move {target.place} from {here} to {wanted if wanted == '$' else last}?"
        words = ("XGROUP", "SETID", target.key, target.group, wanted)
        return Plan(question, tuple(says), words, is_destructive=True)

    async def _position(self, target: Target, server: Server) -> str:
        """Where it stands now: the table may be a moment old."""
        for group in await server.call("XINFO", "GROUPS", target.key):
            fields = dict(zip(group[::2], group[1::2], strict=True))
            if fields[b"name"] == target.group:
                return text(fields[b"last-delivered-id"])
        raise Refused("the group is no more")

    async def _last(self, target: Target, server: Server) -> str:
        answer = await server.call("XINFO", "STREAM", target.key)
        return text(dict(zip(answer[::2], answer[1::2], strict=True))[b"last-generated-id"])

    async def _skipped(self, key: bytes, here: str, last: str, server: Server) -> list[str]:
        count = await count_between(server, key, following(here), last)
        if not count:
            return ["No entry lies between: nothing is skipped."]
        ends = await self._ends(key, following(here), last, server)
        return [f"Skipped, so never delivered: {_many(count)}, {ends}."]

    async def _again(self, target: Target, last: str, here: str, server: Server) -> list[str]:
        count = await count_between(server, target.key, following(last), here)
        if not count:
            return ["No entry lies between: nothing is delivered again."]
        ends = await self._ends(target.key, following(last), here, server)
        says = [f"Delivered again: {_many(count)}, {ends}."]
        words = ("XPENDING", target.key, target.group, following(last), here, COUNTED)
        if pending := len(await server.call(*words)):
            says.append(f"Of these {_many(pending)} are pending: they go to other consumers, too.")
        return says

    async def _ends(self, key: bytes, start: str, end: str, server: Server) -> str:
        first = await server.call("XRANGE", key, start, end, "COUNT", 1)
        last = await server.call("XREVRANGE", key, end, start, "COUNT", 1)
        return f"{_id(first)} to {_id(last)}"

    def outcome(self, answer: Any) -> str:
        return "moved"


def _id(answer: Any) -> str:
    return text(answer[0][0]) if answer else "-"


def _many(count: int) -> str:
    entries = "entry" if count == 1 else "entries"
    return f"at least {count:,} {entries}" if count >= COUNTED else f"{count:,} {entries}"
