"""A world ends whatever its servers do at that moment."""

from __future__ import annotations

import asyncio

from tests.simulation.world import World, run


def test_a_world_ends_while_a_server_dials_its_primary() -> None:
    """Once, its task waited for a callback of a process that was dead by then."""

    async def dialling(world: World) -> None:
        world.network.cut("a", "b")
        host = world.host("b", replicaof="a 6379")
        host.start()
        assert await world.serving(host)
        assert host.server is not None
        link = host.server._link
        while link is None or not link.is_dialling:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)

    for seed in range(8):  # what is cancelled comes to its end in any order
        assert run(seed, dialling).problems == []
