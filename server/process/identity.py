"""What identifies the server: this run of it, and its name.

The name is its own, or Redis's for tools that start a redis-server.

Such tools read the line of --version and wait for lines of the server log.
"""

from __future__ import annotations

import os
from pathlib import PurePath

LOOKALIKE = "redis-server"

# Where Redis in the background keeps its process id, if "pidfile" names no other file.
LOOKALIKE_PID_FILE = "/var/run/redis.pid"

_program = ""


class Instance:
    """A run of the server: its id, and when it was started: *started_ms* is unix time in ms."""

    def __init__(self) -> None:
        self.run_id = os.urandom(20).hex()
        self.started_ms = 0


def go_by(program: str) -> None:
    """The user has called the server *program*."""
    global _program  # noqa: PLW0603  (a process has one name)
    _program = program


def is_lookalike() -> bool:
    """Whether the server was started as redis-server."""
    return PurePath(_program).name == LOOKALIKE


def title() -> str:
    """The name in the server log and in the line of --version: Penstock or Redis."""
    return "Redis" if is_lookalike() else "Penstock"
