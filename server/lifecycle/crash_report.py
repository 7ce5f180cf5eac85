"""The report of a crash: what a signal that ends the process leaves in the server log.

    === PENSTOCK BUG REPORT START: Cut & paste starting from here ===
    Penstock 0.1.0 (Python 3.11.2, compiled) crashed by signal: 11, si_code: 1, pid: 1234
    Accessing address: 0x10

    ------ STACK TRACE ------                  of C, as far as it can be found out
    ------ PYTHON STACK TRACE ------           faulthandler's, of all threads
    ------ LAST COMMANDS ------                their names, and nothing that clients have sent
    get, of client 7
    xadd, of client 9
    === PENSTOCK BUG REPORT END. Make sure to include from START to END. ===

The signals are SIGSEGV, SIGABRT, SIGBUS, SIGFPE and SIGILL. The process ends by the signal that has
come, whatever becomes of the report. Nothing is done for it while all is well: each client knows
its last command anyway.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from pathlib import Path

from server.client.client import Client
from server.config.parameters import Config
from server.observe.part import Part
from server.process import build, crash_calls, identity

STDERR = 2
MOST_CLIENTS = 100  # whose commands are named, besides the last command of all

_clients: dict[int, Client] = {}  # of the server that this process runs


class CrashReport(Part):
    """Written as long as crash-log-enabled says so, once the process is the server's own."""

    def __init__(self, clients: dict[int, Client]) -> None:
        self._clients = clients
        self._is_begun = False
        self._python_fd = -1

    def begin(self, config: Config) -> None:
        """The process is the server's: report from now on."""
        global _clients  # noqa: PLW0603  (a signal's handler is the process's)
        _clients = self._clients
        self._is_begun = True
        self.configured(config)

    def configured(self, config: Config) -> None:
        if not self._is_begun:
            return
        if config.crash_log_enabled and self._python_fd < 0:
            self._install(config)
        elif not config.crash_log_enabled and self._python_fd >= 0:
            self._remove()

    def _install(self, config: Config) -> None:
        path = str(Path(config.logfile).absolute()) if config.logfile else ""
        self._python_fd = _open(path)
        faulthandler.enable(self._python_fd)
        crash_calls.install(
            os.fsencode(path),
            head().encode(),
            end_line().encode(),
            self._python_fd,
            _write_commands,
        )

    def _remove(self) -> None:
        crash_calls.remove()
        faulthandler.disable()
        os.close(self._python_fd)
        self._python_fd = -1


def head() -> str:
    """How a report begins: up to what has crashed."""
    title = identity.title()
    version = build.REDIS_VERSION if identity.is_lookalike() else build.VERSION
    core = "compiled" if build.compiled() else "uncompiled"
    return (
        f"\n\n=== {title.upper()} BUG REPORT START: Cut & paste starting from here ===\n"
        f"{title} {version} (Python {sys.version.split()[0]}, {core})"
    )


def end_line() -> str:
    """How it ends."""
    title = identity.title().upper()
    return f"\n=== {title} BUG REPORT END. Make sure to include from START to END. ===\n"


def _open(path: str) -> int:
    """A descriptor of the log file, which is there; else one of the standard error."""
    if path:
        try:
            return os.open(
                path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
            )
        except OSError:
            pass
    fd = os.dup(STDERR)
    os.set_inheritable(fd, False)
    return fd


def _write_commands(fd: int) -> None:
    """Write the names of the clients' last commands to *fd*: first that of the last client.

    It runs after a fatal signal: it allocates nothing, and reads nothing but names.
    """
    last: Client | None = None
    for client in _clients.values():
        if last is None or client.last_used_ms > last.last_used_ms:
            last = client
    if last is not None:
        _write_command(fd, last)
    left = MOST_CLIENTS
    for client in _clients.values():
        if client is not last and left > 0:
            left -= 1
            _write_command(fd, client)


def _write_command(fd: int, client: Client) -> None:
    command = client.last_command
    if command is not None:
        crash_calls.put(fd, command.name)
        crash_calls.put(fd, ", of client ")
        crash_calls.put_number(fd, client.id)
        crash_calls.put(fd, "\n")
