"""Keyspace notifications: what happens to keys, as messages.

    SET k v    PUBLISH __keyspace@0__:k set        what happened to k?
               PUBLISH __keyevent@0__:set k        to which keys did it happen?

    HSET k f v  PUBLISH __subkeyspace@0__:k hset|1:f            and so on, for fields of hashes

notify-keyspace-events says which classes of events are told, and to which channels
(server/config/event_classes.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from server.config.event_classes import CHANNELS, FIELD_CHANNELS, NO_EVENTS, EventClass
from server.config.parameters import Config
from server.observe.part import Part
from server.parts.pubsub.event_names import CLASS_OF
from server.parts.pubsub.pubsub import PubSub
from storage.keyspace.key_events import KeyEvents

GENERIC = int(EventClass.GENERIC)  # the class of names that are not in the table, too
KEYSPACE = int(EventClass.KEYSPACE)
KEYEVENT = int(EventClass.KEYEVENT)
SUBKEYSPACE = int(EventClass.SUBKEYSPACE)
SUBKEYEVENT = int(EventClass.SUBKEYEVENT)
SUBKEYSPACE_ITEM = int(EventClass.SUBKEYSPACE_ITEM)
SUBKEYSPACE_EVENT = int(EventClass.SUBKEYSPACE_EVENT)


class KeyNotifications(Part):
    """Publishes the events of keys. It tells *events* which of them it needs."""

    __slots__ = ("_classes", "_events", "_field_classes", "_pubsub")

    def __init__(self, events: KeyEvents, pubsub: PubSub) -> None:
        self._events = events
        self._pubsub = pubsub
        self._classes = 0
        self._field_classes = 0

    def configured(self, config: Config) -> None:
        classes = config.notify_keyspace_events
        self._field_classes = int(classes & FIELD_CHANNELS)
        self._events.tells_fields = bool(self._field_classes and classes & EventClass.HASH)
        if not classes & CHANNELS:
            classes = NO_EVENTS  # they would reach no channel
        self._classes = int(classes)
        self._events.tells_changes = bool(classes)
        self._events.tells_new_keys = bool(classes & EventClass.NEW)
        self._events.tells_replaced = bool(
            classes & (EventClass.OVERWRITTEN | EventClass.TYPE_CHANGED)
        )
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

    def tell_fields(self, db: int, key: bytes, event: bytes, fields: Sequence[bytes]) -> None:
        """*event* has happened to *fields* of the hash at *key*, in database *db*. O(fields)."""
        classes, pubsub = self._field_classes, self._pubsub
        named = b",".join([b"%d:%b" % (len(field), field) for field in fields])
        if classes & SUBKEYSPACE:
            pubsub.publish(b"__subkeyspace@%d__:%b" % (db, key), b"%b|%b" % (event, named))
        if classes & SUBKEYEVENT:
            text = b"%d:%b|%b" % (len(key), key, named)
            pubsub.publish(b"__subkeyevent@%d__:%b" % (db, event), text)
        if classes & SUBKEYSPACE_ITEM:
            for field in fields:
                pubsub.publish(b"__subkeyspaceitem@%d__:%b\n%b" % (db, key, field), event)
        if classes & SUBKEYSPACE_EVENT:
            pubsub.publish(b"__subkeyspaceevent@%d__:%b|%b" % (db, event, key), named)
