"""A replica is a first part of its primary: servers at the same place in a history hold the same.

A place is the name of a history and an offset. Whenever a server is seen there, what it holds is
compared with what the others held there.
"""

from __future__ import annotations

import asyncio

from tests.simulation.host import Host
from tests.simulation.world import World

LOOKS_EVERY_S = 0.03


class SameData:
    """Watches *hosts*."""

    def __init__(self, world: World, hosts: list[Host]) -> None:
        self._world = world
        self._hosts = hosts
        self._seen: dict[tuple[str, int], tuple[str, str]] = {}  # place -> what, and where
        self._last: dict[str, tuple[str, int]] = {}  # where each was seen
        self.problems: list[str] = []
        self.compared = 0

    async def watch(self) -> None:
        """Look again and again, for ever."""
        while True:
            await asyncio.sleep(self._world.random.uniform(0, LOOKS_EVERY_S))
            for host in self._hosts:
                self.look(host)

    def look(self, host: Host) -> None:
        """See what *host* holds, if it is between two commands of its primary."""
        if not host.is_serving or host.server is None:
            return
        replication = host.server.state.replication
        following = replication.following
        if following is not None and not following.is_up:
            return  # what it holds belongs to another history, or to none
        if following is None and replication.feed.offset() != replication.history.offset:
            return  # what a turn has changed is not part of the history yet
        place = host.place()
        if self._last.get(host.name) == place:
            return
        self._last[host.name] = place
        holds = host.digest()
        known = self._seen.setdefault(place, (holds, host.name))
        if known[1] != host.name:
            self.compared += 1
        if known[0] != holds and len(self.problems) < 3:
            self.problems.append(f"{host.name} holds other data than {known[1]} at {place}")

    async def until_equal(self, primary: Host) -> None:
        """Wait until all hold the same."""
        until_s = self._world.loop.time() + 60
        while True:
            await asyncio.sleep(0.1)
            places = {host.place() for host in self._hosts if host.is_serving and host.server}
            if len(places) == 1 and all(host.is_serving for host in self._hosts):
                break
            if self._world.loop.time() > until_s:
                self.problems.append(f"the replicas of {primary.name} do not catch up: {places}")
                return
        for host in self._hosts:
            self.look(host)
            await self._compare_groups(primary, host)

    async def _compare_groups(self, primary: Host, host: Host) -> None:
        """The digest leaves groups out."""
        if await groups_of(self._world, primary) != await groups_of(self._world, host):
            self.problems.append(f"{host.name} has other groups than {primary.name}")


async def groups_of(world: World, host: Host) -> list[object]:
    """What *host* knows of the groups of a stream."""
    wire = await world.wire(host, "watcher")
    pending = await wire.call("XPENDING", "jobs", "workers", "-", "+", 1000)
    groups = await wire.call("XINFO", "GROUPS", "jobs")
    wire.close()
    found: list[object] = []
    if isinstance(pending, list):  # without how long each has been idle
        found = [[one[0], one[1], one[3]] for one in pending]
    if isinstance(groups, list):
        for group in groups:
            known = dict(zip(group[::2], group[1::2], strict=True))
            found.append([known[b"name"], known[b"last-delivered-id"], known[b"pending"]])
    return found
