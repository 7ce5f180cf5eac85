"""A world: hosts, a network between them, clients, and one seed that all that happens comes from.

    found = run(seed, scenario)      plays it, and says what was wrong; "" if nothing was

Whatever the servers do wrong by themselves counts, too: an exception that nobody expected, or a
line in their log that says so.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from hashlib import blake2b
from random import Random
from typing import Any, NamedTuple

from detangle import strategies

from server.table.command import TABLE
from tests.simulation.client import Wire
from tests.simulation.host import Host
from tests.simulation.loop import WorldLoop
from tests.simulation.network import Network
from tests.simulation.surroundings import replaced

CANCELS = 10  # of what still runs at the end of a world

_log = logging.getLogger("penstock")

while TABLE.declare_some():  # else the first server of this process would do so, in many steps
    pass


class Outcome(NamedTuple):
    """What a world has come to. Worlds with the same *digest* were the same."""

    seed: int
    scenario: str
    problems: list[str]
    digest: str
    steps: int
    seconds: float  # of simulated time
    counts: dict[str, int]
    trace: list[str]
    cpu_s: float = 0.0  # that it took to play


class World:
    """Everything there is."""

    def __init__(self, seed: int, keeps_trace: bool = False) -> None:
        self.random = Random(f"{seed}: what happens")
        self.loop = WorldLoop(strategies.RandomWalk(seed))
        self.network = Network(self.loop, Random(f"{seed}: network"), self)
        self.hosts: dict[str, Host] = {}
        self.problems: list[str] = []
        self.counts: dict[str, int] = {}
        self.trace: list[str] = []
        self._seed = seed
        self._keeps_trace = keeps_trace
        self._sum = blake2b(digest_size=16)
        self._tasks: list[asyncio.Task[Any]] = []

    # ------------------------------------------------------------------ what is in it

    def host(self, name: str, **settings: str) -> Host:
        """A new host; underscores in the names of *settings* stand for dashes."""
        settings = {key.replace("_", "-"): text for key, text in settings.items()}
        random = Random(f"{self._seed}: disk of {name}")
        host = Host(name, self.loop, self.network, random, self.note, settings)
        self.hosts[name] = host
        return host

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Have a client, or another that does not die with a host, do *work*."""
        task = self.loop.create_task(work)
        self._tasks.append(task)
        return task

    async def serving(self, host: Host) -> bool:
        """Wait until *host* serves; False if it refuses to start."""
        while not host.is_serving:
            if host.failure:
                return False
            await asyncio.sleep(0.05)
        return True

    async def wire(self, host: Host, name: str = "tester") -> Wire:
        """A connection to *host*, once there is one."""
        while True:
            with suppress(OSError):
                return await Wire.open(self.network, name, host.name)
            await asyncio.sleep(0.1)

    # ------------------------------------------------------------------ what has happened

    def note(self, kind: str, *what: object) -> None:
        """It belongs to what this world is."""
        line = f"{self.loop.time():.6f} {kind} {what!r}"
        self._sum.update(line.encode())
        if self._keeps_trace:
            self.trace.append(line[:300])

    def count(self, name: str, more: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + more

    def problem(self, text: str) -> None:
        """Something is wrong with the servers."""
        self.note("problem", text)
        self.problems.append(text)

    def outcome(self, name: str) -> Outcome:
        return Outcome(
            self._seed, name, self.problems, self._sum.hexdigest(), self.loop.steps,
            self.loop.time(), self.counts, self.trace,
        )  # fmt: skip

    # ------------------------------------------------------------------ the end

    def failed(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """The loop's exception handler."""
        error = context.get("exception")
        lines = traceback.format_exception(error) if error is not None else []
        self.problem(f"{context.get('message')}: {error!r}\n{''.join(lines)}")

    def end(self) -> None:
        """Stop all that still runs."""
        for host in self.hosts.values():
            host.kill()
        for _ in range(CANCELS):
            left = [task for task in self.loop.tasks if not task.done()]
            if not left:
                return
            for task in left:
                task.cancel()
            self.loop.run_until_complete(_some_time(left))
        raise AssertionError(f"tasks that do not end: {left}")


async def _some_time(tasks: list[asyncio.Task[Any]]) -> None:
    """Let *tasks* end, for a while.

    One may need to be cancelled again: what it waited for then was to be told by a callback of a
    process that is dead, and those do not run. So it is with wait_for() of Python 3.11.
    """
    done, _ = await asyncio.wait(tasks, timeout=1.0)
    for task in done:
        if not task.cancelled():
            task.exception()  # else it would be told that nobody has asked for it


class Complaints(logging.Handler):
    """What the servers' log says of bugs is a problem of *world*."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.INFO)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        self._world.note("log", record.levelname, text)
        is_bug = record.levelno >= logging.CRITICAL or text.startswith("bug in")
        if is_bug and not text.startswith(("***", "!!!")):
            lines = traceback.format_exception(record.exc_info[1]) if record.exc_info else []
            self._world.problem(f"{text}\n{''.join(lines)}")


Scenario = Callable[[World], Awaitable[None]]


def run(seed: int, scenario: Scenario, keeps_trace: bool = False) -> Outcome:
    """Play *scenario* in a world of *seed*."""
    world = World(seed, keeps_trace)
    complaints = Complaints(world)
    level, handlers = _log.level, _log.handlers
    was_propagated, collects = _log.propagate, gc.isenabled()
    _log.setLevel(logging.INFO)
    _log.handlers, _log.propagate = [complaints], False
    gc.disable()  # a collection would close what is left of a world at some other moment
    try:
        with replaced(world.loop.time, Random(f"{seed}: randomness")):
            world.loop.set_exception_handler(world.failed)
            _play(world, scenario)
            world.end()
    finally:
        _log.setLevel(level)
        _log.handlers, _log.propagate = handlers, was_propagated
        world.loop.close()
        if collects:
            gc.enable()
    return world.outcome(scenario.__name__)


def _play(world: World, scenario: Scenario) -> None:
    try:
        world.loop.run_until_complete(world.loop.create_task(scenario(world)))
    except AssertionError as error:
        world.problem(f"{error}")
    except Exception as error:
        world.problem(f"{error!r}\n{traceback.format_exc()}")
