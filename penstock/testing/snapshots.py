"""Snapshots of a server's data, as files in its folder; and the way back to them.

The server's own means are used: SAVE, and DEBUG RELOAD. So a snapshot has what a snapshot has: all
databases with all their values, consumer groups and pending entries; and functions. Users,
parameters, cached scripts and clients stay as they are.
"""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from typing import NamedTuple

from penstock.testing import clock
from penstock.testing.control import Control, checked
from penstock.testing.errors import ServerError
from penstock.testing.options import SNAPSHOT


class Snapshot(NamedTuple):
    """What restore() takes a server back to: its data, and the state of its clock."""

    file: Path
    clock: clock.ClockState


class Snapshots:
    """Takes them, in *folder*, of the server that *control* leads to.

    SAVE writes a new file and renames it, so a snapshot is one more name of that file.
    """

    def __init__(self, control: Control, folder: Path) -> None:
        self._control = control
        self._folder = folder
        self._numbers = count(1)

    def take(self) -> Snapshot:
        """Save all data. O(data). Raises ServerError, for instance while BGSAVE is at work."""
        self._control.call("SAVE")
        return self.of_saved()

    def of_saved(self) -> Snapshot:
        """The file that is in the folder, as a snapshot."""
        file = self._folder / f"snapshot-{next(self._numbers)}.rdb"
        os.link(self._folder / SNAPSHOT, file)
        return Snapshot(file, clock.state_of(self._control.call("DEBUG", "CLOCK")))

    def restore(self, snapshot: Snapshot) -> None:
        """Set the clock, and load the data in place of what is there. O(data).

        Raises TypeError, ServerError.
        """
        if not isinstance(snapshot, Snapshot):
            raise TypeError(f"restore() takes what snapshot() has returned, not {snapshot!r}")
        link = self._folder / "restored.rdb"
        link.unlink(missing_ok=True)
        try:
            os.link(snapshot.file, link)
        except FileNotFoundError:
            raise ServerError("The snapshot is gone: its server was stopped") from None
        link.replace(self._folder / SNAPSHOT)
        reload = ("DEBUG", "RELOAD", "NOSAVE")
        checked(self._control.call_all([*snapshot.clock.commands(), reload], None))
