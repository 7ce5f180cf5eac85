"""The supervisor that started the server, systemd or upstart, and what it is told.

systemd    NOTIFY_SOCKET is set: it is told of the whole life of the server, see systemd
upstart    UPSTART_JOB is set: the process stops itself when it serves, and is resumed
"""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import time
from collections.abc import Callable

from server.config.parameters import Config
from server.process import systemd
from server.process.systemd import Systemd

VARIABLES = {"upstart": "UPSTART_JOB", "systemd": systemd.ADDRESS}
SERVES = "Ready to accept connections"
TELL_EVERY_S = 1.0  # how far something has got

_log = logging.getLogger("penstock")


def supervisor(config: Config) -> str:
    """The supervisor that *supervised* allows and that the environment names, or "no"."""
    for name, variable in VARIABLES.items():
        if config.supervised in (name, "auto") and os.environ.get(variable):
            return name
    return "no"


def in_background(config: Config) -> bool:
    """Whether the server is to daemonize. A supervisor needs it in the foreground."""
    return config.daemonize and supervisor(config) == "no"


class Supervision:
    """What the supervisor of this server hears; without one, nobody hears anything.

    All of its times are the system's: a clock that is moved for a test must not end the server.
    """

    def __init__(self, config: Config, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._supervisor = supervisor(config)
        self._systemd: Systemd | None = None
        self._watchdog_s = 0.0
        self._told_s = self._alive_s = -TELL_EVERY_S
        self._status = SERVES
        self._serves = self._is_busy = False
        if self._supervisor == "systemd":
            self._systemd = Systemd(os.environ[systemd.ADDRESS])
            self._watchdog_s = systemd.watchdog_s(os.environ)
        elif config.supervised not in ("no", "auto"):
            _log.warning(
                "supervised %s: but %s is not set", config.supervised, VARIABLES[config.supervised]
            )
        if self._watchdog_s:
            faulthandler.enable()  # a server that hangs is ended by SIGABRT: show where it was

    @property
    def reloads(self) -> bool:
        """Whether SIGHUP asks for a reload. Others send it when a terminal is closed."""
        return self._systemd is not None

    # ------------------------------------------------------------------ the life of the server

    def working(self, status: str) -> None:
        """Data are loaded or saved: so far has it got. To be called often."""
        if self._systemd is None:
            return
        now_s = self._monotonic_s()
        if now_s - self._told_s >= TELL_EVERY_S:
            self._told_s = now_s
            self._is_busy = True
            self._systemd.busy(status)

    def saving(self, keys: int) -> None:
        """So many keys have been saved by this process, which does nothing else meanwhile."""
        self.working(f"Saving the data: {keys} keys so far")

    def serving(self) -> None:
        """The data are loaded, and clients are served."""
        self._serves = True
        if self._systemd is not None:
            self._systemd.ready(self._status)
        elif self._supervisor == "upstart":
            os.kill(os.getpid(), signal.SIGSTOP)

    def serves_again(self, status: str = "") -> None:
        """What was begun is over, and clients are served again; *status* is bad news, if any."""
        self._status = status or SERVES
        if self._systemd is not None:
            self._systemd.status(self._status)

    def stopping(self) -> None:
        """All is safe, and the server ends."""
        if self._systemd is not None:
            self._systemd.stopping("All is safe: the server ends")

    def reload(self, reload: Callable[[], str]) -> None:
        """Do *reload*, which returns what could not be obtained."""
        if self._systemd is None:
            return
        self._systemd.reloading()
        self._status = reload() or SERVES
        self._systemd.ready(self._status)

    def tick(self) -> None:
        """The loop turns: the server does not hang. To be called several times a second."""
        if self._systemd is None:
            return
        if self._serves and self._is_busy:  # a save in the foreground is over
            self._is_busy = False
            self._systemd.status(self._status)
        if not self._watchdog_s:
            return
        now_s = self._monotonic_s()
        if now_s - self._alive_s >= self._watchdog_s / 3:
            self._alive_s = now_s
            self._systemd.alive()
