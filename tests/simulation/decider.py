"""What Sentinel does, as one program: it promotes a replica when the primary does not answer.

It asks all servers again and again. When the primary has not answered for *down_after_s*, the one
of the others that is furthest becomes the primary; all that are found with another role, or
with another primary, are told whom to follow.
"""

from __future__ import annotations

import asyncio
from typing import Any

from tests.simulation.client import Wire, is_error
from tests.simulation.host import PORT, Host
from tests.simulation.ledger import Reign
from tests.simulation.world import World

ASKS_EVERY_S = 0.2
PATIENCE_S = 0.5


class Decider:
    """Decides who is the primary of *hosts*; the first is, at the beginning."""

    name = "decider"

    def __init__(self, world: World, hosts: list[Host], down_after_s: float) -> None:
        self._world = world
        self._hosts = hosts
        self._down_after_s = down_after_s
        self._wires: dict[str, Wire] = {}
        self.primary = hosts[0]
        self.promotions = 0
        self.since_s = 0.0  # when the primary was promoted
        self._heard_s = world.loop.time()
        self.takes_any = False  # a replica, not the one that is furthest
        self.hesitates_s = 0.0  # at most, before it promotes
        self.tells_after_s = 0.0  # at most, before it tells others of the new primary
        self.rests = False

    async def run(self) -> None:
        """Work for ever."""
        while True:
            await asyncio.sleep(ASKS_EVERY_S)
            if self.rests:
                self._heard_s = self._world.loop.time()
                continue
            reports = {}
            for host in self._hosts:
                report = await self._ask(host)
                if report is not None:
                    reports[host.name] = report
            now_s = self._world.loop.time()
            if self.primary.name in reports:
                self._heard_s = now_s
            elif now_s - self._heard_s > self._down_after_s:
                await self._promote(reports)
            await self._align(reports)

    async def _ask(self, host: Host) -> dict[str, str] | None:
        """What *host* says of its replication; None if it does not answer."""
        reply = await self._tell(host, "INFO", "replication")
        if reply is None or is_error(reply):
            return None
        lines = reply.decode().splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    async def _tell(self, host: Host, *words: str) -> Any:
        wire = self._wires.get(host.name)
        try:
            if wire is None or wire.is_lost:
                opening = Wire.open(self._world.network, self.name, host.name)
                wire = self._wires[host.name] = await asyncio.wait_for(opening, PATIENCE_S)
            return await wire.call(*words, timeout_s=PATIENCE_S)
        except OSError:
            if wire is not None:
                wire.close()
            return None

    async def _promote(self, reports: dict[str, dict[str, str]]) -> None:
        candidates = [
            host for host in self._hosts
            if host is not self.primary
            and reports.get(host.name, {}).get("role") == "slave"
            and reports[host.name].get("master_sync_in_progress") == "0"
        ]  # fmt: skip
        if not candidates:
            return
        chosen = self._chosen(candidates, reports)
        await self._wait(self.hesitates_s)
        reply = await self._tell(chosen, "REPLICAOF", "NO", "ONE")
        if reply != b"OK":
            return
        chosen.settings.pop("replicaof", None)  # as CONFIG REWRITE does
        self._world.note("promoted", chosen.name)
        self._world.count("failovers")
        self.primary = chosen
        self.promotions += 1
        self.since_s = self._heard_s = self._world.loop.time()
        reports[chosen.name]["role"] = "master"
        await self._wait(self.tells_after_s)

    async def _wait(self, longest_s: float) -> None:
        if longest_s:
            await asyncio.sleep(self._world.random.uniform(0, longest_s))

    def _chosen(self, candidates: list[Host], reports: dict[str, dict[str, str]]) -> Host:
        if self.takes_any:
            return self._world.random.choice(candidates)
        return max(candidates, key=lambda host: int(reports[host.name]["slave_repl_offset"]))

    async def _align(self, reports: dict[str, dict[str, str]]) -> None:
        """Have all others follow the primary."""
        for host in self._hosts:
            report = reports.get(host.name)
            if host is self.primary or report is None:
                continue
            if report["role"] == "master" or report.get("master_host") != self.primary.name:
                host.settings["replicaof"] = f"{self.primary.name} {PORT}"
                await self._tell(host, "REPLICAOF", self.primary.name, str(PORT))

    def reign(self) -> Reign:
        return (self.primary.name, self.primary.starts, self.promotions)

    async def find(self, client: str) -> tuple[Wire, Reign] | None:
        """A connection of *client* to the primary, if it can be had."""
        reign = self.reign()
        try:
            opening = Wire.open(self._world.network, client, self.primary.name)
            wire = await asyncio.wait_for(opening, 1.0)
        except OSError:
            return None
        return (wire, reign) if reign == self.reign() else None
