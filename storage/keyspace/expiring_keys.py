"""The keys of a database that have a time to expire at, and how keys leave it.

An expired key is gone for every reader at once; its memory is freed when it is looked up next, or
by the active expiry cycle. This is the base of Keyspace, and has what it consists of.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from storage.keyspace.key_events import KeyEvents
from storage.keyspace.key_table import KeyTable
from storage.side_data.side_data import SideData

NO_EXPIRY = -1
NO_TIME = NO_EXPIRY  # the same as a C number


class ExpiringKeys:
    """Keys with their values and times. All operations are O(1).

    *side* has the side data of the few keys that have any; see storage/side_data. *tended* has the
    keys of streams that may have a policy, in the order in which cron looks at them, with what it
    notes of each: a key is entered when its policy is set, or found by its name, and leaves with
    its value, or when cron finds no policy.
    """

    __slots__ = (
        "_asked",
        "_clock",
        "_expires",
        "_field_expiries",
        "_found",
        "_freeing",
        "_lookup",
        "_usage",
        "_values",
        "events",
        "index",
        "side",
        "tended",
    )

    def __init__(self, index: int, events: KeyEvents) -> None:
        self.index = index
        self.events = events
        self._clock = events.clock
        self._lookup = events.lookup
        self._usage = events.usage
        self._freeing = events.freeing
        self._values = KeyTable(events.loose_keys)
        self._expires = KeyTable()  # key -> unix ms
        self._field_expiries = KeyTable()  # key -> unix ms: when the first field of its value does
        self.side: dict[bytes, SideData] = {}
        self._asked: bytes | None = None
        self._found: SideData | None = None
        self.tended: OrderedDict[bytes, Any] = OrderedDict()

    # ------------------------------------------------------------------ side data

    def side_of(self, key: bytes) -> SideData | None:
        """The side data of *key*, or None. That of the last key that was asked for is at hand."""
        if key is not self._asked:  # in a pipeline it is that very object
            if key != self._asked:
                self._found = self.side.get(key)
            self._asked = key
        return self._found

    def _forget_asked(self) -> None:
        """The side data of some key may be others now."""
        self._asked = None
        self._found = None

    # ------------------------------------------------------------------ when keys expire

    def expiry(self, key: bytes) -> int:
        """When *key* expires, in unix ms, or NO_EXPIRY."""
        return self._expires.number(key) if self._expires.used else NO_EXPIRY

    def expire_at(self, key: bytes, when_ms: int) -> None:
        """Let *key*, which must be there, expire at *when_ms*."""
        self._expires.set(key, when_ms)
        if self.events.tells_expiries:
            self.events.expires(self.index, key)

    def persist(self, key: bytes) -> bool:
        """Remove the expiry of *key*. False if it had none."""
        return self._expires.discard(key)

    @property
    def expiring(self) -> KeyTable:
        """The keys that have an expiry, with its time: the active expiry cycle walks them."""
        return self._expires

    def expire_fields_at(self, key: bytes, when_ms: int) -> None:
        """Note when the first field of the value at *key* expires; NO_EXPIRY: none does."""
        if when_ms != NO_EXPIRY:
            self._field_expiries.set(key, when_ms)
        elif self._field_expiries.used:
            self._field_expiries.discard(key)

    @property
    def field_expiries(self) -> KeyTable:
        """The keys of values of which a field expires, with the first of the times."""
        return self._field_expiries

    # ------------------------------------------------------------------ removal

    def remove(self, key: bytes) -> bool:
        """Forget *key*. False if there was none."""
        if not self._values.discard(key):
            return False
        if self._expires.used:
            self._expires.discard(key)
        if self._field_expiries.used:
            self._field_expiries.discard(key)
        if self.side:
            self._forget_side(key)
        if self.tended:
            self.tended.pop(key, None)
        self.events.removed(self.index, key)
        return True

    def _forget_side(self, key: bytes) -> None:
        """*key* has no side data any more, or had none."""
        self._forget_asked()
        if self.side.pop(key, None) is not None:
            self.events.side_changed(self.index, key)

    def doom(self, key: bytes) -> None:
        """What is beside *key*, which is about to be removed, is nobody's any more.

        If it is large, it is freed some at a time.
        """
        side = self.side.get(key)
        if side is not None:
            self._freeing.doomed.extend(side.large())

    def evict(self, key: bytes) -> None:
        """Remove *key* to make room. The caller has it logged."""
        self._free(key, self._freeing.of_evicted, b"eviction-del")
        self.events.changed(self.index, key, b"evicted", True)

    def expire_now(self, key: bytes) -> None:
        """Remove *key*, which has expired."""
        if self.side:
            self.doom(key)
        self._free(key, self._freeing.of_expired, b"expire-del")
        events = self.events
        events.expired += 1
        events.gone(self.index, key)
        events.changed(self.index, key, b"expired", True)

    def _free(self, key: bytes, lazily: bool, name: bytes) -> None:
        """Remove *key*, of which nobody has asked for that. *name* is what LATENCY calls it."""
        if lazily:
            self._freeing.note(self._values.get(key))
        if not self.events.measures_removals:
            self.remove(key)
            return
        self.events.removal_began()
        self.remove(key)
        self.events.removal_ended(name)

    def _is_gone(self, key: bytes) -> bool:
        """Whether *key* has expired. It is removed then, unless that has to wait."""
        when = self._expires.number(key)
        if when == NO_TIME or when >= self._clock.now_ms or self._lookup.keeps_expired:
            return False
        if not self._lookup.hides_expired:
            self.expire_now(key)
        return True
