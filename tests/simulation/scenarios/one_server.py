"""One server, whose disk has to keep what was acknowledged, whatever happens to the machine."""

from __future__ import annotations

import asyncio

from tests.simulation.disk import Faults
from tests.simulation.host import Host
from tests.simulation.queues import Queue
from tests.simulation.registers import Registers
from tests.simulation.scenarios.common import clients, say, settle, until_done, variety
from tests.simulation.world import World

OF_ONE_SERVER = (
    "kill", "power", "pause", "rewrite", "snapshot", "disk", "reset", "restart", "step", "step",
    "clock", "twice",
)  # fmt: skip


async def always(world: World) -> None:
    """With appendfsync always, whatever happens to the machine, nothing acknowledged is lost."""
    random = world.random
    host = world.host("p", appendonly="yes", appendfsync="always", **variety(world))
    host.start()
    assert await world.serving(host), host.failure
    registers, queue = Registers(random), Queue(random)
    await queue.prepare(await world.wire(host))
    busy = clients(world, host, registers, queue)
    for _ in range(random.randint(1, 4)):
        await asyncio.sleep(random.uniform(0.2, 2.5))
        await _befall_one(world, host, queue)
    await until_done(busy)
    await settle(world, host)
    queue.ends = True
    await queue.drain(await world.wire(host, "last"))
    world.count("operations", registers.done + len(queue.sent) + len(queue.deliveries))
    for problem in [*registers.problems(), *queue.problems()]:
        world.problem(problem)


async def _befall_one(world: World, host: Host, queue: Queue) -> None:
    """Something that one server must survive."""
    random = world.random
    what = random.choice(OF_ONE_SERVER)
    world.count(what)
    if what == "kill":
        host.kill()
    elif what == "power":
        host.power_off()
    elif what == "step":
        if random.random() < 0.4:
            await say(world, host, random.choice(("BGREWRITEAOF", "BGSAVE")))
        await _end_at_step(world, host)
    elif what == "twice":  # what the first process has written, and not fsynced, is the second's
        host.end_at_step(random.randint(1, 6), host.kill)
        await asyncio.sleep(random.uniform(0.1, 1.0))
        host.end_at_step(0, host.kill)
        await settle(world, host)
        await asyncio.sleep(random.uniform(0, 1.0))
        host.power_off()
    elif what == "clock":
        queue.moves_time = True
        host.unix_ahead_s += random.choice((-3600.0, -1.0, 0.5, 3600.0))
    elif what == "pause":
        host.pause()
        await asyncio.sleep(random.uniform(0.1, 3.0))
        host.resume()
    elif what in ("rewrite", "snapshot"):
        await say(world, host, "BGREWRITEAOF" if what == "rewrite" else "BGSAVE")
        await asyncio.sleep(random.uniform(0, 0.3))
        if random.random() < 0.6:
            random.choice((host.kill, host.power_off))()
    elif what == "disk":
        host.disk.faults = Faults(full=random.choice((0, 0.2)), broken=random.choice((0, 0.1)))
        await asyncio.sleep(random.uniform(0.2, 2.0))
        host.disk.faults = Faults()
        if random.random() < 0.5:
            random.choice((host.kill, host.power_off))()
    elif what == "reset":
        world.network.reset(host.name, f"client:{random.randint(0, 2)}")
    elif what == "restart":
        await say(world, host, "SHUTDOWN", "NOSAVE")
    await asyncio.sleep(random.uniform(0, 0.5))
    await settle(world, host)


async def _end_at_step(world: World, host: Host) -> None:
    """Kill it, or cut its power, at some step of its disk; if that comes."""
    end = world.random.choice((host.kill, host.power_off))
    host.end_at_step(world.random.randint(1, 20), end)
    for _ in range(20):
        await asyncio.sleep(0.1)
        if not host.is_up:
            return
    host.end_at_step(0, end)
