"""The name of the server: its own, or Redis's for tools that start a redis-server.

Such tools read the line of --version and wait for lines of the server log.
"""

from __future__ import annotations

from pathlib import PurePath

LOOKALIKE = "redis-server"

# Where Redis in the background keeps its process id, if "pidfile" names no other file.
LOOKALIKE_PID_FILE = "/var/run/redis.pid"

_program = ""


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
