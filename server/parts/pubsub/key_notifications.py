"""Keyspace notifications: what happens to keys, as messages.

    SET k v    PUBLISH __keyspace@0__:k set        what happened to k?
               PUBLISH __keyevent@0__:set k        to which keys did it happen?

notify-keyspace-events says which classes of events are told, and to which of the two channels
(server/config/event_classes.py).
"""

from __future__ import annotations

from server.config.event_classes import NO_EVENTS, EventClass
from server.config.parameters import Config
from server.observe.part import Part
from server.parts.pubsub.event_names import CLASS_OF
from server.parts.pubsub.pubsub import PubSub
from storage.keyspace.key_events import KeyEvents

GENERIC = int(EventClass.GENERIC)  # the class of names that are not in the table, too
KEYSPACE = int(EventClass.KEYSPACE)
KEYEVENT = int(EventClass.KEYEVENT)


class KeyNotifications(Part):
    """Publishes the events of keys. It tells *events* which of them it needs."""

    __slots__ = ("_classes", "_events", "_pubsub")

    def __init__(self, events: KeyEvents, pubsub: PubSub) -> None:
        self._events = events
        self._pubsub = pubsub
        self._classes = 0

    def configured(self, config: Config) -> None:
        classes = config.notify_keyspace_events
        if not classes & (EventClass.KEYSPACE | EventClass.KEYEVENT):
            classes = NO_EVENTS  # they would reach no channel
        self._classes = int(classes)
        self._events.tells_changes = bool(classes)
        self._events.tells_new_keys = bool(classes & EventClass.NEW)
        self._events.tells_misses = bool(classes & EventClass.KEY_MISS)

    def tell(self, db: int, key: bytes, event: bytes) -> None:
        """*event* has happened to *key*, in database *db*."""
        kind = CLASS_OF.get(event, GENERIC)
        if not kind & self._classes:
            return
        if self._classes & KEYSPACE:
            self._pubsub.publish(b"__keyspace@%d__:%b" % (db, key), event)
        if self._classes & KEYEVENT:
            self._pubsub.publish(b"__keyevent@%d__:%b" % (db, event), key)
