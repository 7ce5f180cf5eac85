"""FAILOVER: a primary that hands its role over, while links fail and processes stop."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import combinations

from tests.simulation.client import Wire
from tests.simulation.host import Host
from tests.simulation.registers import Registers
from tests.simulation.same_data import SameData
from tests.simulation.scenarios.common import finder, say, until_done
from tests.simulation.scenarios.replicas import three
from tests.simulation.world import World


async def handover(world: World) -> None:
    """FAILOVER hands the role over: single keys stay linearizable for those who write."""
    random = world.random
    hosts = three(world, appendonly="yes", appendfsync="everysec")
    for host in hosts:
        host.start()
    assert await world.serving(hosts[0]), hosts[0].failure
    registers, same = Registers(random, reads=False), SameData(world, hosts)
    world.spawn(same.watch())
    busy = [
        world.spawn(
            registers.client(f"client:{n}", partial(_primary, world, hosts, f"client:{n}"), 60, 0.2)
        )
        for n in range(random.randint(2, 3))
    ]
    for _ in range(random.randint(1, 3)):
        _slow_down(world, hosts)
        await asyncio.sleep(random.uniform(0.5, 3.0))
        _slow_down(world, hosts)  # what is under way may come after what is sent now
        for host in hosts:
            words = ("FAILOVER", "TIMEOUT", str(random.choice((200, 3000))))
            if host.server is not None and host.server.state.replication.following is None:
                reply = await say(world, host, *words)
                world.count("handovers", reply == b"OK")
        await _disturb_handover(world, hosts)
    await until_done(busy)
    world.network.heal()
    primary = await _one_primary(world, hosts)
    await same.until_equal(primary)
    world.count("operations", registers.done)
    for problem in [*registers.problems(), *same.problems]:
        world.problem(problem)


def _slow_down(world: World, hosts: list[Host]) -> None:
    """Some of the links between *hosts* are slow from now on, the others are not."""
    for one, other in combinations(hosts, 2):
        world.network.slow(one.name, other.name, world.random.choice((0, 0.5)))


async def _disturb_handover(world: World, hosts: list[Host]) -> None:
    """Perhaps something happens to the links, or to a process, while the role is handed over."""
    random = world.random
    what = random.choice(("nothing", "cut", "reset", "pause"))
    world.count(f"handover: {what}")
    one, other = random.sample(hosts, 2)
    await asyncio.sleep(random.uniform(0, 0.3))
    if what == "cut":
        world.network.cut(one.name, other.name)
        await asyncio.sleep(random.uniform(0.1, 4.0))
        world.network.cut(one.name, other.name, False)
    elif what == "reset":
        world.network.reset(one.name, other.name)
    elif what == "pause":
        one.pause()
        await asyncio.sleep(random.uniform(0.1, 4.0))
        one.resume()


async def _one_primary(world: World, hosts: list[Host]) -> Host:
    until_s = world.loop.time() + 60
    while True:
        found = [
            host for host in hosts
            if host.server is not None and host.server.state.replication.following is None
        ]  # fmt: skip
        if len(found) == 1:
            return found[0]
        assert world.loop.time() < until_s, f"{len(found)} servers are primaries"
        await asyncio.sleep(0.2)


async def _primary(world: World, hosts: list[Host], client: str) -> Wire | None:
    """A connection to a server that says it is the primary."""
    for host in world.random.sample(hosts, len(hosts)):
        wire = await finder(world, host, client)()
        if wire is None:
            continue
        try:
            reply = await wire.call("ROLE", timeout_s=1.0)
        except OSError:
            continue
        if isinstance(reply, list) and reply[0] == b"master":
            return wire
        wire.close()
    return None
