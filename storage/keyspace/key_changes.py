"""How the keys of a database are given values, and how it tells what has changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from storage import allocation, types
from storage.keyspace.key_lookups import KeyLookups, String
from storage.side_data.group_policy import GROUP_POLICY
from storage.side_data.side_data import SideData
from storage.side_data.stream_policy import STREAM_POLICY
from storage.stream.stream import Stream
from storage.value_type import ValueType

NOTHING_REPLACED, REPLACED, TYPE_CHANGED = range(3)
NOTHING: tuple[bytes, ...] = ()  # as *log* of changed: the command is not logged


class KeyChanges(KeyLookups):
    """The changes. All are O(1)."""

    __slots__ = ()

    def add(self, key: bytes, value: Any, packs: bool = False) -> None:
        """Put *value* at *key*, which must be free, and wake clients that wait for it.

        *packs*: nobody changes the value any more, so if it is small, it is packed.
        """
        if packs:
            self._values.keep(key, value, self._usage.of_new_key())
        else:
            self._values.set(key, value, self._usage.of_new_key())
        self._added(key)

    def add_packed(self, key: bytes, row: ValueType, text: bytes) -> None:
        """Like add, for the value of the type *row* that is packed as *text*."""
        self._values.keep_packed(key, row, text, self._usage.of_new_key())
        self._added(key)

    def _added(self, key: bytes) -> None:
        self.events.ready(self.index, key)
        if self.events.tells_new_keys:
            self.events.added(self.index, key)

    def put(self, key: bytes, value: Any, keep_expiry: bool = False) -> None:
        """Put *value* at *key* in place of what was there; an expired value is removed first."""
        if self._expires.used:
            self._is_gone(key)
            if not keep_expiry:
                self._expires.discard(key)
        if self._field_expiries.used:
            self._field_expiries.discard(key)
        if self.side:
            self._forget_side(key)
        if self.tended:
            self.tended.pop(key, None)
        if self._freeing.of_replaced:
            self._freeing.note(self.peek(key))
        is_new = False
        if self.events.tells_new_keys or self.events.tells_replaced:
            is_new = self._tell_replaced(key, value)
        last_use = self._clock.now_ms // 1000
        if self._usage.counts:
            last_use = self._values.last_use_of(key)
            new = last_use < 0
            last_use = self._usage.of_new_key() if new else self._usage.after_use(last_use)
        self._values.set(key, value, last_use)
        self.events.ready(self.index, key)
        if is_new:
            self.events.added(self.index, key)

    def _tell_replaced(self, key: bytes, value: Any) -> bool:
        """*value* is going to be put at *key*. Whether that is to be told as new."""
        events = self.events
        old = self.peek(key)
        if old is None:
            return events.tells_new_keys
        if events.tells_replaced:
            events.replaced(self.index, key, types.of(old) is not types.of(value))
        return False

    def replace(self, key: bytes, value: Any) -> int:
        """Put *value* at *key* as a new key: what was there is removed before.

        Returns what the caller says to tell_replaced(), when it has told of its own change.
        """
        replaced = NOTHING_REPLACED
        old = self.peek(key)
        if old is not None:
            if self.events.tells_replaced:
                replaced = REPLACED if types.of(old) is types.of(value) else TYPE_CHANGED
            if self._freeing.of_replaced:
                self._freeing.note(old)
            self.remove(key)
        self.add(key, value)
        return replaced

    def tell_replaced(self, key: bytes, replaced: int) -> None:
        """*replaced* is what replace() has returned for *key*."""
        if replaced:
            self.events.replaced(self.index, key, replaced == TYPE_CHANGED)

    def store_string(self, key: bytes, value: String, grown: int = 0) -> None:
        """Put the new form of a string in place of the old: the expiry stays, nobody is woken.

        *grown*: how many bytes of memory the value takes more than when it was last stored. The old
        one was looked up, and that was the use that counts.
        """
        if self._usage.counts:
            self._values.set(key, value, self._values.last_use_of(key))
        else:
            self._values.set(key, value, self._clock.now_ms // 1000)
        allocation.used += grown

    def put_side(self, key: bytes, side: SideData | None, of_groups: bool = True) -> None:
        """Let *side* be the side data of *key*, which is there; None or empty: it has none.

        *of_groups*: whether groups may have another policy than before. O(groups with a policy).
        """
        if side:
            self.side[key] = side
            self._forget_asked()
            self.events.side_changed(self.index, key)
            if side.get(STREAM_POLICY) is not None:
                self.tended.setdefault(key, None)
            if of_groups:
                self._note_first(key, side)
        elif self.side:
            self._forget_side(key)

    def _note_first(self, key: bytes, side: SideData) -> None:
        """Let the groups of the stream at *key* note first deliveries where their policies say."""
        policies = side.of_kind(GROUP_POLICY)
        stream = self._values.look(key) if policies else None  # expired or not
        if not isinstance(stream, Stream):  # nobody knows what a payload may say
            return
        for name, policy in policies:
            group = None if name is None else stream.find_group(name)
            if group is not None:
                group.note_first(policy.redelivered if policy.max_deliveries else None)

    # ------------------------------------------------------------------ telling

    def changed(
        self,
        key: bytes,
        event: bytes | None,
        changes: int = 1,
        log: Sequence[bytes] | None = None,
        wakes: bool = False,
        watched: bool = True,
    ) -> None:
        """Report that a command has changed, made or removed what is at *key*.

        This is the one way to say so; what follows *event* is given by name. *event*: the name of
        the keyspace event, if there is one. *changes*: how much it counts towards the next save.
        *log*: the words to log in place of the command's own, which must never depend on clocks or
        estimates; several calls make one transaction (with ``None, changes=0`` a call does no more
        than log), and NOTHING keeps the command out of the AOF. *wakes*: whether clients that wait
        for the key are woken; add, put and remove wake them anyway. *watched*: whether
        transactions that watch the key fail.
        """
        self.events.changes += changes
        if self._lookup.by_writes:
            self._values.touch(key, self._clock.now_ms // 1000)
        self.events.changed(self.index, key, event, watched)
        if wakes:
            self.events.ready(self.index, key)
        if log is not None:
            self.events.log(log)

    def group_changed(
        self,
        key: bytes,
        event: bytes | None,
        changes: int = 1,
        log: Sequence[bytes] | None = None,
        wakes: bool = False,
    ) -> None:
        """Like changed, for a change to a stream's groups, which WATCH ignores."""
        self.changed(key, event, changes, log, wakes, False)
