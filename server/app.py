"""The application: puts the parts together, listens, and stops cleanly."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import time
from collections.abc import Callable
from functools import partial
from socket import socket

from server import process, supervision
from server.client import Client
from server.clients import Clients
from server.config import Config
from server.connection import Connection
from server.cron import Cron
from server.dispatch import Dispatcher
from server.listeners import Listeners
from server.persistence.log_loader import Replay
from server.selector import Selector
from server.state import ServerState
from server.transport import Transport

_log = logging.getLogger("penstock")

# Values, clients and connections leave no reference cycles behind, so the collector finds next to
# nothing; yet each run of its oldest generation walks all containers there are. It runs when this
# many more containers have been made than freed, and its older generations ten times as rarely.
COLLECT_AFTER = 100_000

# Who starts the server in the background waits for its data so long; what fails later is logged.
LOAD_PATIENCE_MS = 5000


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


def monotonic_ms() -> int:
    """Rounded up, so that no wait that begins now is shorter than was asked for."""
    return -(-time.monotonic_ns() // 1_000_000)


def nobody_waits() -> None:
    """Stand in for whoever has started the server."""


class Server:
    """A server that can be started and stopped within a running event loop."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.state = ServerState(config, monotonic_ms)
        self.dispatcher = Dispatcher(self.state)
        self.clients = Clients(self.state, wall_ms)
        self.cron = Cron(self.dispatcher, self.clients, time.monotonic)
        self.stopped = asyncio.Event()
        self.selector = Selector()
        self._listeners = Listeners(config, self.selector, self._connect)
        self._refused_to_stop = False

    async def start(self, ready: Callable[[], None] = nobody_waits) -> None:
        """Listen, and load what was kept; *ready* is called when that is done, or takes long.

        Raises OSError when an address or the folder cannot be had, and LoadFailed.
        """
        self.state.persistence.folder.open()
        self._set_loading(True)  # who comes while we still open another address finds no data yet
        await self._listen()
        process.keep_pid_file(self.config)
        _log.info("Server initialized")
        await self._load(ready)
        ready()

    async def _listen(self) -> None:
        self.state.started_ms = wall_ms()
        self.state.journal.now_ms = wall_ms()
        self.state.stop = self.stop_by_command
        self.state.begin_replay = self._begin_replay
        loop = asyncio.get_running_loop()
        self.selector.start(loop)
        self.dispatcher.at_end_of_turn = self.selector.at_end_of_turn
        try:
            await self._listeners.open()
        except OSError:
            self.selector.stop()
            raise
        self.state.listening = self._listeners.descriptions
        self.cron.start(loop)

    # ------------------------------------------------------------------ loading

    async def _load(self, ready: Callable[[], None]) -> None:
        """Load the data on the disk; clients that come meanwhile are told so."""
        state = self.state
        patience_ms = monotonic_ms() + LOAD_PATIENCE_MS
        for _ in state.persistence.load(self._begin_replay):
            if monotonic_ms() >= patience_ms:
                ready()
            await asyncio.sleep(0)
            if self.stopped.is_set():
                return
        self._set_loading(False)
        state.reset_stats()
        state.persistence.begin()
        loop = asyncio.get_running_loop()
        state.persistence.append_only.log.on_synced = partial(_call_soon, loop, self._synced)
        for kind in self._listeners.kinds:
            _log.info("Ready to accept connections %s", kind)

    def _set_loading(self, loading: bool) -> None:
        self.state.loading = loading
        self.state.keep_guard()

    def _begin_replay(self) -> Replay:
        """What runs the commands of one file that has logged them."""
        client = Client(0, wall_ms())

        def replay(argv: list[bytes]) -> str:
            error = self.dispatcher.replay(client, argv)
            return error.text if error else ""

        return replay

    def _synced(self) -> None:
        """The AOF has been fsynced in the background: some may have waited for it."""
        self.dispatcher.begin_batch()
        if self.state.propagation.log is not None:
            self.state.propagation.log.write()
        self.dispatcher.serve_keyless()
        self.dispatcher.settle()

    # ------------------------------------------------------------------ listening

    def _connect(self, sock: socket) -> None:
        """Serve who has come."""
        connection = Connection(self.dispatcher, self.clients)
        transport = Transport(sock, self.selector, connection)
        connection.connection_made(transport)
        transport.open()

    # ------------------------------------------------------------------ stopping

    def stop_by_command(self, options: frozenset[bytes]) -> bool:
        """SHUTDOWN: end when all is safe; False if it is not, and the server goes on."""
        _log.info("User requested shutdown...")
        save, nosave, force = (word in options for word in (b"SAVE", b"NOSAVE", b"FORCE"))
        if not self.state.loading and not self.state.persistence.close(save, nosave, force):
            return False
        self.stopped.set()
        return True

    def stop_by_signal(self, name: str, options: str) -> None:
        """SIGINT or SIGTERM; the second one ends the server whatever cannot be saved."""
        _log.info("Received %s scheduling shutdown...", name)
        words = frozenset(word.upper().encode() for word in options.split())
        if self._refused_to_stop:
            words |= {b"FORCE"}
        if not self.stop_by_command(words):
            self._refused_to_stop = True
            _log.warning(
                "Errors trying to shut down the server. Check the logs for more information."
            )

    async def stop(self) -> None:
        """Stop listening and hang up on everybody."""
        self.cron.stop()
        self._listeners.close()
        self.selector.stop()


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Have *call* made by the loop; from any thread, and in vain when the loop has ended."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(call)


async def serve(config: Config, ready: Callable[[], None]) -> None:
    """Run a server until a signal or SHUTDOWN ends it; *ready* is as for Server.start."""
    server = Server(config)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(
        signal.SIGINT, lambda: server.stop_by_signal("SIGINT", config.shutdown_on_sigint)
    )
    loop.add_signal_handler(
        signal.SIGTERM, lambda: server.stop_by_signal("SIGTERM", config.shutdown_on_sigterm)
    )
    gc.collect()
    gc.freeze()  # what the program itself is made of need not be looked at again
    gc.set_threshold(COLLECT_AFTER, 10, 10)
    await server.start(ready)
    supervision.tell_ready(config)
    await server.stopped.wait()
    await server.stop()
    _log.info("Penstock is now ready to exit, bye bye...")
