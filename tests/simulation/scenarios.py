"""The worlds that there are: what runs in each, what befalls it, and what must be true of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from tests.simulation.client import Wire
from tests.simulation.decider import Decider
from tests.simulation.disk import Faults
from tests.simulation.host import Host
from tests.simulation.ledger import Ledger, Reign
from tests.simulation.queues import Queue
from tests.simulation.registers import Registers
from tests.simulation.same_data import SameData
from tests.simulation.world import World

OF_ONE_SERVER = (
    "kill", "power", "pause", "rewrite", "snapshot", "disk", "reset", "restart", "step", "step",
    "clock", "twice",
)  # fmt: skip
EVERYSEC_BOUND_S = 2.0  # what appendfsync everysec may lose, and the fsync's own time


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


# ---------------------------------------------------------------------- one server


async def always(world: World) -> None:
    """With appendfsync always, whatever happens to the machine, nothing acknowledged is lost."""
    random = world.random
    host = world.host("p", appendonly="yes", appendfsync="always", **variety(world))
    host.start()
    assert await world.serving(host), host.failure
    registers, queue = Registers(random), Queue(random)
    await queue.prepare(await world.wire(host))
    busy = _clients(world, host, registers, queue)
    for _ in range(random.randint(1, 4)):
        await asyncio.sleep(random.uniform(0.2, 2.5))
        await _befall_one(world, host, queue)
    await _until_done(busy)
    await _settle(world, host)
    queue.ends = True
    await queue.drain(await world.wire(host, "last"))
    world.count("operations", registers.done + len(queue.sent) + len(queue.deliveries))
    for problem in [*registers.problems(), *queue.problems()]:
        world.problem(problem)


def _clients(
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
            await _say(world, host, random.choice(("BGREWRITEAOF", "BGSAVE")))
        await _end_at_step(world, host)
    elif what == "twice":  # what the first process has written, and not fsynced, is the second's
        host.end_at_step(random.randint(1, 6), host.kill)
        await asyncio.sleep(random.uniform(0.1, 1.0))
        host.end_at_step(0, host.kill)
        await _settle(world, host)
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
        await _say(world, host, "BGREWRITEAOF" if what == "rewrite" else "BGSAVE")
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
        await _say(world, host, "SHUTDOWN", "NOSAVE")
    await asyncio.sleep(random.uniform(0, 0.5))
    await _settle(world, host)


async def _end_at_step(world: World, host: Host) -> None:
    """Kill it, or cut its power, at some step of its disk; if that comes."""
    end = world.random.choice((host.kill, host.power_off))
    host.end_at_step(world.random.randint(1, 20), end)
    for _ in range(20):
        await asyncio.sleep(0.1)
        if not host.is_up:
            return
    host.end_at_step(0, end)


async def _say(world: World, host: Host, *words: str) -> Any:
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


async def _settle(world: World, host: Host) -> None:
    """Start the server again if it has ended, and wait until it serves."""
    if host.server is not None and host.server.stopped.is_set():
        host.kill()
    if not host.is_up:
        await asyncio.sleep(world.random.uniform(0, 0.5))
        host.start()
    assert await world.serving(host), f"{host.name} does not start: {host.failure}"


async def _until_done(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        await task


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
        elif what in ("rewrite", "snapshot"):
            await _say(world, host, "BGREWRITEAOF" if what == "rewrite" else "BGSAVE")
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
            await _settle(world, host)
            await asyncio.sleep(random.uniform(0, 4.0))
            _cut_power(world, host, ledger)
        await _settle(world, host)
    is_over = True
    await _until_done(writers)
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
    if await _say(world, host, "SAVE") == b"OK":
        ledger.entries[:before] = [
            entry._replace(is_sure=True) if entry.reign == reign else entry
            for entry in ledger.entries[:before]
        ]


# ---------------------------------------------------------------------- a primary and replicas


def _three(world: World, is_chain: bool = False, **settings: str) -> list[Host]:
    """Hosts a, b and c; b follows a, and c too, or as a *chain* follows b."""
    common = {"repl_ping_replica_period": "1", "repl_timeout": "10", **variety(world), **settings}
    if world.random.random() < 0.5:
        common["repl_backlog_size"] = "16kb"
    first = world.host("a", **common)
    second = world.host("b", replicaof="a 6379", **common)
    return [first, second, world.host("c", replicaof=f"{'ab'[is_chain]} 6379", **common)]


async def replicas(world: World) -> None:
    """Replicas that are cut off, slow, killed: each is at all times a first part of its primary."""
    random = world.random
    is_chain = random.random() < 0.3
    appendfsync = random.choice(("always", "everysec"))
    hosts = _three(world, is_chain, appendonly="yes", appendfsync=appendfsync)
    for host in hosts:
        host.start()
    primary = hosts[0]
    assert await world.serving(primary), primary.failure
    registers, queue, same = Registers(random), Queue(random), SameData(world, hosts)
    world.spawn(same.watch())
    await queue.prepare(await world.wire(primary))
    busy = _clients(world, primary, registers, queue)
    busy.append(world.spawn(_other_databases(world, primary)))
    for _ in range(random.randint(1, 5)):
        await asyncio.sleep(random.uniform(0.2, 2.0))
        replica = random.choice(hosts[1:])
        followed = replica.settings["replicaof"].split()[0]
        await _befall_replica(world, world.hosts[followed], replica)
    await _until_done(busy)
    world.network.heal()
    for host in hosts:
        await _settle(world, host)
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


async def _befall_replica(world: World, primary: Host, replica: Host) -> None:
    """Something that a replica must survive."""
    random = world.random
    what = random.choice(("kill", "power", "pause", "cut", "slow", "reset", "full copy"))
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
        await _say(world, replica, "REPLICAOF", "NO", "ONE")
        await _say(world, replica, "SET", "astray", "1")
        await _say(world, replica, "REPLICAOF", *replica.settings["replicaof"].split())
    await _settle(world, replica)


async def failover(world: World) -> None:
    """A decider promotes: what WAIT has confirmed on all replicas is kept over each failure."""
    random = world.random
    hosts = _three(world, appendonly="yes", appendfsync="always")
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
        await _until_whole(world, decider, hosts)
        await asyncio.sleep(random.uniform(0.2, 2.0))
        await _befall_primary(world, decider)
        for host in hosts:
            await _settle(world, host)
    world.network.heal()
    await _until_whole(world, decider, hosts)
    is_over = True
    await _until_done(writers)
    await same.until_equal(decider.primary)
    await ledger.look(await world.wire(decider.primary))
    world.count("operations", len(ledger.entries))
    world.count("confirmed", sum(entry.is_sure for entry in ledger.entries))
    for problem in [*ledger.problems(None), *same.problems]:
        world.problem(problem)


async def _until_whole(world: World, decider: Decider, hosts: list[Host]) -> None:
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
        await _befall_replica(world, primary, world.hosts[random.choice(others)])
        world.network.heal()
    else:
        for name in others:
            world.network.reset(primary.name, name)


async def handover(world: World) -> None:
    """FAILOVER hands the role over: single keys stay linearizable for those who write."""
    random = world.random
    hosts = _three(world, appendonly="yes", appendfsync="everysec")
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
        for host in hosts[1:]:
            world.network.slow(hosts[0].name, host.name, random.choice((0, 0.5)))
        await asyncio.sleep(random.uniform(0.5, 3.0))
        for host in hosts:
            words = ("FAILOVER", "TIMEOUT", str(random.choice((200, 3000))))
            if host.server is not None and host.server.state.replication.following is None:
                reply = await _say(world, host, *words)
                world.count("handovers", reply == b"OK")
        await _disturb_handover(world, hosts)
    await _until_done(busy)
    world.network.heal()
    primary = await _one_primary(world, hosts)
    await same.until_equal(primary)
    world.count("operations", registers.done)
    for problem in [*registers.problems(), *same.problems]:
        world.problem(problem)


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


SCENARIOS = (always, everysec, snapshots, replicas, failover, handover)
