"""What keeps commands from running now, whichever client sends them.

    loading            data is read from the disk       what has not the flag LOADING gets -LOADING
    stopping           the server ends                  nothing is run any more
    busy               a script runs on and on          what has not the flag ALLOW_BUSY gets -BUSY
    short_of_memory    the system gives no more memory  what may need some gets -OOM
    write_refusal      what is written is not kept      writes get this error
    refuses_reads      ... and must not be shown        reads get it too
    a pause            CLIENT PAUSE                     commands wait, see pausing.py
    maxmemory          more memory may be in use        keys are evicted (key_eviction.py); if none
                                                        can be, what has the flag DENYOOM gets -OOM
    maxmemory-clients  clients may hold more memory     some are disconnected (client_eviction.py)

Admission says which commands each of these concerns (admission.py).
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.config.parameters import Config
from server.dispatch.pausing import Pausing
from server.observe.memory import MOST, Memory
from server.observe.part import Part
from server.persistence.persistence import Persistence


class Restrictions(Part):
    """The restrictions that hold now. *must_check* alone is read for every command.

    *in_force* says that one of them holds, limits of memory aside. *must_check* is set then, and
    whenever there is such a limit, since any command may exceed it.
    """

    __slots__ = (
        "_memory",
        "_pausing",
        "_persistence",
        "busy",
        "in_force",
        "loading",
        "must_check",
        "refuses_reads",
        "short_of_memory",
        "stopping",
        "write_refusal",
    )

    def __init__(self, memory: Memory, pausing: Pausing, persistence: Persistence) -> None:
        self._memory = memory
        self._pausing = pausing
        self._persistence = persistence
        self.loading = False
        self.stopping = False
        self.busy: ErrorReply | None = None
        self.short_of_memory = False
        self.write_refusal: ErrorReply | None = None
        self.refuses_reads = False
        self.in_force = False
        self.must_check = False

    def set_phase(self, loading: bool = False, stopping: bool = False) -> None:
        """The server loads, stops, or serves clients if it does neither."""
        self.loading = loading
        self.stopping = stopping
        self.update()

    def set_busy(self, error: ErrorReply | None) -> None:
        """A script has been left for a while, and others get *error*; None: it is over."""
        self.busy = error
        self.update()

    def set_short_of_memory(self, is_short: bool) -> None:
        """The system gives no more memory, or gives some again."""
        self.short_of_memory = is_short
        self.update()

    def refuse_writes(self, error: ErrorReply | None, reads_too: bool = False) -> None:
        """Answer writes with *error* from now on, and reads too if so; with None, run them."""
        self.write_refusal = error
        self.refuses_reads = reads_too
        self.update()

    def follow_persistence(self) -> None:
        """To be called when a save, a write of the AOF or a parameter may have changed it."""
        self.refuse_writes(self._persistence.refusal, self._persistence.refuses_reads)

    def configured(self, config: Config) -> None:
        self.follow_persistence()

    def update(self) -> None:
        """To be called when a pause begins or ends; all else here calls it by itself."""
        self.in_force = (
            self.loading
            or self.stopping
            or self.busy is not None
            or self.short_of_memory
            or self.write_refusal is not None
            or self._pausing.active
        )
        memory = self._memory
        self.must_check = self.in_force or memory.limit > 0 or memory.clients_limit < MOST
