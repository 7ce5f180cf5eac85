"""The stop of a server: by SHUTDOWN, a signal or a fault.

It comes in this order:

    1. nothing more is run for any client; what was run before is done
    2. the AOF is written out and fsynced, or the last snapshot saved; if that fails, the server
       keeps running, and the client that asked gets an error
    3. the answers of this turn leave, as far as sockets take them
    4. all is closed
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable
from functools import partial

from server.dispatch.dispatcher import Dispatcher
from server.following.role_changes import RoleChanges
from server.lifecycle.farewell import Farewell
from server.lifecycle.life import Life, Phase
from server.process import signals

_log = logging.getLogger("penstock")


class Stopping:
    """Stops the server, for SHUTDOWN and for signals. *end* has nothing more run for anybody."""

    def __init__(
        self, dispatcher: Dispatcher, roles: RoleChanges, life: Life, end: Callable[[], None]
    ) -> None:
        self._turn = dispatcher.turn
        self._state = dispatcher.state
        self._life = life
        self._end = end
        self._farewell = Farewell(dispatcher, roles, self._stop_now)
        self._state.parts.append(self._farewell)
        self._after_script: str | None = None  # the options to stop with when it has ended

    @property
    def is_waiting(self) -> bool:
        """Whether the server stops as soon as its replicas have everything."""
        return self._farewell.is_on

    @property
    def left_ms(self) -> int | None:
        """How long it waits for that, at most; None if it does not wait."""
        return self._farewell.left_ms

    def begin(self, options: frozenset[bytes]) -> bool:
        """SHUTDOWN: end when all is safe; False if it is not, and the server keeps running.

        If a replica lacks something, it ends later; see server.lifecycle.farewell.
        """
        _log.info("User requested shutdown...")
        if self._life.phase is Phase.SERVING and self._farewell.begin(options):
            return True
        return self._stop_now(options)

    def abort(self) -> bool:
        """SHUTDOWN ABORT; False if there is nothing to abort."""
        return self._farewell.abort()

    def _stop_now(self, options: frozenset[bytes]) -> bool:
        save, nosave, force = (word in options for word in (b"SAVE", b"NOSAVE", b"FORCE"))
        is_loaded = not self._state.restrictions.loading
        self._state.supervision.working("Putting all data on the disk")
        if is_loaded and not self._state.persistence.close(save, nosave, force):
            _log.warning(
                "Errors trying to shut down the server. Check the logs for more information."
            )
            self._state.supervision.serves_again(
                "Not stopped: the data could not be put on the disk"
            )
            return False
        self._end()
        return True

    # ------------------------------------------------------------------ signals

    def by_signal(self, number: signal.Signals, options: str) -> None:
        """SIGINT or SIGTERM.

        If not all is safe the server keeps running; the next signal tries again.
        """
        if self._life.is_over:
            return
        if self._life.phase is Phase.LOADING:
            _log.warning("Received shutdown signal during loading, exiting now.")
        else:
            _log.warning("Received %s scheduling shutdown...", number.name)
        if self._state.restrictions.busy is not None:
            self._stop_after_script(number, options)
            return
        self._stop(options)

    def _stop_after_script(self, number: signal.Signals, options: str) -> None:
        """Stop when the script has ended that runs; it is ended, unless it has written.

        It may never end: a second SIGINT ends the process at once, and half of it is on no disk.
        """
        if number is signal.SIGINT and self._after_script is not None:
            signals.exit_now()
        _log.warning("A script is running: the server stops when it has ended")
        self._after_script = options
        self._state.scripting.run.end_if_unwritten()

    def script_ended(self) -> None:
        """A suspended script has ended, and its client was answered."""
        options, self._after_script = self._after_script, None
        if options is not None:
            self._turn.run_later(partial(self._stop, options))

    def _stop(self, options: str) -> None:
        with signals.exit_on_second_sigint():
            self.begin(frozenset(word.upper().encode() for word in options.split()))
