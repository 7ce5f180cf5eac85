"""What scenarios share: clients, settings that vary, servers that are started again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.simulation.client import Wire
from tests.simulation.host import Host
from tests.simulation.queues import Queue
from tests.simulation.registers import Registers
from tests.simulation.world import World


def finder(world: World, host: Host, client: str) -> Callable[[], Awaitable[Wire | None]]:
    """Connects *client* to *host*, if it is there."""

    async def find() -> Wire | None:
        try:
            return await Wire.open(world.network, client, host.name)
        except OSError:
            return None

    return find


def variety(world: World) -> dict[str, str]:
    """Settings that change how data are kept, and nothing of what is promised."""
    choices = {
        "aof_use_rdb_preamble": ("yes", "yes", "no"),
        "aof_timestamp_enabled": ("no", "yes"),
        "auto_aof_rewrite_min_size": ("64mb", "1kb"),
        "auto_aof_rewrite_percentage": ("100", "30"),
        "hz": ("10", "10", "50"),
        "stream_node_max_entries": ("100", "3"),
        "repl_diskless_load": ("disabled", "swapdb"),
    }
    return {name: world.random.choice(values) for name, values in choices.items()}


def clients(
    world: World, host: Host, registers: Registers, queue: Queue
) -> list[asyncio.Task[Any]]:
    """Clients of both; those that end by themselves."""
    random = world.random
    tasks = []
    pause_s = random.choice((0.05, 0.2, 1.0))
    for number in range(random.randint(1, 3)):
        name = f"client:{number}"
        count = min(random.randint(20, 60), int(12 / pause_s))
        work = registers.client(name, finder(world, host, name), count, pause_s)
        tasks.append(world.spawn(work))
    if pause_s == 1.0:  # it is quiet here: what nobody fsyncs stays so for a while
        return tasks
    for number in range(random.randint(1, 2)):
        name = f"producer:{number}"
        work = queue.produce(name, finder(world, host, name), random.randint(5, 30), 0.3)
        tasks.append(world.spawn(work))
    for number in range(random.randint(1, 3)):
        name = f"consumer:{number}"
        acks = random.choice((0.3, 0.8, 1.0))
        world.spawn(queue.consume(name, finder(world, host, name), 0.3, acks))
    return tasks


async def say(world: World, host: Host, *words: str) -> Any:
    """The reply, or None if there is none."""
    wire = None
    try:
        wire = await Wire.open(world.network, "tester", host.name)
        return await wire.call(*words)
    except OSError:
        return None
    finally:
        if wire is not None:
            wire.close()


async def settle(world: World, host: Host) -> None:
    """Start the server again if it has ended, and wait until it serves."""
    if host.server is not None and host.server.stopped.is_set():
        host.kill()
    if not host.is_up:
        await asyncio.sleep(world.random.uniform(0, 0.5))
        host.start()
    assert await world.serving(host), f"{host.name} does not start: {host.failure}"


async def until_done(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        await task
