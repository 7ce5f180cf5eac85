"""The running server as INFO shows it: its id, when it was started, and where it listens."""

from __future__ import annotations

import os
from collections.abc import Callable


class Instance:
    """What identifies this run of the server, and how a command ends it.

    *started_ms* is unix time in ms, *listening* INFO's listener lines. *stop* is given the options
    of SHUTDOWN; it returns False if the server goes on because not all is safe. While it waits for
    replicas, *is_leaving* holds, and *abort_stop* ends that; it returns False if none was on.
    *follow_port* is
    told that "port" or "tls-port" is set anew, *follow_bind* that the addresses are, *follow_tls*
    that a setting of TLS is; if that cannot be had, they raise BadValue and leave all as it was.
    """

    def __init__(self) -> None:
        self.run_id = os.urandom(20).hex()
        self.started_ms = 0
        self.listening: dict[str, str] = {}
        self.stop: Callable[[frozenset[bytes]], bool] = _not_running
        self.abort_stop: Callable[[], bool] = _not_leaving
        self.is_leaving: Callable[[], bool] = _not_leaving
        self.follow_port: Callable[[str], None] = _ignore_port
        self.follow_bind: Callable[[], None] = _ignore_bind
        self.follow_tls: Callable[[], None] = _ignore_tls


def _not_running(_options: frozenset[bytes]) -> bool:
    """Do nothing: there is no process to end."""
    return True


def _not_leaving() -> bool:
    """Nobody has asked the server to stop."""
    return False


def _ignore_port(_parameter: str) -> None:
    """Do nothing: there is no process that listens."""


def _ignore_bind() -> None:
    """Do nothing, likewise."""


def _ignore_tls() -> None:
    """Do nothing, likewise."""
