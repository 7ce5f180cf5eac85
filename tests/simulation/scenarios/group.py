"""Servers that confirm: a primary and replicas with a lease, a decider, and what befalls them.

Clients talk to every server, also to one that was cut off from the others. A decider promotes the
replica that is furthest, or any, at once or after a while, and tells the others of it late. One
thing fails at a time: the next one when the primary has its replicas again.
"""

from __future__ import annotations

import asyncio

from tests.simulation.client import Wire
from tests.simulation.decider import Decider
from tests.simulation.host import Host
from tests.simulation.ledger import Reign
from tests.simulation.scenarios.common import settle
from tests.simulation.scenarios.failover import until_whole
from tests.simulation.scenarios.replicas import befall_replica, three
from tests.simulation.world import World

FAULTS = (
    "kill", "power", "pause", "cut", "cut", "all cut", "all cut", "cut pause", "one cut",
    "clients cut", "deaf", "mute", "replica", "reset", "slow", "clock", "all power",
)  # fmt: skip
OF_REPLICAS = ("kill", "power", "pause", "cut", "slow", "reset")
CLIENTS = 4  # at most, of each kind
WITHIN_S = 60.0  # a write is confirmed, when all is whole


class Group:
    """Three servers or five with a lease, a decider, and the way of clients to them."""

    def __init__(self, world: World) -> None:
        random = world.random
        self.world = world
        self.moves_time = False
        self._is_always = random.random() < 0.5  # appendfsync
        self._fsync_share = random.choice((0, 0.5, 1.0))
        # of all that was confirmed, the primary's disk has everything
        self._keeps_all = self._is_always or self._fsync_share == 1.0
        more = random.choice(("", "", "", "de"))
        self.hosts = three(
            world,
            more=more,
            appendonly="yes",
            appendfsync="always" if self._is_always else "everysec",
            replica_quorum_of="4" if more else random.choice(("0", "2")),
            replica_quorum_lease=random.choice(("500", "600", "800")),
            replica_quorum_grace=random.choice(("5000", "10000")),
        )
        for host in self.hosts:
            host.start()
        self.decider = Decider(world, self.hosts, random.choice((1.0, 2.0)))
        self.decider.takes_any = random.random() < 0.5
        self.decider.hesitates_s = random.choice((0, 0, 1.0))
        self.decider.tells_after_s = random.choice((0, 1.0))
        world.spawn(self.decider.run())

    # ------------------------------------------------------------------ clients

    async def find(self, client: str) -> Wire | None:
        """A connection with ACKS: usually to the primary, or to any server."""
        random = self.world.random
        host = self.decider.primary if random.random() < 0.6 else random.choice(self.hosts)
        return await self.connected(client, host)

    async def find_for(self, client: str) -> tuple[Wire, Reign] | None:
        """A connection with ACKS to the primary, and in whose reign."""
        host = self.decider.primary
        reign = self.decider.reign()
        wire = await self.connected(client, host)
        return None if wire is None or reign != self.decider.reign() else (wire, reign)

    async def connected(self, client: str, host: Host) -> Wire | None:
        """A connection with ACKS to *host*."""
        random = self.world.random
        words = ["CLIENT", "ACKS", "QUORUM"]
        timeout_ms = random.choice((300, 1000, 2500))
        if random.random() < self._fsync_share:
            words.append("FSYNC")
            timeout_ms += 0 if self._is_always else 2000
        words += ["TIMEOUT", str(timeout_ms)]
        try:
            opening = Wire.open(self.world.network, client, host.name)
            wire = await asyncio.wait_for(opening, 1.0)
            reply = await wire.call(*words, timeout_s=1.0)
        except OSError:
            return None
        if reply == b"OK":
            return wire
        wire.close()
        return None

    async def sure_wire(self, client: str = "tester") -> Wire:
        """A connection with ACKS to the primary, where a write has just been confirmed."""
        until_s = self.world.loop.time() + WITHIN_S
        reply: object = "no connection"
        while self.world.loop.time() < until_s:
            wire = await self.connected(client, self.decider.primary)
            if wire is not None:
                try:
                    reply = await wire.call("SET", "ready", "1")
                except OSError as error:
                    reply = error
                if reply == b"OK":
                    return wire
                wire.close()
            await asyncio.sleep(0.2)
        raise AssertionError(f"all servers are there, and nothing is confirmed: {reply}")

    # ------------------------------------------------------------------ what befalls it

    async def begin(self) -> Wire:
        """Wait until it is whole, and confirms writes."""
        for host in self.hosts:
            assert await self.world.serving(host), host.failure
        await until_whole(self.world, self.decider, self.hosts)
        return await self.sure_wire()

    async def suffer(self) -> None:
        """Some failures, one after the other."""
        random = self.world.random
        for _ in range(random.randint(1, 3)):
            await asyncio.sleep(random.uniform(0.2, 2.0))
            await self._befall(random.choice(FAULTS))
            self.world.network.heal()
            for host in self.hosts:
                await settle(self.world, host)
            await until_whole(self.world, self.decider, self.hosts)
        await asyncio.sleep(2.0)  # what slow links still have on the way

    async def _befall(self, what: str) -> None:
        world, random, primary = self.world, self.world.random, self.decider.primary
        others = [host for host in self.hosts if host is not primary]
        world.count(f"confirmed: {what}")
        if what == "kill":
            primary.kill()
            await asyncio.sleep(random.uniform(0, 6.0))
        elif what == "power":
            await self._cut_power(primary)
        elif what == "all power":
            await self._cut_all_power()
        elif what in ("pause", "cut pause"):
            if what == "cut pause":
                self._cut(primary, [*others, self.decider])
            primary.pause()
            await asyncio.sleep(random.uniform(0.5, 6.0))
            primary.resume()
        elif what == "one cut":
            self._cut(primary, [random.choice(others)])
        elif what == "cut":
            self._cut(primary, [self.decider])
        elif what == "all cut":
            self._cut(primary, [*others, self.decider])
        elif what in ("deaf", "mute"):  # what is sent to it gets lost, or what it sends
            for name in [self.decider.name, *[host.name for host in others]]:
                way = (name, primary.name) if what == "deaf" else (primary.name, name)
                world.network.link(*way).is_cut = True
            await asyncio.sleep(random.uniform(0.5, 8.0))
        elif what == "clients cut":
            for number in range(CLIENTS):
                world.network.cut(primary.name, f"client:{number}")
        elif what == "replica":
            await befall_replica(world, primary, random.choice(others), OF_REPLICAS)
        elif what == "reset":
            for host in others:
                world.network.reset(primary.name, host.name)
        elif what == "slow":
            for host in others:
                world.network.slow(primary.name, host.name, random.choice((0.05, 1.0)))
        elif what == "clock":
            self.moves_time = True
            primary.unix_ahead_s += random.choice((-3600.0, 3600.0))
        if "cut" in what or what in ("slow", "clock"):
            await asyncio.sleep(random.uniform(0.5, 8.0))

    def _cut(self, primary: Host, others: list[Host | Decider]) -> None:
        for other in others:
            self.world.network.cut(primary.name, other.name)

    async def _cut_power(self, primary: Host) -> None:
        """If it may come back without what it had confirmed, then not as the primary."""
        promotions = self.decider.promotions
        primary.power_off()
        await asyncio.sleep(self.world.random.uniform(0, 6.0))
        while not self._keeps_all and self.decider.promotions == promotions:
            await asyncio.sleep(0.2)

    async def _cut_all_power(self) -> None:
        """All machines; nobody is promoted until they are back."""
        if not self._keeps_all:
            return
        self.decider.rests = True
        for host in self.hosts:
            host.power_off()
        await asyncio.sleep(self.world.random.uniform(0, 2.0))
        for host in self.world.random.sample(self.hosts, len(self.hosts)):
            await settle(self.world, host)
        self.decider.rests = False
