"""What persistence has of the machine: its disk, a thread that waits for the disk, processes.

A server has the system's, unless it is given others: tests/simulation/ has a disk that loses what
was not fsynced, and children that are steps of a simulated world.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import NamedTuple

from server.parts.persistence.files import Files
from server.parts.persistence.processes import Processes


class Machine(NamedTuple):
    """What is None is the system's. *threads* runs fsyncs, one at a time."""

    files: Files | None = None
    processes: Processes | None = None
    threads: Executor | None = None


SYSTEMS = Machine()
