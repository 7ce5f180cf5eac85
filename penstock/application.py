"""Where the server is, and how others start it: for fixtures, scripts and service managers."""

from __future__ import annotations

import sys
from pathlib import Path

from penstock import launch

APPLICATION = Path(launch.FOLDER)
"""The folder that holds ``server``, ``protocol``, ``storage`` and ``octets``."""


def server_command(*options: str) -> list[str]:
    """The command that starts a server with this interpreter, in a process of its own.

    *options* are those of ``penstock serve``: ``server_command("--port", "7000")``. The command
    depends neither on the current folder nor on what else is installed.
    """
    return [*program_command("penstock serve"), *options]


def program_command(name: str) -> list[str]:
    """The command that starts the program *name*, which is one of ``launch.PROGRAMS``."""
    return [sys.executable, "-P", launch.__file__, name]
