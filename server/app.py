"""The application: ties the parts together, listens, and loads what was kept.

Parts that know nothing of each other are tied here; those of the road of a command in
server/dispatch/dispatcher.py. How the server ends is in server/lifecycle/stopping.py; it holds
whichever backend serves the sockets, see server/network/backend.py.

A fault of the server's own (see server/process/faults.py) ends it too: then no answer leaves,
since none may be promised.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import server.commands  # noqa: F401  (begins to fill the table)
from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.turn import Turn
from server.following.role_changes import RoleChanges
from server.http.listener import Http
from server.lifecycle.crash_report import CrashReport
from server.lifecycle.cron import Cron
from server.lifecycle.life import Life, Phase
from server.lifecycle.reloading import reload
from server.lifecycle.stopping import Stopping
from server.network.backend import Backend
from server.network.clients import Clients
from server.network.connection import ConnectionAcceptor
from server.network.listener_kinds import kinds_of
from server.network.listeners import Listeners, backend
from server.observe.memory import resident_bytes
from server.parts.access.configured_users import BadUsers, users_at_start
from server.parts.persistence.load_progress import LoadProgress
from server.parts.persistence.machine import SYSTEMS, Machine
from server.parts.persistence.snapshot_loader import LoadFailed
from server.parts.state import ServerState
from server.process import identity, memory_reserve, process, program_pages, signals
from server.process.faults import ServerFault
from server.process.server_clock import ServerClock, monotonic_ms
from server.sites import ServerSites
from server.table.command import TABLE

if TYPE_CHECKING:
    from server.following.primary_link import PrimaryLink

_log = logging.getLogger("penstock")

# Values, clients and connections leave no reference cycles, so the collector finds next to
# nothing; yet each run of its oldest generation walks all containers there are. It runs when this
# many more containers have been made than freed, and its older generations ten times as rarely.
COLLECT_AFTER = 100_000

# How long `daemonize` keeps the caller waiting for the data; what fails later is logged.
READY_AFTER_MS = 5000

# Then the first clients have been served: what they need is not given back before.
SETTLED_AFTER_S = 1.0
SMALL_BYTES = 128 * 1024**2  # resident: defends clients against a pause that grows with the data


def ignore_ready() -> None:
    """Nobody is told that the server is ready."""


class SyncWatch:
    """Has *call* made in a *turn* when the AOF has been fsynced, in whatever thread that was."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        serving: Backend,
        turn: Turn,
        call: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._backend = serving
        self._turn = turn
        self._call = call

    def log_synced(self) -> None:
        """Do it, if the loop has not ended."""
        with contextlib.suppress(RuntimeError, OSError):
            self._loop.call_soon_threadsafe(self._turn.run, self._call)
            self._backend.ring()


