"""Writers of one numbered history: what is left after a crash or a failover is a first part of it.

    MULTI   INCR seq   RPUSH w:<writer> <token>   EXEC   -> the entry's number

Numbers are given by the primary; a *reign* is one server as the primary, from its start
or promotion on. What it has acknowledged is lost in part, at most: the last of it. So if an entry
of a reign is there, all that the same reign had acknowledged with lower numbers are there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from tests.simulation.client import Wire, is_error

Reign = tuple[str, int, int]  # a host, the number of its start, and of its promotion


class Entry(NamedTuple):
    """What was acknowledged. *is_sure*: it must be kept, whatever happens to one machine."""

    token: bytes
    number: int
    reign: Reign
    acked_s: float
    is_sure: bool


class Ledger:
    """A *wait* command follows each entry, and says whether that is sure to be kept.

    *confirms*: they are written on connections with CLIENT ACKS, and each that is answered is sure.
    """

    def __init__(self, random: Random, confirms: bool = False) -> None:
        self._random = random
        self._confirms = confirms
        self.entries: list[Entry] = []
        self._tokens = 0
        self._sent: set[bytes] = set()
        self.power_cuts: list[float] = []  # when the power has failed
        self.counted = 0
        self.lists: dict[bytes, list[bytes]] = {}

    async def write(
        self,
        name: str,
        find: Callable[[], Any],
        until: Callable[[], bool],
        pause_s: float,
        wait: tuple[Any, ...] = (),
    ) -> None:
        """Write as long as *until* is false. *find* returns a wire and a reign, or None."""
        wire: Wire | None = None
        reign: Reign = ("", 0, 0)
        while not until():
            await asyncio.sleep(self._random.uniform(0, pause_s))
            if wire is None or wire.is_lost:
                found = await find()
                if found is None:
                    continue
                wire, reign = found
            try:
                alive = await self._one(name, wire, reign, wait)
            except OSError:
                alive = False
            if not alive:
                wire.close()
                wire = None
        if wire is not None:
            wire.close()

    async def _one(self, name: str, wire: Wire, reign: Reign, wait: tuple[Any, ...]) -> bool:
        """Add an entry; False if the server does not take it."""
        self._tokens += 1
        token = b"%d" % self._tokens
        self._sent.add(token)
        for words in (("MULTI",), ("INCR", "seq"), ("RPUSH", f"w:{name}", token)):
            wire.send(*words).add_done_callback(lambda one: one.cancelled() or one.exception())
        reply = await wire.call("EXEC", timeout_s=3.0)
        if is_error(reply) or reply is None or any(map(is_error, reply)):
            return False
        now_s = asyncio.get_running_loop().time()
        is_sure = self._confirms
        if wait:
            try:
                is_sure = await wire.call(*wait, timeout_s=3.0) == wait[1]
            except OSError:
                self.entries.append(Entry(token, reply[0], reign, now_s, False))
                raise
        self.entries.append(Entry(token, reply[0], reign, now_s, is_sure))
        return True

    async def look(self, wire: Wire) -> None:
        """See what there is."""
        self.lists = {}
        self.counted = int(await wire.call("GET", "seq") or 0)
        for key in await wire.call("KEYS", "w:*"):
            self.lists[key] = await wire.call("LRANGE", key, "0", "-1")

    def problems(self, bound_s: float | None) -> list[str]:
        """All that is wrong, where a power cut loses what was acknowledged *bound_s* before it.

        None: whatever is not sure may be lost.
        """
        there = [token for tokens in self.lists.values() for token in tokens]
        present = set(there)
        found = []
        if len(present) != len(there):
            found.append("an entry is there twice")
        if len(there) != self.counted:
            found.append(f"{len(there)} entries are there, and {self.counted} were counted")
        if present - self._sent:
            found.append(f"nobody has sent {sorted(present - self._sent)}")
        for key, tokens in self.lists.items():
            if tokens != sorted(tokens, key=int):
                found.append(f"{key!r} is out of order: {tokens}")
        found += self._gaps(present)
        for entry in self.entries:
            is_promised = entry.is_sure or (
                bound_s is not None
                and not any(
                    entry.acked_s <= cut_s <= entry.acked_s + bound_s for cut_s in self.power_cuts
                )
            )
            if is_promised and entry.token not in present:
                found.append(f"{entry} is lost; the power has failed at {self.power_cuts}")
        return found[:5]

    def _gaps(self, present: set[bytes]) -> list[str]:
        last: dict[Reign, int] = {}
        for entry in self.entries:
            if entry.token in present:
                last[entry.reign] = max(last.get(entry.reign, 0), entry.number)
        return [
            f"{entry} is missing, but {last[entry.reign]} of its reign is there"
            for entry in self.entries
            if entry.token not in present and entry.number <= last.get(entry.reign, 0)
        ]
