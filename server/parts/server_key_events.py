"""Events of keys: wakes blocked clients, fails watching transactions, notifies, logs."""

from __future__ import annotations

import os
from collections.abc import Sequence

from server.observe.key_removals import KeyRemovals
from server.observe.latency_events import LatencyEvents
from server.parts.expiry.replica_expiry import ReplicaExpiry
from server.parts.expiry.stream_policies import StreamPolicies
from server.parts.propagation.propagation import Propagation
from server.parts.pubsub.key_notifications import KeyNotifications
from server.parts.pubsub.pubsub import PubSub
from server.parts.scheduling.agenda import Agenda
from server.parts.stream_survey.stream_index import StreamIndex
from server.parts.tracking.tracking import Tracking
from server.parts.waiting.blocking import Blocking
from server.parts.watching import Watching
from storage.keyspace.key_events import KeyEvents


class ServerKeyEvents(KeyEvents):
    """Passes on what happens to keys. Costs next to nothing while nobody waits, watches or tracks.

    *logged* is what stands for the command that runs, in the AOF and on replicas: None for its own
    words. Each command that runs inside another has a list of its own.
    """

    __slots__ = (
        "_agenda",
        "_blocking",
        "_propagation",
        "_stream_index",
        "_stream_policies",
        "_tracking",
        "_watched",
        "_watching",
        "logged",
        "notifications",
        "removals",
        "replica_expiry",
    )

    def __init__(
        self,
        blocking: Blocking,
        watching: Watching,
        propagation: Propagation,
        pubsub: PubSub,
        tracking: Tracking,
        latency_events: LatencyEvents,
        agenda: Agenda,
        stream_policies: StreamPolicies,
        stream_index: StreamIndex,
    ) -> None:
        super().__init__(seed=int.from_bytes(os.urandom(7)))
        self._agenda = agenda
        self._blocking = blocking
        self._propagation = propagation
        self._stream_policies = stream_policies
        self._stream_index = stream_index
        self._tracking = tracking
        self._watching = watching
        self._watched = watching.watchers
        self.notifications = KeyNotifications(self, pubsub)
        self.removals = KeyRemovals(self, latency_events)
        self.replica_expiry = ReplicaExpiry()
        self.logged: list[Sequence[bytes]] | None = None

    def changed(self, db: int, key: bytes, event: bytes | None, watched: bool) -> None:
        if self._watched and watched:
            self._watching.touched(db, key)
        if self._tracking.hears and watched:
            self._tracking.changed(key, event)
        if self.tells_changes and event is not None:
            self.notifications.tell(db, key, event)

    def added(self, db: int, key: bytes) -> None:
        self.notifications.tell(db, key, b"new")
        self._stream_policies.added(db, key)
        self._stream_index.added(db, key)

    def replaced(self, db: int, key: bytes, type_changed: bool) -> None:
        self.notifications.tell(db, key, b"overwritten")
        if type_changed:
            self.notifications.tell(db, key, b"type_changed")

    def fields_changed(self, db: int, key: bytes, event: bytes, fields: Sequence[bytes]) -> None:
        self.notifications.tell_fields(db, key, event, fields)

    def missed(self, db: int, key: bytes) -> None:
        self.notifications.tell(db, key, b"keymiss")

    def expires(self, db: int, key: bytes) -> None:
        if not self.lookup.keeps_expired:  # it is not the primary's
            self.replica_expiry.note(db, key)

    def ready(self, db: int, key: bytes) -> None:
        self._blocking.key_ready(db, key)

    def removed(self, db: int, key: bytes) -> None:
        self._blocking.key_removed(db, key)

    def side_changed(self, db: int, key: bytes) -> None:
        self._agenda.note(db, key)

    def removal_began(self) -> None:
        self.removals.began()

    def removal_ended(self, name: bytes) -> None:
        self.removals.ended(name)

    def gone(self, db: int, key: bytes) -> None:
        self._propagation.add(db, [b"DEL", key])

    def fields_gone(self, db: int, key: bytes, fields: Sequence[bytes]) -> None:
        self._propagation.add(db, [b"HDEL", key, *fields])

    def log(self, words: Sequence[bytes]) -> None:
        if self.logged is None:
            self.logged = []
        if words:
            self.logged.append(words)
