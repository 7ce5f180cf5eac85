"""A stream with a consumer group: producers, consumers, and what must be true of what they saw.

1  ids grow: of two entries, the one that was answered before the other was sent is the lower
2  what was acknowledged is there, once; an entry that nobody sent is not
3  a producer's entries stand in the order in which it has sent them
4  an entry is delivered as new once in a group; again only by a claim, when it was idle for
   long enough
5  what was acknowledged by XACK is not delivered again
6  an entry that has become a dead letter was delivered often enough, had its time after the
   last delivery, is moved once, and was not acknowledged before
7  at the end each entry was delivered
"""

from __future__ import annotations

import asyncio
from itertools import pairwise
from random import Random
from typing import NamedTuple

from tests.simulation.client import Wire, is_error
from tests.simulation.registers import REFUSALS, Find

STREAM, GROUP, DEAD = "jobs", "workers", "jobs:dead"
VISIBILITY_MS = 1500
MAX_DELIVERIES = 2
SETTINGS = (
    "VISIBILITY", VISIBILITY_MS, "MAXDELIVERIES", MAX_DELIVERIES, "DEADLETTER", DEAD, "MKSTREAM",
)  # fmt: skip
EARLY_S = 0.002  # clocks are read in whole ms


class Sent(NamedTuple):
    """An entry that a producer has sent; *id* is None if its reply has not come."""

    producer: str
    number: int
    called_s: float
    returned_s: float
    id: tuple[int, int] | None


class Delivery(NamedTuple):
    """An entry in the reply of a read."""

    id: tuple[int, int]
    consumer: str
    called_s: float
    returned_s: float


class Ack(NamedTuple):
    """An XACK that was answered by 1."""

    id: tuple[int, int]
    called_s: float
    returned_s: float


def id_of(text: bytes) -> tuple[int, int]:
    ms, _, seq = text.partition(b"-")
    return int(ms), int(seq)


class Entry(NamedTuple):
    """An entry as it is in the stream."""

    id: tuple[int, int]
    producer: str
    number: int


