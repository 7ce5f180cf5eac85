"""A primary, and replicas that are killed, cut off, slow, paused, or astray."""

from __future__ import annotations

import asyncio

from tests.simulation.host import Host
from tests.simulation.queues import Queue
from tests.simulation.registers import Registers
from tests.simulation.same_data import SameData
from tests.simulation.scenarios.common import clients, finder, say, settle, until_done, variety
from tests.simulation.world import World

OF_REPLICAS = ("kill", "power", "pause", "cut", "slow", "reset", "full copy")


def three(world: World, is_chain: bool = False, more: str = "", **settings: str) -> list[Host]:
    """Hosts a, b and c; b follows a, and c too, or as a *chain* follows b. *more* follow a."""
    common = {"repl_ping_replica_period": "1", "repl_timeout": "10", **variety(world), **settings}
    if world.random.random() < 0.5:
        common["repl_backlog_size"] = "16kb"
    first = world.host("a", **common)
    second = world.host("b", replicaof="a 6379", **common)
    third = world.host("c", replicaof=f"{'ab'[is_chain]} 6379", **common)
    return [first, second, third] + [
        world.host(name, replicaof="a 6379", **common) for name in more
    ]


async def replicas(world: World) -> None:
    """Replicas that are cut off, slow, killed: each is at all times a first part of its primary."""
    random = world.random
    is_chain = random.random() < 0.3
    appendfsync = random.choice(("always", "everysec"))
    hosts = three(world, is_chain, appendonly="yes", appendfsync=appendfsync)
    for host in hosts:
        host.start()
    primary = hosts[0]
    assert await world.serving(primary), primary.failure
    registers, queue, same = Registers(random), Queue(random), SameData(world, hosts)
    world.spawn(same.watch())
    await queue.prepare(await world.wire(primary))
    busy = clients(world, primary, registers, queue)
    busy.append(world.spawn(_other_databases(world, primary)))
    for _ in range(random.randint(1, 5)):
        await asyncio.sleep(random.uniform(0.2, 2.0))
        replica = random.choice(hosts[1:])
        followed = replica.settings["replicaof"].split()[0]
        await befall_replica(world, world.hosts[followed], replica)
    await until_done(busy)
    world.network.heal()
    for host in hosts:
        await settle(world, host)
    await queue.drain(await world.wire(primary, "last"))
    await same.until_equal(primary)
    world.count("operations", registers.done + len(queue.sent) + len(queue.deliveries))
    world.count("places compared", same.compared)
    for problem in [*registers.problems(), *queue.problems(), *same.problems]:
        world.problem(problem)


async def _other_databases(world: World, host: Host) -> None:
    """A client that goes from one database to another."""
    find = finder(world, host, "wanderer")
    wire = None
    for number in range(40):
        await asyncio.sleep(world.random.uniform(0, 0.3))
        wire = wire if wire is not None and not wire.is_lost else await find()
        if wire is None:
            continue
        try:
            await wire.call("SELECT", world.random.randint(0, 3))
            key = f"k:{world.random.randint(0, 3)}"
            await wire.call("SET", key, number, "PX", world.random.choice((300, 100_000)))
            await wire.call("INCR", "seen")
        except OSError:
            wire = None


async def befall_replica(
    world: World, primary: Host, replica: Host, faults: tuple[str, ...] = OF_REPLICAS
) -> None:
    """Something that a replica must survive."""
    random = world.random
    what = random.choice(faults)
    world.count(f"replica: {what}")
    if what == "kill":
        replica.kill()
    elif what == "power":
        replica.power_off()
    elif what == "pause":
        replica.pause()
        await asyncio.sleep(random.uniform(0.1, 3.0))
        replica.resume()
    elif what == "cut":
        world.network.cut(primary.name, replica.name)
        await asyncio.sleep(random.choice((0.5, 3.0, 15.0)))
        world.network.cut(primary.name, replica.name, False)
    elif what == "slow":
        world.network.slow(primary.name, replica.name, random.choice((0.05, 1.0, 0)))
    elif what == "reset":
        world.network.reset(primary.name, replica.name)
    else:
        await say(world, replica, "REPLICAOF", "NO", "ONE")
        await say(world, replica, "SET", "astray", "1")
        await say(world, replica, "REPLICAOF", *replica.settings["replicaof"].split())
    await settle(world, replica)
