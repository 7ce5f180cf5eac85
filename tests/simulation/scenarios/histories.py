"""One server with a numbered history: what a crash leaves of it is a first part."""

from __future__ import annotations

import asyncio
from functools import partial

from tests.simulation.client import Wire
from tests.simulation.disk import Faults
from tests.simulation.host import Host
from tests.simulation.ledger import Ledger, Reign
from tests.simulation.scenarios.common import finder, say, settle, until_done, variety
from tests.simulation.world import World

EVERYSEC_BOUND_S = 2.0  # what appendfsync everysec may lose, and the fsync's own time


async def everysec(world: World) -> None:
    """With appendfsync everysec kill -9 loses nothing, a power cut the last two seconds at most."""
    random = world.random
    host = world.host("p", appendonly="yes", appendfsync="everysec", **variety(world))
    host.disk.faults = Faults(slowest_s=random.choice((0.01, 0.3)))
    host.start()
    assert await world.serving(host), host.failure
    ledger = Ledger(random)
    await _write_and_crash(
        world, host, ledger, ("kill", "power", "rewrite", "pause", "step", "twice")
    )
    for problem in ledger.problems(EVERYSEC_BOUND_S):
        world.problem(problem)


async def snapshots(world: World) -> None:
    """Snapshots alone: what a crash leaves is a first part, with all up to the last save."""
    random = world.random
    host = world.host("p", appendonly="no", save="1 1", **variety(world))
    host.start()
    assert await world.serving(host), host.failure
    ledger = Ledger(random)
    await _write_and_crash(
        world, host, ledger, ("kill", "power", "snapshot", "save", "step", "flip")
    )
    for problem in ledger.problems(None):
        world.problem(problem)


async def _write_and_crash(world: World, host: Host, ledger: Ledger, ends: tuple[str, ...]) -> None:
    random = world.random
    is_over = False

    async def find(client: str) -> tuple[Wire, Reign] | None:
        starts = host.starts
        wire = await finder(world, host, client)()
        if wire is None or host.starts != starts:  # whose connection it is, is not known
            return None
        return wire, (host.name, starts, 0)

    writers = [
        world.spawn(ledger.write(f"{n}", partial(find, f"client:{n}"), lambda: is_over, 0.1))
        for n in range(random.randint(1, 3))
    ]
    for _ in range(random.randint(1, 4)):
        await asyncio.sleep(random.uniform(0.3, 4.0))
        what = random.choice(ends)
        world.count(what)
        reign = (host.name, host.starts, 0)
        if what == "save":
            await _save(world, host, ledger, reign)
            what = random.choice(("kill", "power", "none"))
        elif what in ("rewrite", "snapshot"):
            await say(world, host, "BGREWRITEAOF" if what == "rewrite" else "BGSAVE")
            await asyncio.sleep(random.uniform(0, 0.3))
            what = random.choice(("kill", "power", "none"))
        elif what == "pause":
            host.pause()
            await asyncio.sleep(random.uniform(0.1, 3.0))
            host.resume()
        if what == "kill":
            host.kill()
        elif what == "power":
            _cut_power(world, host, ledger)
        elif what == "step":
            end = random.choice((host.kill, partial(_cut_power, world, host, ledger)))
            host.end_at_step(random.randint(1, 20), end)
            await asyncio.sleep(1.0)
            host.end_at_step(0, end)
        elif what == "flip":
            await _flip(world, host)
        elif what == "twice":
            host.kill()
            await settle(world, host)
            await asyncio.sleep(random.uniform(0, 4.0))
            _cut_power(world, host, ledger)
        await settle(world, host)
    is_over = True
    await until_done(writers)
    await ledger.look(await world.wire(host))
    world.count("operations", len(ledger.entries))


def _cut_power(world: World, host: Host, ledger: Ledger) -> None:
    ledger.power_cuts.append(world.loop.time())
    host.power_off()


async def _flip(world: World, host: Host) -> None:
    """Flip a bit of the snapshot: the server refuses it, and takes it when it is mended."""
    host.kill()
    flipped = host.disk.flip_a_bit("dump.rdb")
    if flipped is None:
        return
    host.start()
    if await world.serving(host):
        world.problem(f"a server has started, with a flipped bit in {flipped[0]}")
        host.kill()
    host.disk.flip_back(*flipped)


async def _save(world: World, host: Host, ledger: Ledger, reign: Reign) -> None:
    """SAVE: all that was acknowledged before is kept from then on."""
    before = len(ledger.entries)
    if await say(world, host, "SAVE") == b"OK":
        ledger.entries[:before] = [
            entry._replace(is_sure=True) if entry.reign == reign else entry
            for entry in ledger.entries[:before]
        ]
