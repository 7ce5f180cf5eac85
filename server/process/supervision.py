"""Telling the supervisor that started the server, systemd or upstart, that clients are served.

systemd    NOTIFY_SOCKET names a socket, which is sent "READY=1"
upstart    UPSTART_JOB is set; the process stops itself, and is made to go on
"""

from __future__ import annotations

import logging
import os
import signal
import socket

from server.config.parameters import Config

VARIABLES = {"upstart": "UPSTART_JOB", "systemd": "NOTIFY_SOCKET"}
READY = b"STATUS=Ready to accept connections\nREADY=1\n"

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


def notify_ready(config: Config) -> None:
    """Let the supervisor know that clients are served."""
    who = supervisor(config)
    if who == "systemd":
        _notify(os.environ[VARIABLES[who]])
    elif who == "upstart":
        os.kill(os.getpid(), signal.SIGSTOP)


def _notify(address: str) -> None:
    """Tell systemd at *address*; one that begins with @ is in the abstract namespace."""
    path = "\0" + address[1:] if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        try:
            sock.sendto(READY, path)
        except OSError as error:
            _log.warning("cannot send to systemd's socket %s: %s", address, error.strerror)
