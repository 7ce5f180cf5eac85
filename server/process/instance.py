"""The running server as INFO shows it: its id, when it was started, and where it listens."""

from __future__ import annotations

import secrets
from collections.abc import Callable


class Instance:
    """What identifies this run of the server, and how a command ends it.

    *started_ms* is unix time in ms, *listening* what INFO has in its listener lines. *stop* is
    given the options of SHUTDOWN; it returns False if the server goes on because not all is safe.
    """

    def __init__(self) -> None:
        self.run_id = secrets.token_hex(20)
        self.started_ms = 0
        self.listening: list[str] = []
        self.stop: Callable[[frozenset[bytes]], bool] = _not_running


def _not_running(_options: frozenset[bytes]) -> bool:
    """Do nothing: there is no process to end."""
    return True
