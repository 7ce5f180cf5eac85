"""The common actions: what each asks for, what its confirmation says, and what it sends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.shown import span, text
from penstock.top import cells
from penstock.top.abilities import Abilities
from penstock.top.backlog import Entry
from penstock.top.board import Row
from penstock.top.entry_ids import parts
from penstock.top.server import Server, Words

COUNTED = 10_000  # entries that are counted for a confirmation; beyond that it says "at least"
REDRIVEN = 1000  # dead letters that one XREDRIVE sends back


@dataclass(frozen=True, slots=True)
class Target:
    """What an action is about: a stream, one of its groups, one of its entries."""

    row: Row
    entry: Entry | None = None

    @property
    def key(self) -> bytes:
        return self.row.stream.key

    @property
    def group(self) -> bytes:
        assert self.row.group is not None
        return self.row.group.name

    @property
    def place(self) -> str:
        """How a sentence calls it."""
        if self.row.group is None:
            return f"stream {self.row.name}"
        return f"group {self.row.group_name} of {self.row.name}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What will happen, before it does."""

    question: str
    says: tuple[str, ...]
    words: Words
    is_destructive: bool = False

    @property
    def command(self) -> str:
        """What is sent, as people would type it."""
        return " ".join(text(word) if isinstance(word, bytes) else str(word) for word in self.words)


class Refused(Exception):
    """What was asked for makes no sense; the text says why."""


class Action(ABC):
    """One of the actions."""

    name: ClassVar[str]
    key: ClassVar[str]
    prompt: ClassVar[str] = ""  # what the user is asked for first; empty: nothing
    needs: ClassVar[tuple[str, ...]] = ()  # commands that not every server has

    def why_not(self, target: Target, abilities: Abilities) -> str:
        """Why it is not offered; empty: it is."""
        return abilities.why_not(*self.needs) or self.misses(target)

    def misses(self, target: Target) -> str:
        """What it needs in place of this target."""
        return "" if target.row.group else "choose a group"

    def suggestion(self, target: Target) -> str:
        """What the prompt has in it at first."""
        return ""

    @abstractmethod
    async def plan(self, target: Target, said: str, server: Server) -> Plan:
        """What will happen. *said* answers the prompt. Raises Refused, LOST and redis errors."""

    async def do(self, plan: Plan, server: Server) -> str:
        """Do it; what came of it."""
        return self.outcome(await server.call(*plan.words))

    def outcome(self, answer: Any) -> str:
        return text(answer) if isinstance(answer, bytes) else str(answer)


class PauseOrResume(Action):
    name, key, needs = "pause/resume", "p", ("XGROUP PAUSE",)

    async def plan(self, target: Target, said: str, server: Server) -> Plan:
        group = target.row.group
        assert group is not None
        left = f"{cells.count(group.lag)} not delivered, {cells.count(group.pending)} pending."
        if group.paused:
            return Plan(
                f"Resume {target.place}?",
                ("Its consumers are given entries again.", left),
                ("XGROUP", "RESUME", target.key, target.group),
            )
        return Plan(
            f"Pause {target.place}?",
            (
                "Its consumers are given nothing until it is resumed.",
                "Producers go on, and what is pending may be acknowledged.",
                left,
            ),
            ("XGROUP", "PAUSE", target.key, target.group),
        )

    def outcome(self, answer: Any) -> str:
        return "done" if answer else "it was so before"


class Redrive(Action):
    name, key, needs = "redrive", "R", ("XREDRIVE",)

    def misses(self, target: Target) -> str:
        group = target.row.group
        if group is None:
            return "choose a group"
        return "" if group.dead_letter else "the group keeps no dead letters"

    async def plan(self, target: Target, said: str, server: Server) -> Plan:
        group = target.row.group
        assert group is not None
        assert group.dead_letter
        place = text(group.dead_letter)
        there = int(await server.call("XLEN", group.dead_letter))
        if not there:
            raise Refused(f"{place} is empty")
        return Plan(
            f"Redrive {min(there, REDRIVEN):,} of {there:,} dead letters of {place}?",
            (
                "Each goes back to the stream that it comes from, as a new entry,",
                "and leaves the dead letters. The oldest go first.",
                "Those of other groups that keep theirs there go back, too.",
            ),
            ("XREDRIVE", group.dead_letter, "COUNT", REDRIVEN),
        )

    def outcome(self, answer: Any) -> str:
        return f"{int(answer):,} sent back"


class _OfPending(Action):
    """What is done with one pending entry."""

    def misses(self, target: Target) -> str:
        if target.row.group is None or target.entry is None:
            return "choose a pending entry"
        return "" if target.entry.consumer is not None else "the entry is not pending"

    def _held(self, target: Target) -> str:
        entry = target.entry
        assert entry is not None
        return (
            f"It is pending: {entry.consumer or 'nobody'}, since {span(entry.idle_ms or 0)}, "
            f"delivered {entry.deliveries} times."
        )


