"""What a start makes of files: they are loaded, by what loads them at a start, and nothing is kept.

    a snapshot   as with appendonly no
    a log        as with appendonly yes: all commands are run again

So what a start refuses is found, and so are commands that fail, whose changes a start would lose.
It takes as much memory as a server with these data does. Nothing on the disk is changed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import server.commands  # noqa: F401  (fills the table)
from server.check.findings import Finding
from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.parts.persistence import manifest
from server.parts.persistence.files import Files, reason
from server.parts.persistence.manifest import BadManifest
from server.parts.persistence.persistence import Persistence
from server.parts.persistence.snapshot_loader import LoadFailed
from server.parts.state import ServerState
from server.process.faults import ServerFault

MOST_NAMED = 8  # commands that fail
REFUSALS = (LoadFailed, BadManifest, OSError, ServerFault)

_log = logging.getLogger("penstock")


class UntouchedFiles(Files):
    """Files that are only read: a torn end is passed over, and not cut off."""

    def open_to_append(self, path: Path) -> int:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)

    def truncate(self, fd: int, size: int) -> None:
        """Do nothing."""

    def sync(self, fd: int) -> None:
        """Do nothing."""


def check_start(path: Path, databases: int) -> Finding:
    """Load the snapshot, the AOF or the manifest at *path* into a server of *databases*."""
    config = Config()
    config.databases = databases
    config.save = []
    found = Finding(path, "start", 0)
    with _complaints() as complaints:
        try:
            keys, failed = _load(path, config)
        except REFUSALS as error:
            found.problem = (
                f"it is refused: {reason(error) if isinstance(error, OSError) else error}"
            )
            return found
    found.facts = [f"{keys:,} keys are loaded", *complaints[:MOST_NAMED]]
    if failed:
        found.verdict = "LOSES DATA"
        found.problem = f"{failed:,} commands fail when they are run again"
    return found


def _load(path: Path, config: Config) -> tuple[int, int]:
    """How many keys there are then, and how many commands have failed. Raises REFUSALS."""
    state = ServerState(config)
    dispatcher = Dispatcher(state)
    dispatcher.turn.enter()
    kept = Persistence(
        config, state.databases, state.events, state.propagation, UntouchedFiles(),
        functions=state.scripting,
    )  # fmt: skip
    if path.suffix == ".rdb":
        config.dbfilename = str(path)
        kept.reload_snapshot(replaces=False)
    else:
        config.appenddirname = str(path.parent)
        folder = kept.append_only.folder
        if path.suffix == ".manifest":
            config.appendfilename = path.stem
            folder.read()
        else:
            folder.manifest = manifest.of_old_file(path.name)
        state.replay_failures.begin_load()
        kept.reload_log(dispatcher.replaying.begin)
    return sum(map(len, state.databases)), state.replay_failures.of_log


@contextmanager
def _complaints() -> Iterator[list[str]]:
    """The warnings of a load, which are not logged meanwhile."""
    lines: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    handlers, propagates = _log.handlers[:], _log.propagate
    _log.handlers[:], _log.propagate = [handler], False
    try:
        yield lines
    finally:
        _log.handlers[:], _log.propagate = handlers, propagates
