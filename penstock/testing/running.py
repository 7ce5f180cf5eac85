"""A server from start to stop. In between it may be restarted, at the same address."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from penstock.application import server_command
from penstock.testing import clock
from penstock.testing.control import Control, checked
from penstock.testing.data import LOG_FOLDER, Data
from penstock.testing.errors import ServerError, StartFailed
from penstock.testing.folder import SOCKET, make_folder, make_same_folder
from penstock.testing.options import SNAPSHOT, options_of
from penstock.testing.process import ServerProcess
from penstock.testing.reset import SAVING, Reset
from penstock.testing.snapshots import Snapshot, Snapshots

PORTS_TRIED = 20
PING_TIMEOUT_S = 5.0


class Address(NamedTuple):
    """Where clients find a server: by the socket in its folder, and by a port, or 0."""

    folder: Path
    port: int


class RunningServer:
    """Starts when it is made. Raises StartFailed, and ServerError for bad options.

    *lines* are options, *data* what it begins with, *begins_at* the time by its clock, and
    *address* that of a server that was stopped, in whose place it comes.
    """

    def __init__(
        self,
        lines: Sequence[str],
        data: Data | None,
        begins_at: datetime | None,
        timeout_s: float,
        address: Address | None = None,
    ) -> None:
        self._owner = os.getpid()
        self._begins_at = begins_at
        self._timeout_s = timeout_s
        self._port = 0 if address is None else address.port
        self._process: ServerProcess | None = None
        self._base: Snapshot | None = None
        self._folder = make_folder() if address is None else make_same_folder(address.folder)
        try:
            self.options = options_of(lines, self._folder)
            self.control = Control(self.socket_path, self.options.password)
            self.snapshots = Snapshots(self.control, self._folder)
            self._begin(data)
            self._open_same_port()
            self._reset = Reset(self.control, keeps_data=data is not None)
            self._reset.remember()
        except BaseException:
            self.stop()
            raise

    @property
    def socket_path(self) -> Path:
        return self._folder / SOCKET

    @property
    def address(self) -> Address | None:
        """Where another may come in its place; none in a child made by fork()."""
        return Address(self._folder, self._port) if self._owner == os.getpid() else None

    @property
    def log(self) -> str:
        return self._process.last_words() if self._process else ""

    # ------------------------------------------------------------------ start and stop

    def _begin(self, data: Data | None) -> None:
        if data is None:
            self._start()
            self._set_clock()
            return
        try:
            self._load(data)
        except ServerError as error:
            raise StartFailed(f"{data.path} cannot be loaded: {error}\n{self.log}") from error

    def _start(self, *options: str) -> None:
        command = server_command(*self.options.words, *options)
        self._process = ServerProcess(command, self._folder)
        self._process.wait_until(self._is_ready, self._timeout_s)

    def _is_ready(self) -> bool:
        try:
            return bool(checked(self.control.call_all([("PING",)], PING_TIMEOUT_S))[0] == b"PONG")
        except (OSError, ServerError):
            return False  # it does not listen yet, or is loading

    def stop(self) -> None:
        """Kill the server and remove the folder; in a child made by fork(), neither."""
        if self._owner != os.getpid():
            return
        if self._process is not None:
            self.control.close()
            self._process.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _restart(self) -> None:
        """Restart it, as it was at first, at the same address; clients have to reconnect."""
        if self._owner != os.getpid():
            raise ServerError("only the process that has started the server may start it anew")
        assert self._process is not None
        self.control.close()
        self._process.stop(keeps_folder=True)
        (self._folder / SNAPSHOT).unlink(missing_ok=True)
        shutil.rmtree(self._folder / LOG_FOLDER, ignore_errors=True)
        self._start()
        if self._base is not None:
            self.snapshots.restore(self._base)
        self._set_clock()
        self._open_same_port()
        self._reset.remember()

    # ------------------------------------------------------------------ the data it begins with

    def _load(self, data: Data) -> None:
        """Start it with *data*, and keep a snapshot of that. O(data)."""
        data.copy_to(self._folder)
        if data.log:
            self._load_log(data)
            return
        copy = self._folder / SNAPSHOT
        aside = copy.rename(self._folder / "data.rdb")
        self._start()
        self._set_clock()
        aside.rename(copy)
        self.control.call("DEBUG", "RELOAD", "NOSAVE")
        self._base = self.snapshots.of_saved()

    def _load_log(self, data: Data) -> None:
        self._start(*data.options)
        if self._begins_at is not None:
            # By today's clock some keys have expired, and perhaps that has been logged: once more.
            self._set_clock()
            data.copy_again(self._folder)
            self.control.call("DEBUG", "LOADAOF")
        self.control.call("CONFIG", "SET", "appendonly", "no")
        self._base = self.snapshots.take()

    def _set_clock(self) -> None:
        if self._begins_at is not None:
            self.control.call(*clock.set_to(self._begins_at))

    # ------------------------------------------------------------------ from test to test

    def begin_test(self) -> None:
        """Remember connected clients; restart a dead server."""
        try:
            self._reset.begin()
        except (OSError, ServerError):
            self._restart()

    def reset(self) -> None:
        """Take back all that was changed; if the server does not let us, by a new one."""
        try:
            self._take_back()
        except (OSError, ServerError):
            self._restart()

    def _take_back(self) -> None:
        found = self._reset.run()
        self._set_clock()
        if self._base is not None and (found.changed_data or found.any_of(SAVING)):
            self.snapshots.restore(self._base)

    # ------------------------------------------------------------------ the port

    def open_port(self) -> int:
        """The TCP port; opened when it is first asked for. Raises ServerError if none is free.

        A port is ours when the server has it: somebody else may take it before.
        """
        tries = 0
        while not self._port:
            port = _free_port()
            try:
                self.control.call("CONFIG", "SET", "port", port)
            except ServerError:
                tries += 1
                if tries == PORTS_TRIED:
                    raise
            else:
                self._port = port
                self._reset.remember_parameters()
        return self._port

    def _open_same_port(self) -> None:
        """Open the port that was opened before, if one was."""
        if self._port:
            self.control.call("CONFIG", "SET", "port", self._port)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
