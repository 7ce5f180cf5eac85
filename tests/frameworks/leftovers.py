"""Processes that work in a folder, and their end."""

from __future__ import annotations

import contextlib
import os
import select
from pathlib import Path

TIMEOUT_S = 30


def processes_below(folder: Path) -> list[int]:
    """The ids of all processes whose working folder is in *folder*."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (entry / "cwd").readlink().is_relative_to(folder):
                found.append(int(entry.name))
    return found


def wait_until_gone(folder: Path) -> None:
    """Wait until no process works in *folder* any more. Fails if that takes too long."""
    for pid in processes_below(folder):
        with contextlib.suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
            ended, _, _ = select.select([handle], [], [], TIMEOUT_S)
            os.close(handle)
            assert ended, f"process {pid} still works in {folder}"