class Ack(_OfPending):
    name, key = "ack", "a"

    async def plan(self, target: Target, said: str, server: Server) -> Plan:
        assert target.entry is not None
        return Plan(
            f"Acknowledge {target.entry.entry_id} in {target.place}?",
            (self._held(target), "It counts as done: the group delivers it no more."),
            ("XACK", target.key, target.group, target.entry.entry_id),
            is_destructive=True,
        )

    def outcome(self, answer: Any) -> str:
        return "acknowledged" if answer else "it was pending no more"


class Nack(_OfPending):
    name, key, needs = "nack", "n", ("XNACK",)

    async def plan(self, target: Target, said: str, server: Server) -> Plan:
        assert target.entry is not None
        return Plan(
            f"Let {target.entry.entry_id} fail in {target.place}?",
            (
                self._held(target),
                "It is released for another delivery, after the group's back-off;",
                "if it has had its last one, it becomes a dead letter.",
            ),
            ("XNACK", target.key, target.group, "FAIL", "IDS", 1, target.entry.entry_id),
        )

    def outcome(self, answer: Any) -> str:
        return "released" if answer else "it was pending no more"


class Claim(_OfPending):
    name, key, prompt = "claim", "c", "To which consumer?"

    async def plan(self, target: Target, said: str, server: Server) -> Plan:
        assert target.entry is not None
        consumer = said.strip()
        if not consumer:
            raise Refused("say a consumer")
        return Plan(
            f"Give {target.entry.entry_id} to {consumer}, in {target.place}?",
            (
                self._held(target),
                f"From now on it is pending for {consumer}, and counts as delivered once more.",
                "Who has it now is not told.",
            ),
            ("XCLAIM", target.key, target.group, consumer, 0, target.entry.entry_id),
        )

    def outcome(self, answer: Any) -> str:
        return "claimed" if answer else "it was pending no more"


class Delete(Action):
    name, key = "delete", "x"

    def misses(self, target: Target) -> str:
        return "" if target.entry is not None else "choose an entry"

    def why_not(self, target: Target, abilities: Abilities) -> str:
        return abilities.why_not() or self.misses(target)

    async def plan(self, target: Target, said: str, server: Server) -> Plan:
        assert target.entry is not None
        key = target.entry.stream or target.key
        entry_id = target.entry.entry_id
        groups = [
            text(group.name)
            for group in target.row.stream.groups or ()
            if key == target.key and parts(group.last_delivered_id) < parts(entry_id)
        ]
        says = ["Its fields are lost, for all groups and readers."]
        if groups:
            says.append(f"Not delivered yet in: {', '.join(groups)}. They will never see it.")
        if target.entry.consumer is not None:
            says.append("It stays pending, without fields, until it is acknowledged.")
        question = f"Delete the entry {entry_id} of {text(key)}?"
        return Plan(question, tuple(says), ("XDEL", key, entry_id), is_destructive=True)

    def outcome(self, answer: Any) -> str:
        return "deleted" if answer else "it had gone before"


class Trim(Action):
    name, key = "trim", "t"
    prompt = "Keep how many entries, or which oldest id? (1000, or 1795000000000-0)"

    def misses(self, target: Target) -> str:
        return ""

    async def plan(self, target: Target, said: str, server: Server) -> Plan:
        length = int(await server.call("XLEN", target.key))
        words, lost, at_least = await self._lost(target.key, said.strip(), length, server)
        if not lost:
            raise Refused("nothing would go")
        many = f"{'at least ' if at_least else ''}{lost:,} of {length:,}"
        says = [f"The oldest entries go: {many}."]
        for group in target.row.stream.groups or ():
            name = text(group.name)
            if group.lag is None:
                says.append(f"{name}: how much it has not read is not known.")
            elif (missed := lost - (length - group.lag)) > 0:
                says.append(f"{name} has not been given {missed:,} of them, and never will be.")
            if group.pending:
                says.append(f"{name} has {group.pending:,} pending; what goes loses its fields.")
        return Plan(f"Trim stream {target.row.name}?", tuple(says), words, is_destructive=True)

    async def _lost(
        self, key: bytes, said: str, length: int, server: Server
    ) -> tuple[Words, int, bool]:
        """The command, how many go, and whether it may be more."""
        if said.isdecimal():
            return ("XTRIM", key, "MAXLEN", "=", said), max(0, length - int(said)), False
        try:
            ms, rest = parts(said)
        except ValueError:
            raise Refused(f"{said!r} is neither a number nor an id") from None
        if not (ms or rest):
            raise Refused("nothing would go")
        last = f"{ms}-{rest - 1}" if rest else f"{ms - 1}-{(1 << 64) - 1}"
        lost = await count_between(server, key, "-", last)
        return ("XTRIM", key, "MINID", "=", f"{ms}-{rest}"), lost, lost == COUNTED

    def outcome(self, answer: Any) -> str:
        return f"{int(answer):,} have gone"


async def count_between(server: Server, key: bytes, start: str, end: str) -> int:
    """How many entries lie there, up to COUNTED. Asked for in pages, with others in between."""
    counted, page = 0, 500
    while counted < COUNTED:
        found: Sequence[Any] = await server.call("XRANGE", key, start, end, "COUNT", page)
        counted += len(found)
        if len(found) < page:
            break
        ms, rest = parts(text(found[-1][0]))
        start = f"{ms}-{rest + 1}"
    return min(counted, COUNTED)
