"""CLIENT ACKS QUORUM with a lease: what was answered outlives each failure of one machine."""

from __future__ import annotations

from functools import partial

from tests.simulation.ledger import Ledger
from tests.simulation.queues import Queue
from tests.simulation.registers import Registers
from tests.simulation.scenarios.common import until_done
from tests.simulation.scenarios.group import CLIENTS, Group
from tests.simulation.world import World


async def confirmed(world: World) -> None:
    """Single keys are linearizable on all servers together, and transactions are kept."""
    random = world.random
    group = Group(world)
    registers, ledger = Registers(random, moves=True), Ledger(random, confirms=True)
    (await group.begin()).close()
    is_over = False
    busy = []
    for number in range(random.randint(2, CLIENTS)):
        name = f"client:{number}"
        work = registers.client(
            name, partial(group.find, name), 10_000, 0.4, lambda: is_over, only_reads=number > 1
        )
        busy.append(world.spawn(work))
    find_for = partial(group.find_for, "client:0")
    busy.append(world.spawn(ledger.write("0", find_for, lambda: is_over, 0.4)))
    await group.suffer()
    is_over = True
    await until_done(busy)
    wire = await group.sure_wire()
    await registers.look(wire)
    await ledger.look(wire)
    world.count("operations", registers.done + len(ledger.entries))
    for problem in [*registers.problems(), *ledger.problems(None)]:
        world.problem(problem)


async def confirmed_queue(world: World) -> None:
    """A queue: no entry is lost, kept back, owned by two, or delivered after its XACK."""
    random = world.random
    group = Group(world)
    queue = Queue(random, moves=True)
    wire = await group.begin()
    await queue.prepare(wire)
    wire.close()
    busy = []
    for number in range(random.randint(1, 2)):
        name = f"client:{number}"
        work = queue.produce(name, partial(group.find, name), random.randint(15, 40), 0.5)
        busy.append(world.spawn(work))
    consumers = []
    for number in range(random.randint(1, 2)):
        name = f"client:{number + 2}"
        share = random.choice((0.5, 0.8, 1.0))
        work = queue.consume(name, partial(group.find, name), 0.5, share)
        consumers.append(world.spawn(work))
    await group.suffer()
    await until_done(busy)
    queue.moves_time = group.moves_time
    queue.ends = True
    await until_done(consumers)
    await queue.drain(await group.sure_wire("last"))
    world.count("operations", len(queue.sent) + len(queue.deliveries))
    world.count("acknowledged", len(queue.acks))
    for problem in queue.problems():
        world.problem(problem)
