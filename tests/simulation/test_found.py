"""What worlds have found wrong in the servers, each as the shortest world that shows it."""

from __future__ import annotations

import asyncio

import pytest

from tests.simulation.world import World, run


@pytest.mark.parametrize("appendfsync", ["always", "everysec"])
def test_what_a_killed_process_has_written_is_fsynced_before_the_next_one_shows_it(
    appendfsync: str,
) -> None:
    """Once, a power cut took back what the second process had told, if that had written nothing."""

    async def shown_and_lost(world: World) -> None:
        host = world.host("p", appendonly="yes", appendfsync=appendfsync)
        host.start()
        assert await world.serving(host)
        wire = await world.wire(host)
        host.end_at_step(2, host.kill)  # the first is the write
        sent = wire.send("SET", "k", "v")
        await asyncio.sleep(0.05)
        host.kill()
        sent.exception() if sent.done() else sent.cancel()
        host.start()
        assert await world.serving(host)
        shown = await (await world.wire(host)).call("GET", "k")
        await asyncio.sleep(3.0)
        host.power_off()
        host.start()
        assert await world.serving(host)
        kept = await (await world.wire(host)).call("GET", "k")
        assert (shown, kept) == (b"v", b"v")

    for seed in range(5):  # the power cut keeps what was not fsynced, or a part of it, or nothing
        assert run(seed, shown_and_lost).problems == []
