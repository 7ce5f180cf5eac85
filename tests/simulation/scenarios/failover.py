"""A primary that is killed, paused or cut off, and a decider that promotes a replica."""

from __future__ import annotations

import asyncio
from functools import partial

from tests.simulation.decider import Decider
from tests.simulation.host import Host
from tests.simulation.ledger import Ledger
from tests.simulation.same_data import SameData
from tests.simulation.scenarios.common import settle, until_done
from tests.simulation.scenarios.replicas import befall_replica, three
from tests.simulation.world import World


async def failover(world: World) -> None:
    """A decider promotes: what WAIT has confirmed on all replicas is kept over each failure."""
    random = world.random
    hosts = three(world, appendonly="yes", appendfsync="always")
    for host in hosts:
        host.start()
    assert await world.serving(hosts[0]), hosts[0].failure
    decider = Decider(world, hosts, random.choice((1.0, 3.0)))
    world.spawn(decider.run())
    ledger, same = Ledger(random), SameData(world, hosts)
    world.spawn(same.watch())
    is_over = False
    writers = [
        world.spawn(
            ledger.write(
                f"{n}", partial(decider.find, f"client:{n}"), lambda: is_over, 0.15,
                ("WAIT", 2, 300),
            )
        )
        for n in range(random.randint(1, 3))
    ]  # fmt: skip
    for _ in range(random.randint(1, 4)):
        await until_whole(world, decider, hosts)
        await asyncio.sleep(random.uniform(0.2, 2.0))
        await _befall_primary(world, decider)
        for host in hosts:
            await settle(world, host)
    world.network.heal()
    await until_whole(world, decider, hosts)
    is_over = True
    await until_done(writers)
    await same.until_equal(decider.primary)
    await ledger.look(await world.wire(decider.primary))
    world.count("operations", len(ledger.entries))
    world.count("confirmed", sum(entry.is_sure for entry in ledger.entries))
    for problem in [*ledger.problems(None), *same.problems]:
        world.problem(problem)


async def until_whole(world: World, decider: Decider, hosts: list[Host]) -> None:
    """Wait until the primary has two replicas that follow."""
    until_s = world.loop.time() + 120
    while True:
        await asyncio.sleep(0.2)
        primary = decider.primary
        if primary.is_serving and primary.server is not None:
            states = [one.stage.name for one in primary.server.state.replication.feed.replicas]
            if states.count("ONLINE") == len(hosts) - 1:
                return
        assert world.loop.time() < until_s, f"no two replicas follow {primary.name}: {_seen(hosts)}"


def _seen(hosts: list[Host]) -> str:
    return ", ".join(
        f"{host.name} {host.place() if host.server is not None else 'down'}" for host in hosts
    )


async def _befall_primary(world: World, decider: Decider) -> None:
    """Something that ends a reign, or not."""
    random, primary = world.random, decider.primary
    what = random.choice(("kill", "power", "pause", "cut", "all cut", "replica", "reset"))
    world.count(f"primary: {what}")
    others = [name for name in world.hosts if name != primary.name]
    if what in ("kill", "power"):
        (primary.kill if what == "kill" else primary.power_off)()
        await asyncio.sleep(random.uniform(0, 6.0))
    elif what == "pause":
        primary.pause()
        await asyncio.sleep(random.uniform(0.5, 6.0))
        primary.resume()
    elif what in ("cut", "all cut"):
        world.network.cut(primary.name, decider.name)
        for name in others if what == "all cut" else []:
            world.network.cut(primary.name, name)
        await asyncio.sleep(random.uniform(0.5, 8.0))
        world.network.heal()
    elif what == "replica":
        await befall_replica(world, primary, world.hosts[random.choice(others)])
        world.network.heal()
    else:
        for name in others:
            world.network.reset(primary.name, name)