class Queue:
    """Producers and consumers of one stream, and what they saw.

    *moves_time*: a server's clock has been moved; then nobody knows how long an entry was idle.
    *moves*: who is refused looks for another server.
    """

    def __init__(self, random: Random, moves: bool = False) -> None:
        self._random = random
        self._moves = moves
        self.moves_time = False
        self.sent: list[Sent] = []
        self.deliveries: list[Delivery] = []
        self.acks: list[Ack] = []
        self.tried_acks: set[tuple[int, int]] = set()
        self.ends = False
        self.entries: list[Entry] = []
        self.dead: list[dict[bytes, bytes]] = []
        self.lost_group = ""  # what was said of it
        self.blind_reads = 0  # whose replies have not come: what they have delivered is not known

    # ------------------------------------------------------------------ clients

    async def prepare(self, wire: Wire) -> None:
        """Make the group."""
        await wire.call("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
        reply = await wire.call("XGROUP", "CFGSET", STREAM, GROUP, *SETTINGS)
        assert not is_error(reply), reply

    async def produce(self, name: str, find: Find, count: int, pause_s: float) -> None:
        """Add so many entries."""
        wire: Wire | None = None
        for number in range(count):
            await asyncio.sleep(self._random.uniform(0, pause_s))
            if wire is None or wire.is_lost:
                wire = await find()
                if wire is None:
                    continue
            called_s = self._now()
            try:
                reply = await wire.call("XADD", STREAM, "*", "p", name, "n", number)
            except OSError:
                self.sent.append(Sent(name, number, called_s, self._now(), None))
                wire.close()
                wire = None
                continue
            if not is_error(reply):
                sent = Sent(name, number, called_s, self._now(), id_of(reply))
                self.sent.append(sent)
            elif not str(reply).startswith(REFUSALS):
                self.sent.append(Sent(name, number, called_s, self._now(), None))
            elif self._moves:
                wire.close()
        if wire is not None:
            wire.close()

    async def consume(self, name: str, find: Find, pause_s: float, acks: float) -> None:
        """Read, and acknowledge that share of what was read, until the end."""
        wire: Wire | None = None
        while not self.ends:
            await asyncio.sleep(self._random.uniform(0, pause_s))
            if wire is None or wire.is_lost:
                wire = await find()
                if wire is None:
                    continue
            try:
                await self._read(name, wire, self._random.randint(1, 3))
                for delivery in self.deliveries[-3:]:
                    if delivery.consumer == name and self._random.random() < acks:
                        await self._ack(wire, delivery.id)
            except OSError:
                wire.close()
                wire = None
        if wire is not None:
            wire.close()

    async def _read(self, name: str, wire: Wire, most: int) -> int:
        called_s = self._now()
        self.blind_reads += 1
        reply = await wire.call(
            "XREADGROUP", "GROUP", GROUP, name, "COUNT", most,
            "BLOCK", self._random.choice((20, 300)), "STREAMS", STREAM, ">",
        )  # fmt: skip
        if is_error(reply):
            if "NOGROUP" in str(reply):
                self.lost_group = str(reply)
            elif str(reply).startswith(REFUSALS):
                self.blind_reads -= 1
                if self._moves:
                    wire.close()
            return 0
        self.blind_reads -= 1
        if not reply:
            return 0
        for entry_id, _fields in reply[0][1]:
            self.deliveries.append(Delivery(id_of(entry_id), name, called_s, self._now()))
        return len(reply[0][1])

    async def _ack(self, wire: Wire, entry: tuple[int, int]) -> None:
        called_s = self._now()
        self.tried_acks.add(entry)
        reply = await wire.call("XACK", STREAM, GROUP, f"{entry[0]}-{entry[1]}")
        if reply == 1:
            self.acks.append(Ack(entry, called_s, self._now()))

    async def drain(self, wire: Wire) -> None:
        """Read whatever is left, and look at what is there."""
        self.ends = True
        empty = 0
        while empty < 3:
            if await self._read("last", wire, 100):
                empty = 0
                continue
            empty += 1
            await asyncio.sleep(VISIBILITY_MS / 1000)
        await self.look(wire)

    async def look(self, wire: Wire) -> None:
        """See what there is."""
        for entry_id, fields in await wire.call("XRANGE", STREAM, "-", "+"):
            known = dict(zip(fields[::2], fields[1::2], strict=True))
            self.entries.append(Entry(id_of(entry_id), known[b"p"].decode(), int(known[b"n"])))
        for _, fields in await wire.call("XRANGE", DEAD, "-", "+"):
            self.dead.append(dict(zip(fields[::2], fields[1::2], strict=True)))

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    # ------------------------------------------------------------------ what must be true

    def problems(self, is_drained: bool = True) -> list[str]:
        """All that is wrong, in what was seen and what is there."""
        found = [f"the group is lost: {self.lost_group}"] if self.lost_group else []
        found += [
            *self._of_ids(), *self._of_losses(), *self._of_order(), *self._of_owners(),
            *self._of_dead(),
        ]  # fmt: skip
        if is_drained:
            found += self._of_undelivered()
        return found[:5]

    def _of_ids(self) -> list[str]:
        known = sorted((one for one in self.sent if one.id), key=lambda one: one.returned_s)
        found = []
        ids = [entry.id for entry in self.entries]
        if ids != sorted(set(ids)):
            found.append(f"ids of the stream do not grow: {ids}")
        for later in known:
            lower = [one for one in known if one.returned_s <= later.called_s]
            if lower and later.id is not None:
                highest = max(one.id for one in lower if one.id is not None)
                if highest >= later.id:
                    found.append(f"{later} was sent when {highest} had been answered")
        return found

    def _of_losses(self) -> list[str]:
        there = {(entry.producer, entry.number): entry.id for entry in self.entries}
        found = []
        if len(there) != len(self.entries):
            found.append("an entry is there twice")
        sent = {(one.producer, one.number) for one in self.sent}
        found += [f"nobody has sent {one}" for one in there if one not in sent]
        for one in self.sent:
            if one.id is not None and there.get((one.producer, one.number)) != one.id:
                found.append(f"{one} was acknowledged, and is not there as such")
        return found

    def _of_order(self) -> list[str]:
        last: dict[str, int] = {}
        found = []
        for entry in self.entries:
            if last.get(entry.producer, -1) >= entry.number:
                found.append(f"{entry} stands behind {last[entry.producer]} of its producer")
            last[entry.producer] = entry.number
        return found

    def _of_owners(self) -> list[str]:
        found = []
        by_id: dict[tuple[int, int], list[Delivery]] = {}
        for one in sorted(self.deliveries, key=lambda one: one.returned_s):
            by_id.setdefault(one.id, []).append(one)
        for entry, deliveries in by_id.items():
            if len(deliveries) > MAX_DELIVERIES:
                found.append(f"{entry} was delivered {len(deliveries)} times")
            for one, other in pairwise(deliveries):
                # in either order: a reply may have been held back, until it was confirmed
                longest_s = max(other.returned_s - one.called_s, one.returned_s - other.called_s)
                if not self.moves_time and longest_s < VISIBILITY_MS / 1000 - EARLY_S:
                    found.append(f"{other} has come too soon after {one}")
            for ack in self.acks:
                if ack.id == entry:
                    found += [
                        f"{one} was delivered after {ack}"
                        for one in deliveries if one.called_s >= ack.returned_s
                    ]  # fmt: skip
        return found

    def _of_dead(self) -> list[str]:
        found = []
        ids = [id_of(one[b"dead-id"]) for one in self.dead]
        if len(set(ids)) != len(ids):
            found.append(f"an entry has died twice: {sorted(ids)}")
        acked = {ack.id for ack in self.acks}
        for one in self.dead:
            entry, count = id_of(one[b"dead-id"]), int(one[b"dead-deliveries"])
            if entry in acked:
                found.append(f"{entry} was acknowledged, and is a dead letter")
            if count != MAX_DELIVERIES or one[b"dead-reason"] != b"deliveries":
                found.append(f"{entry} has died without being delivered often enough: {one}")
            seen = sum(delivery.id == entry for delivery in self.deliveries)
            if seen > count or (not self.blind_reads and seen != count):
                found.append(f"{entry} was delivered {seen} times, and has died after {count}")
        return found

    def _of_undelivered(self) -> list[str]:
        if self.blind_reads:
            return []
        seen = {one.id for one in self.deliveries}
        return [f"{one} was never delivered" for one in self.entries if one.id not in seen]
