"""A copy of our primary's data: it comes into a file, which is then loaded."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from server.dispatch.dispatcher import Dispatcher
from server.following.copy_loading import Steps, load_copy
from server.parts.persistence.files import Files, remove_quietly, write_all
from server.parts.persistence.snapshot_loader import LoadFailed
from server.parts.replication.following import Following
from server.parts.replication.handshake import Copy
from server.parts.replication.incoming_copy import IncomingCopy
from server.process.server_clock import monotonic_ms


class Receiving:
    """The copy *copy* on its way into a file of its own in the data folder."""

    def __init__(self, files: Files, copy: Copy, following: Following | None) -> None:
        self.copy = copy
        self._following = following
        self._files = files
        # Digits only: a server that is killed leaves a file that the next one clears away.
        self.path = Path(f"temp-{os.getpid()}{time.time_ns()}.rdb")
        self._fd = self._files.create(self.path)
        self._incoming = IncomingCopy(self._write)

    @property
    def is_whole(self) -> bool:
        return self._incoming.is_whole

    def take(self, data: bytes) -> bytes:
        """Write what belongs to the copy; return the rest. Raises LinkFailed, OSError."""
        rest = self._incoming.take(data)
        if self._following is not None:
            self._following.copy_bytes = self._incoming.size
            self._following.copied_bytes = self._incoming.received
            self._following.copied_ms = monotonic_ms()
        if self.is_whole:
            self._close()
        return rest

    def _write(self, data: bytes) -> None:
        write_all(self._files, self._fd, data)

    def _close(self) -> None:
        if self._fd >= 0:
            self._files.close(self._fd)
            self._fd = -1

    def drop(self) -> None:
        """It is no longer needed."""
        self._close()
        remove_quietly(self._files, self.path)


class Loading:
    """Loads the copy *receiving* in steps between the turns; *on_end* is told how that ended."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        receiving: Receiving,
        on_end: Callable[[Exception | None], None],
    ) -> None:
        self.copy = receiving.copy
        self._dispatcher = dispatcher
        self._receiving = receiving
        self._on_end = on_end
        self._steps: Steps | None = load_copy(dispatcher.state, receiving.path)

    def resume(self) -> None:
        """Take one step."""
        if self._steps is None:
            return
        if self._dispatcher.state.restrictions.busy is not None:  # a script works on the data
            self._dispatcher.turn.run_later(self.resume)
            return
        try:
            next(self._steps)
        except StopIteration:
            self._end(None)
        except (LoadFailed, OSError) as error:
            self._end(error)
        else:
            self._dispatcher.turn.run_later(self.resume)

    def _end(self, error: Exception | None) -> None:
        self._steps = None
        self._receiving.drop()
        self._on_end(error)

    def cancel(self) -> None:
        """Nobody wants it any more."""
        steps, self._steps = self._steps, None
        if steps is not None:
            steps.close()
            self._receiving.drop()