class Server:
    """A server that can be started and stopped within a running event loop.

    *owns_loop*: nothing else runs on the loop, so nobody minds if the server keeps it for a while.
    It has the system's clocks, machine and sockets, unless it is given a *clock*, a *machine* or a
    backend (*serving*).
    """

    def __init__(
        self,
        config: Config,
        owns_loop: bool = False,
        clock: ServerClock | None = None,
        machine: Machine = SYSTEMS,
        serving: Backend | None = None,
    ) -> None:
        self.config = config
        self.state = ServerState(config, clock, machine)
        self.dispatcher = Dispatcher(self.state)
        self.clients = Clients(self.state, monotonic_ms)
        self.supervision = self.state.supervision
        self.cron = Cron(self.dispatcher, time.monotonic, self._stay_until, self.supervision.tick)
        self.crash_report = CrashReport(self.state.clients)
        self.state.parts.append(self.crash_report)
        self.stopped = asyncio.Event()
        self.exit_status = 0
        self._life = Life(self.state.restrictions)
        self._owns_loop = owns_loop
        acceptor = ConnectionAcceptor(config, self.dispatcher, self.clients)
        self.state.parts.append(acceptor)
        self._backend = serving or backend()
        kinds = kinds_of(config, acceptor, self._backend)
        self._sites = ServerSites(self.dispatcher, self.clients)
        http = Http(config, self._sites, self._backend, self.dispatcher.turn)
        self._listeners = Listeners(config, self._backend, [*kinds, http])
        self.state.parts.append(self._listeners)
        self._link: PrimaryLink | None = None  # made when the server first becomes a replica
        roles = RoleChanges(self.dispatcher, self._role_changed)
        self.stopping = Stopping(self.dispatcher, roles, self._life, self._end)
        self.state.replication.pipes = self._backend

    async def start(self, ready: Callable[[], None] = ignore_ready) -> None:
        """Listen, and load what was kept; *ready* is called when that is done, or takes long.

        Raises OSError when an address or the folder cannot be obtained, LoadFailed, and BadUsers.
        """
        self.state.access.begin_with(users_at_start(self.config))
        self.state.persistence.folder.open()
        self._life.enter(Phase.LOADING)  # before the first address is open: there are no data yet
        await self._listen()
        process.write_pid_file(self.config)
        _log.info("Server initialized")
        await self._load(ready)
        ready()

    async def _listen(self) -> None:
        self.state.events.clock.now_ms = self.state.clock.unix_ms()
        self.state.instance.started_ms = self.state.events.clock.now_ms
        self.state.shutdown = self.stopping
        loop = asyncio.get_running_loop()
        self._backend.start(loop)
        self._backend.tell_turns(self.dispatcher.turn)
        try:
            self._listeners.open()
        except OSError:
            self._listeners.close()
            self._backend.stop()
            raise
        self.state.addresses = self._listeners
        self.dispatcher.use_timers(self.cron)
        self.cron.start(loop)

    # ------------------------------------------------------------------ loading

    async def _load(self, ready: Callable[[], None]) -> None:
        """Load the data on the disk; clients that come meanwhile are told so."""
        state = self.state
        ready_at_ms = monotonic_ms() + READY_AFTER_MS
        state.replay_failures.begin_load()
        for _ in state.persistence.load(self.dispatcher.replaying.begin):
            self.supervision.working(_loading(state.persistence.progress))
            if monotonic_ms() >= ready_at_ms:
                ready()
            await asyncio.sleep(0)
            if self._life.phase is not Phase.LOADING:
                return
        self._life.enter(Phase.SERVING)
        state.reset_statistics()
        state.persistence.begin()
        loop = asyncio.get_running_loop()
        state.persistence.append_only.log.listener = SyncWatch(
            loop, self._backend, self.dispatcher.turn, self._serve_synced
        )
        for kind in self._listeners.kinds:
            _log.info("Ready to accept connections %s", kind)
        self._declare_commands(loop)
        if state.persistence.loaded_history is not None:
            state.replication.resume(state.persistence.loaded_history)
        if self.config.replicaof:
            host, port = self.config.replicaof.split()
            self.state.replication.follow(host, int(port))
        if self._owns_loop:
            program_pages.keep_heap()
            loop.call_later(SETTLED_AFTER_S, self._give_back_pages)

    def _declare_commands(self, loop: asyncio.AbstractEventLoop) -> None:
        """Declare the commands that are missing, some in each turn of the loop."""
        if TABLE.declare_some():
            loop.call_soon(self._declare_commands, loop)
        elif self._owns_loop:
            gc.freeze()  # they stay, too; what others have made in their process may not

    def _give_back_pages(self) -> None:
        """With much data the pages of the start are a small part, and to find them takes long."""
        if resident_bytes() <= SMALL_BYTES:
            program_pages.give_back()

    def _stay_until(self, loop_due_s: float) -> None:
        """While data are loaded, or a primary is dialled, the loop has something to do."""
        if self._owns_loop:
            is_dialling = self._link is not None and self._link.is_dialling
            may_stay = self._life.phase is Phase.SERVING and not is_dialling
            self._backend.stay_until(loop_due_s if may_stay else 0.0)

    def _serve_synced(self) -> None:
        """The AOF has been fsynced in the background: some may have waited for it."""
        if self.state.propagation.durability is not None:
            self.state.propagation.durability.write()
        self.state.replication.confirmations.synced()
        self.dispatcher.waits.serve_keyless()

    def _role_changed(self) -> None:
        """The server follows another primary now, or none."""
        if self._link is None:
            from server.following.primary_link import PrimaryLink  # noqa: PLC0415  (primaries need none)

            self._link = PrimaryLink(self.config, self.dispatcher, self._backend, self.clients)
            self.state.parts.append(self._link)
        self._link.role_changed()

    def reload(self) -> None:
        """SIGHUP of a supervisor: read the files of users and TLS again. See lifecycle/."""
        if self._life.phase is not Phase.SERVING:
            _log.warning("Not reloaded: data are loaded, or the server ends")
            return
        self.dispatcher.turn.run(partial(self.supervision.reload, partial(reload, self.state)))

    # ------------------------------------------------------------------ stopping

    def _end(self) -> None:
        """Run nothing more for anybody."""
        self.supervision.stopping()
        self._life.enter(Phase.STOPPING)
        if self._link is not None:
            self._link.close()
        self._sites.close()
        self.state.replication.close()
        self.cron.stop()
        self.stopped.set()

    async def stop(self) -> None:
        """Let the last answers leave, stop listening and disconnect all clients."""
        if self._life.phase is not Phase.CLOSED:
            self.cron.stop()
            self.dispatcher.turn.finish()
            self._close()

    def _close(self) -> None:
        self._life.enter(Phase.CLOSED)
        self._listeners.close()
        self._backend.stop()

    # ------------------------------------------------------------------ faults

    def loop_failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """The loop's exception handler: whatever gets as far as here is the server's fault."""
        error = context.get("exception")
        if error is None:
            loop.default_exception_handler(context)
        else:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """The server cannot go on: say so, make safe what can be, and end with status 1.

        Never raises. The process ends here and now if not even that can be done.
        """
        if self.exit_status:
            return
        self.exit_status = 1
        try:
            memory_reserve.give_back()
            _log.critical("The server cannot go on, and exits.", exc_info=error)
            is_loaded = not self.state.restrictions.loading
            is_whole = is_loaded and self.state.restrictions.busy is None
            self._end()
            self._save_after_fault(is_whole=is_whole and not isinstance(error, ServerFault))
            self._close()
        except BaseException:
            os._exit(1)

    def _save_after_fault(self, is_whole: bool) -> None:
        try:
            self.state.persistence.save_after_fault(is_whole)
        except Exception:
            _log.critical("What is not on the disk could not be written.", exc_info=True)


