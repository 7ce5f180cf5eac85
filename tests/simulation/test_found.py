"""What worlds have found wrong in the servers, each as the shortest world that shows it."""

from __future__ import annotations

import asyncio

import pytest

from tests.simulation.host import Host
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


def test_what_is_confirmed_with_fsync_is_on_the_disk_of_the_primary_that_comes_back() -> None:
    """Once, FSYNC asked for the disks of replicas alone; these follow a primary that is back."""

    async def confirmed_and_lost(world: World) -> None:
        primary = world.host("p", appendonly="yes", appendfsync="everysec")
        settings = {"appendonly": "yes", "appendfsync": "always", "replicaof": "p 6379"}
        replica = world.host("q", **settings)
        for host in (primary, replica):
            host.start()
            assert await world.serving(host)
        wire = await world.wire(primary)
        await wire.call("CLIENT", "ACKS", 1, "FSYNC", "TIMEOUT", 30_000)
        for number in range(3):
            assert await wire.call("SET", "k", number, timeout_s=60) == b"OK"
        primary.power_off()
        primary.start()
        assert await world.serving(primary)
        assert await (await world.wire(primary)).call("GET", "k") == b"2"

    for seed in range(5):
        assert run(seed, confirmed_and_lost).problems == []


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_role_is_handed_over_once_if_the_answer_is_lost(goes_on: bool) -> None:
    """Once, the old primary took the second answer for a refusal: there were two primaries."""

    async def asked_twice(world: World) -> None:
        hosts = [world.host("a")]
        hosts += [world.host(name, replicaof="a 6379") for name in "bc"]
        for host in hosts:
            host.start()
            assert await world.serving(host)
        wires = [await world.wire(host) for host in hosts]
        while await wires[0].call("WAIT", 2, 100) != 2:
            await wires[0].call("INCR", "n")
        answers = world.network.link("b", "a")
        answers.fastest_s = answers.slowest_s = 0.3
        await wires[0].call("FAILOVER", "TO", "b", "6379")
        while is_replica(hosts[1]):
            await asyncio.sleep(0.001)
        world.network.reset("a", "b")  # the answer is on the way
        if goes_on:
            world.network.cut("a", "b")
            await wires[2].call("REPLICAOF", "b", "6379")
            for _ in range(100):
                await asyncio.sleep(0.05)
                await wires[1].call("FAILOVER", "TO", "c", "6379")
                if is_replica(hosts[1]):
                    break
            world.network.heal()
        await asyncio.sleep(30)
        assert [host.name for host in hosts if not is_replica(host)] == ["c" if goes_on else "b"]

    for seed in range(3):
        assert run(seed, asked_twice).problems == []


def test_what_a_power_cut_has_left_without_a_checksum_has_one_after_the_next_start() -> None:
    """Once, it never got one: what clients had been shown was another value later, in silence."""

    async def shown_and_changed(world: World) -> None:
        host = world.host("p", appendonly="yes", appendfsync="everysec")
        host.start()
        assert await world.serving(host)
        assert await (await world.wire(host)).call("SET", "k", "value") == b"OK"
        host.kill()
        path = next(path for path in host.disk.names if path.name.endswith(".incr.aof"))
        del host.disk.names[path].data[-3:]  # the end of the checksum
        host.start()
        assert await world.serving(host)
        assert await (await world.wire(host)).call("GET", "k") == b"value"
        host.kill()
        host.disk.flip_back(path, host.disk.names[path].data.index(b"value"), 1)
        host.start()
        assert not await world.serving(host)
        assert path.name in host.failure

    assert run(1, shown_and_changed).problems == []


def is_replica(host: Host) -> bool:
    assert host.server is not None
    return host.server.state.replication.following is not None
