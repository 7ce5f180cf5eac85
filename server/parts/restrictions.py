"""What keeps commands from running now, whichever client sends them.

    loading            data is read from the disk       what has not the flag LOADING gets -LOADING
    async_loading      ... beside the data in use       what has NO_ASYNC_LOADING gets -LOADING
    stopping           the server ends                  nothing is run any more
    busy               a script runs on and on          what has not the flag ALLOW_BUSY gets -BUSY
    short_of_memory    the system gives no more memory  what may need some gets -OOM
    write_refusal      what is written is not kept      writes get this error
    refuses_reads      ... and must not be shown        reads get it too
    is_replica         changes come from a primary      expired keys are hidden, not removed
    role_refusal       ... or replicas are missing      writes get -READONLY, -NOREPLICAS, -NOQUORUM
    confirms_nothing   a replica, or no lease            clients with ACKS get -NOQUORUM for data
    stale              the primary is out of reach      what lacks the flag STALE gets -MASTERDOWN
    a pause            CLIENT PAUSE                     commands wait, see pausing.py
    maxmemory          more memory may be in use        keys are evicted (key_eviction.py); if none
                                                        can be, what has the flag DENYOOM gets -OOM
    maxmemory-clients  clients may hold more memory     some are disconnected (client_eviction.py)

Admission says which commands each of these concerns (admission.py).
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.config.parameters import Config
from server.observe.memory import MOST, Memory
from server.observe.part import Part
from server.parts.eviction.key_eviction import KeyEviction
from server.parts.persistence.persistence import Persistence
from server.parts.replication.replication import Replication
from server.parts.waiting.pausing import Pausing
from server.table import errors
from storage.keyspace.key_events import KeyEvents


class Restrictions(Part):
    """The restrictions that hold now. *must_check* alone is read for every command.

    *in_force* says that one of them holds, limits of memory aside. *must_check* is set then, and
    whenever there is such a limit, since any command may exceed it. *hides_expired*: a look-up
    between two commands must not remove a key that has expired, since nothing may change.
    """

    __slots__ = (
        "_events",
        "_has_lease",
        "_key_eviction",
        "_memory",
        "_pausing",
        "_persistence",
        "_replica_is_read_only",
        "_replicas_needed",
        "_replication",
        "_serves_stale_data",
        "async_loading",
        "busy",
        "confirms_nothing",
        "hides_expired",
        "in_force",
        "is_replica",
        "loading",
        "must_check",
        "refuses_reads",
        "role_refusal",
        "short_of_memory",
        "stale",
        "stopping",
        "write_refusal",
    )

    def __init__(
        self,
        memory: Memory,
        pausing: Pausing,
        persistence: Persistence,
        replication: Replication,
        events: KeyEvents,
        key_eviction: KeyEviction,
    ) -> None:
        self._memory = memory
        self._pausing = pausing
        self._persistence = persistence
        self._replication = replication
        self._events = events
        self._key_eviction = key_eviction
        self._replica_is_read_only = True
        self._serves_stale_data = True
        self._replicas_needed = 0
        self._has_lease = False
        self.loading = False
        self.async_loading = False
        self.stopping = False
        self.busy: ErrorReply | None = None
        self.short_of_memory = False
        self.write_refusal: ErrorReply | None = None
        self.refuses_reads = False
        self.is_replica = False
        self.hides_expired = False
        self.role_refusal: ErrorReply | None = None
        self.confirms_nothing: ErrorReply | None = None
        self.stale = False
        self.in_force = False
        self.must_check = False

    def set_phase(self, loading: bool = False, stopping: bool = False) -> None:
        """The server loads, stops, or serves clients if it does neither."""
        self.loading = loading
        self.stopping = stopping
        self.update()

    def set_async_loading(self, is_on: bool) -> None:
        """A copy of the primary's data is loaded beside those that clients are served from."""
        self.async_loading = is_on
        self.update()

    def set_busy(self, error: ErrorReply | None) -> None:
        """A script is suspended, and others get *error*; None: it is over."""
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

    def follow_replication(self) -> None:
        """To be called when the role, the link to the primary, or the replicas may have changed."""
        following = self._replication.following
        self.is_replica = following is not None
        self.stale = following is not None and not (following.is_up or self._serves_stale_data)
        self.confirms_nothing = self._why_no_confirmation()
        self.role_refusal = self._why_no_writes()
        self._events.tells_expiries = self.is_replica and self.role_refusal is None
        self.update()

    def _why_no_writes(self) -> ErrorReply | None:
        if self.is_replica:
            return errors.READ_ONLY_REPLICA if self._replica_is_read_only else None
        needed = self._replicas_needed
        if needed and self._replication.good_replicas() < needed:
            return errors.TOO_FEW_REPLICAS
        return self.confirms_nothing

    def _why_no_confirmation(self) -> ErrorReply | None:
        """Why nothing can be confirmed here, be it read or written; None if it can."""
        if self.is_replica:
            return errors.CONFIRMS_NOTHING
        if self._has_lease and not self._replication.confirmations.has_lease:
            return errors.NO_QUORUM
        return None

    def tick(self, now_ms: int) -> None:
        if self._replicas_needed or self._has_lease:
            self.follow_replication()

    def configured(self, config: Config) -> None:
        self._replica_is_read_only = config.replica_read_only
        self._serves_stale_data = config.replica_serve_stale_data
        counts = config.min_replicas_to_write and config.min_replicas_max_lag
        self._replicas_needed = config.min_replicas_to_write if counts else 0
        self._has_lease = config.replica_quorum_lease > 0
        self.follow_replication()
        self.follow_persistence()

    def update(self) -> None:
        """To be called when a pause begins or ends; all else here calls it by itself."""
        self.in_force = (
            self.loading
            or self.async_loading
            or self.stopping
            or self.busy is not None
            or self.short_of_memory
            or self.write_refusal is not None
            or self.is_replica
            or self.role_refusal is not None
            or self._pausing.active
        )
        self.hides_expired = self.is_replica or bool(self._pausing.active)
        self._events.lookup.hides_expired = self.hides_expired
        self._key_eviction.rests = self.loading or self._pausing.active
        self._key_eviction.is_replica = self.is_replica
        memory = self._memory
        self.must_check = self.in_force or memory.limit > 0 or memory.clients_limit < MOST