def _loading(progress: LoadProgress | None) -> str:
    """How far the loading of data has got."""
    percent = 0.0 if progress is None else progress.percent
    return f"Loading the data: {percent:.0f} %"


async def serve(config: Config, ready: Callable[[], None]) -> int:
    """Run a server until a signal, SHUTDOWN or a fault ends it; the process's exit status.

    Raises OSError, LoadFailed and BadUsers when it cannot begin, for a reason that is to be heard.
    """
    server = Server(config, owns_loop=True)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(server.loop_failed)
    reload_by_signal = server.reload if server.supervision.reloads else None
    signals.handle(loop, config, server.stopping.by_signal, reload_by_signal)
    gc.freeze()  # what the program itself is made of need not be looked at again
    gc.enable()
    gc.set_threshold(COLLECT_AFTER, 10, 10)
    memory_reserve.begin()
    server.crash_report.begin(config)
    try:
        await server.start(ready)
    except (OSError, LoadFailed, BadUsers):
        raise
    except (Exception, ServerFault) as error:
        server.fail(error)
    if not server.stopped.is_set():
        server.supervision.serving()
        await server.stopped.wait()
    await server.stop()
    signals.ignore(loop)
    if not server.exit_status:
        _log.warning("%s is now ready to exit, bye bye...", identity.title())
    return server.exit_status
