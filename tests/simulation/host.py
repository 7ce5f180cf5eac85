"""A host of a world: its disk, and the server that runs there, if one does.

start()       a server, on what the disk has
kill()        the process is gone; what it has written is there
power_off()   the machine is gone: what was not fsynced may be lost, and nobody hears of it
pause()       the process does nothing for a while, as by SIGSTOP
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from random import Random
from typing import Any

from server.app import Server
from server.config.parameters import Config
from server.parts.persistence.machine import Machine
from server.parts.persistence.snapshot_loader import LoadFailed
from server.process.server_clock import ServerClock
from storage.digest import of_data
from tests.simulation.backend import SimulatedBackend
from tests.simulation.children import SimulatedProcesses, SimulatedThread, SwitchedFiles
from tests.simulation.disk import Disk
from tests.simulation.loop import Process, WorldLoop, running
from tests.simulation.network import Network
from tests.simulation.surroundings import BEGUN_S, UPTIME_S

PORT = 6379
ALWAYS = {"bind": "*", "repl-diskless-sync": "no", "save": ""}  # unless a world says otherwise


class Host:
    """One machine. *settings* are parameters of its servers, as redis.conf has them."""

    def __init__(
        self,
        name: str,
        loop: WorldLoop,
        network: Network,
        random: Random,
        note: Callable[..., None],
        settings: dict[str, str],
    ) -> None:
        self.name = name
        self.settings = ALWAYS | settings
        self.disk = Disk(random, partial(note, name))
        self.server: Server | None = None
        self.process: Process | None = None
        self.failure = ""  # why the last start has failed
        self.unix_ahead_s = 0.0  # of this machine's clock
        self.starts = 0
        self._loop = loop
        self._network = network
        self._note = partial(note, name)
        self._starting: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------ its life

    def start(self, **settings: str) -> None:
        """Start a server; it has *settings* besides those of its host."""
        assert self.server is None
        self._note("start")
        self.starts += 1
        self.failure = ""
        self._network.switch(self.name, False)
        self.process = Process(self.name)
        context = copy_context()
        context.run(running.set, self.process)
        self._starting = self._loop.create_task(self._serve(settings), context=context)

    async def _serve(self, settings: dict[str, str]) -> None:
        files = SwitchedFiles(self.disk)
        machine = Machine(
            files,
            SimulatedProcesses(files, self._loop, 10_000 * self.starts),
            SimulatedThread(files, self._loop),
        )
        clock = ServerClock(
            lambda: int((BEGUN_S + self._loop.time() + self.unix_ahead_s) * 1e9),
            lambda: int((UPTIME_S + self._loop.time()) * 1e9),
        )
        serving = SimulatedBackend(self._network, self.name)
        config = config_of({**self.settings, **settings})
        self.server = Server(config, clock=clock, machine=machine, serving=serving)
        try:
            await self.server.start()
        except (OSError, LoadFailed) as error:
            self._note("refused", str(error))
            self._gone(tells=True)
            self.failure = str(error)

    @property
    def is_up(self) -> bool:
        """Whether a server runs there; it may be loading."""
        return self.process is not None

    @property
    def is_serving(self) -> bool:
        return self.server is not None and not self.server.state.restrictions.loading

    def kill(self) -> None:
        """End the server as kill -9 does."""
        if self.is_up:
            self._note("kill")
            self._gone(tells=True)
            self.disk = self.disk.after_kill()

    def end_at_step(self, steps: int, end: Callable[[], None]) -> None:
        """Do *end*, kill() or power_off(), before so many further steps of the disk.

        What the process does after that, to the end of its turn, reaches neither disk nor network.
        """
        self.disk.end_at(steps, end)

    def power_off(self) -> None:
        """Cut the machine's power."""
        self._note("power off")
        self._network.switch(self.name, True)
        self._gone(tells=False)
        self.disk = self.disk.after_power_cut()

    def _gone(self, tells: bool) -> None:
        if self.process is not None:
            self.process.is_dead = True
            self._loop.resume(self.process)
        self._network.die(self.name, tells)
        if self._starting is not None:
            self._starting.cancel()
        if self.server is not None and self.server._link is not None:
            dialling = self.server._link._dialling
            if dialling is not None:
                dialling.cancel()
        self.server = self.process = None

    def pause(self) -> None:
        if self.process is not None:
            self._note("pause")
            self.process.is_paused = True

    def resume(self) -> None:
        if self.process is not None and self.process.is_paused:
            self._note("resume")
            self._loop.resume(self.process)

    # ------------------------------------------------------------------ what it has

    def place(self) -> tuple[str, int]:
        """The name of its history, and how far it is in that."""
        assert self.server is not None
        history = self.server.state.replication.history
        return history.id, history.offset

    def digest(self) -> str:
        """Of all its data."""
        assert self.server is not None
        return of_data(self.server.state.databases).hex()


def config_of(settings: dict[str, str]) -> Config:
    """The configuration with *settings*."""
    config = Config()
    for name, text in settings.items():
        row: Any = config.parameter(name)
        config.set_from_line(row, text.split() if row.kind.many_words else [text])
    return config
