"""One database: keys, their values and their expiry; it tells what happens to them.

A string is stored in the form that the last command gave it: ``bytes`` by SET, ``int`` by INCR,
``bytearray`` by APPEND or SETRANGE (redis's "raw": it grows in place). All other values are
objects of their own class. An expired key is gone for every reader at once; its memory is freed
when it is looked up next, or by the active expiry cycle.

Each key has a last use (storage/keyspace/usage.py). It is set when the key is written, and when a
command looks up its value; not by TYPE, TTL, EXISTS, OBJECT, nor by what the server does itself.

How a key is looked up:

                  counts a hit   sets the    the caller may    checks
                  or a miss      last use    change the value  the type
    get                          x           x
    find, find_string            x           x                 x
    lend                         x           till give_back()  x
    read, read_string    x       x                             x
    read_any             x       x
    look_at              x
    inspect              x, untold                                         nobody is told of a miss
    peek
    kind_at                                                                gives the class alone
    has                          x                                         gives no value

What a caller does to a value that it may not change may be lost: a small value is packed beside its
key, and such a look-up gives a copy of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from storage import allocation, types
from storage.errors import WrongType
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.key_table import KeyTable
from storage.side_data.side_data import SideData
from storage.value_type import ValueType

String: TypeAlias = bytes | bytearray | int
NO_EXPIRY = -1
NO_TIME = NO_EXPIRY  # the same as a C number
NO_KEY = -1  # idle_s of a key that does not exist
NOTHING: tuple[bytes, ...] = ()  # as *log* of changed: the command is not logged
MANY_ATTEMPTS = 100  # to find a random key that has not expired
LARGE = 1 << 14  # keys; a table of so many is not in the cache that a core has for itself

V = TypeVar("V")


class Keyspace:
    """The keys of one numbered database. All operations are O(1) unless they say otherwise.

    *side* has the side data of the few keys that have any; see storage/side_data.
    """

    __slots__ = (
        "_clock",
        "_expires",
        "_field_expiries",
        "_freeing",
        "_lookup",
        "_usage",
        "_values",
        "events",
        "index",
        "side",
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

    def __len__(self) -> int:
        return len(self._values)

    # ------------------------------------------------------------------ looking up

    def is_large(self) -> bool:
        """Whether it is worth while to fetch() keys before they are looked up."""
        keys: int = self._values.used
        return keys >= LARGE

    def fetch(self, keys: list[bytes]) -> None:
        """Have the processor fetch what look-ups of *keys* are going to read: fetching.MOST keys.

        Not in a small keyspace, which is in the processor's cache anyway.
        """
        if self._values.used >= LARGE:
            self._values.fetch(keys)
        if self._expires.used >= LARGE:
            self._expires.fetch(keys)

    def get(self, key: bytes) -> Any:
        """The value at *key* whatever its type, or None. Sets the key's last use."""
        return self._get(key, False)

    def _get(self, key: bytes, reads: bool) -> Any:
        """The value at *key*, or None, with its last use set; if *reads*, nothing is changed."""
        if self._lookup.no_touch or self._lookup.spares_pages:
            value = self._values.look(key) if reads else self._values.get(key)
        elif self._usage.counts:
            value = self._values.count_use(key, self._usage, reads)
        else:
            value = self._values.use(key, self._clock.now_ms // 1000, reads)
        if value is not None and self._expires.used and self._expire_if_due(key):
            return None
        return value

    def peek(self, key: bytes) -> Any:
        """The value at *key* whatever its type, or None. Leaves no trace."""
        value = self._values.look(key)
        if value is not None and self._expires.used and self._expire_if_due(key):
            return None
        return value

    def find(self, key: bytes, kind: type[V]) -> V | None:
        """The value at *key*, or None. Raises WrongType if it is not a *kind*."""
        value = self.get(key)
        if value is not None and type(value) is not kind:
            raise WrongType
        return value

    def lend(self, key: bytes, kind: type[V]) -> V | None:
        """The value at *key*, or None, to be changed and given back before all else is done.

        A small value that is packed need not become an object that is kept. Raises WrongType.
        """
        if self._usage.counts or self._lookup.no_touch or self._lookup.spares_pages:
            return self.find(key, kind)
        value = self._values.lend(key, self._clock.now_ms // 1000)
        if value is None:
            return None
        if self._expires.used and self._expire_if_due(key):
            self._values.forget_lent()
            return None
        if type(value) is not kind:
            self._values.forget_lent()
            raise WrongType
        return value

    def give_back(self, key: bytes, value: Any) -> None:
        """Keep what has become of *value*, which lend() has given."""
        self._values.give_back(key, value)

    def read(self, key: bytes, kind: type[V]) -> V | None:
        """The value at *key*, or None, for a command that only reads. Raises WrongType."""
        value = self._get(key, True)
        if value is not None and type(value) is not kind:
            raise WrongType
        self._count(value is not None, key)
        return value

    def find_string(self, key: bytes) -> String | None:
        """The string at *key*, or None. Raises WrongType."""
        value = self.get(key)
        kind = type(value)
        if value is None or kind is bytes or kind is bytearray or kind is int:
            return value  # type: ignore[no-any-return]
        raise WrongType

    def read_string(self, key: bytes) -> String | None:
        """The string at *key*, or None, for a command that only reads. Raises WrongType."""
        value = self.find_string(key)
        self._count(value is not None, key)
        return value

    def read_any(self, key: bytes) -> Any:
        """The value at *key* whatever its type, or None, for a command that only reads."""
        value = self._get(key, True)
        self._count(value is not None, key)
        return value

    def look_at(self, key: bytes) -> Any:
        """The value at *key*, or None, for a command that reads what is no use of the key."""
        value = self.peek(key)
        self._count(value is not None, key)
        return value

    def inspect(self, key: bytes) -> Any:
        """The value at *key*, or None, for a command that tells nobody of a miss."""
        value = self.peek(key)
        self.events.hits += value is not None
        self.events.misses += value is None
        return value

    def kind_at(self, key: bytes) -> type | None:
        """The class of the value at *key*; ``bytes`` for every string; None if there is none."""
        value = self.peek(key)
        if value is None:
            return None
        kind = type(value)
        return bytes if kind is bytearray or kind is int else kind

    def __contains__(self, key: bytes) -> bool:
        """Whether *key* exists."""
        return self.has(key)

    def has(self, key: bytes) -> bool:
        """Whether *key* exists; if so, its last use is set."""
        if self._usage.counts or self._lookup.no_touch or self._lookup.spares_pages:
            return self._get(key, True) is not None
        if not self._values.touch(key, self._clock.now_ms // 1000):
            return False
        return not (self._expires.used and self._expire_if_due(key))

    def _count(self, hit: bool, key: bytes) -> None:
        if hit:
            self.events.hits += 1
        else:
            self.events.misses += 1
            if self.events.tells_misses:
                self.events.missed(self.index, key)

    # ------------------------------------------------------------------ changing

    def add(self, key: bytes, value: Any) -> None:
        """Put *value* at *key*, which must be free, and wake clients that wait for it."""
        self._values.set(key, value, self._usage.of_new_key())
        self.events.ready(self.index, key)
        if self.events.tells_new_keys:
            self.events.added(self.index, key)

    def keep(self, key: bytes, value: Any) -> None:
        """Like add, for a value that nobody changes any more: if it is small, it is packed."""
        self._values.keep(key, value, self._usage.of_new_key())
        self.events.ready(self.index, key)
        if self.events.tells_new_keys:
            self.events.added(self.index, key)

    def keep_packed(self, key: bytes, row: ValueType, text: bytes) -> None:
        """Like keep, for the value of the type *row* that is packed as *text*."""
        self._values.keep_packed(key, row, text, self._usage.of_new_key())
        self.events.ready(self.index, key)
        if self.events.tells_new_keys:
            self.events.added(self.index, key)

    def put(self, key: bytes, value: Any, keep_expiry: bool = False) -> None:
        """Put *value* at *key* in place of what was there; an expired value is removed first."""
        if self._expires.used:
            self._expire_if_due(key)
            if not keep_expiry:
                self._expires.discard(key)
        if self._field_expiries.used:
            self._field_expiries.discard(key)
        if self.side:
            self.side.pop(key, None)
        if self._freeing.of_replaced:
            self._freeing.note(self.peek(key))
        is_new = self.events.tells_new_keys and key not in self._values
        self._values.set(key, value, self._next_use(key))
        self.events.ready(self.index, key)
        if is_new:
            self.events.added(self.index, key)

    def replace(self, key: bytes, value: Any) -> None:
        """Put *value* at *key* as a new key: what was there is removed before."""
        old = self.peek(key)
        if old is not None:
            if self._freeing.of_replaced:
                self._freeing.note(old)
            self.remove(key)
        self.add(key, value)

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

    def remove(self, key: bytes) -> bool:
        """Forget *key*. False if there was none."""
        if not self._values.discard(key):
            return False
        if self._expires.used:
            self._expires.discard(key)
        if self._field_expiries.used:
            self._field_expiries.discard(key)
        if self.side:
            self.side.pop(key, None)
        self.events.removed(self.index, key)
        return True

    def put_side(self, key: bytes, side: SideData | None) -> None:
        """Let *side* be the side data of *key*, which is there; None or empty: it has none."""
        if side:
            self.side[key] = side
        elif self.side:
            self.side.pop(key, None)

    def changed(
        self,
        key: bytes,
        event: bytes | None,
        changes: int = 1,
        log: Sequence[bytes] | None = None,
        wakes: bool = False,
    ) -> None:
        """Report that a command has changed, made or removed what is at *key*.

        This is the one way to say so; what follows *event* is given by name. *event*: the name of
        the keyspace event, if there is one. *changes*: how much it counts towards the next save.
        *log*: the words to log in place of the command's own, which must never depend on clocks or
        estimates; several calls make one transaction (with ``None, changes=0`` a call does no more
        than log), and NOTHING keeps the command out of the AOF. *wakes*: whether clients that wait
        for the key are woken; add, put and remove wake them anyway.
        """
        self._tell(key, event, changes, True, log, wakes)

    def group_changed(
        self,
        key: bytes,
        event: bytes | None,
        changes: int = 1,
        log: Sequence[bytes] | None = None,
        wakes: bool = False,
    ) -> None:
        """Like changed, for a change to a stream's groups, which WATCH ignores."""
        self._tell(key, event, changes, False, log, wakes)

    def _tell(
        self,
        key: bytes,
        event: bytes | None,
        changes: int,
        watched: bool,
        log: Sequence[bytes] | None,
        wakes: bool,
    ) -> None:
        self.events.changes += changes
        self.events.changed(self.index, key, event, watched)
        if wakes:
            self.events.ready(self.index, key)
        if log is not None:
            self.events.log(log)

    @property
    def loose(self) -> int:
        """How many keys have a value that pack() could look at."""
        return self._values.loose

    def pack(self, count: int) -> None:
        """Pack small values that are not in use; see KeyTable.pack."""
        self._values.pack(count)

    def clear(self) -> int:
        """Forget all keys; return how many there were. O(N)."""
        keys = len(self._values)
        self._values = KeyTable(self.events.loose_keys)
        self._expires = KeyTable()
        self._field_expiries = KeyTable()
        self.side = {}
        return keys

    def bytes_of(self, key: bytes, samples: int) -> int:
        """How many bytes *key*, which must be there, takes with its value. O(size) at most.

        Of a value with many elements, *samples* parts are looked at; 0: all.
        """
        value = self._values.object_of(key)
        size = self._values.bytes_of(key)
        if key in self.side:
            size += len(self.side[key].record())
        return size if value is None else size + types.of(value).memory(value, samples)

    def bytes_of_slots(self) -> int:
        """The memory of the directories of its tables, without what is in them."""
        tables = (self._values, self._expires, self._field_expiries)
        return sum(table.bytes_of_slots() for table in tables)

    # ------------------------------------------------------------------ last use

    def idle_s(self, key: bytes) -> int:
        """For how many seconds *key* has not been used, or NO_KEY."""
        last_use = self._values.last_use_of(key)
        return NO_KEY if last_use < 0 else self._usage.idle_s(last_use)

    def frequency(self, key: bytes) -> int:
        """How often *key* is used, as LFU policies count it; or NO_KEY."""
        last_use = self._values.last_use_of(key)
        return NO_KEY if last_use < 0 else self._usage.frequency(last_use)

    def set_usage(self, key: bytes, idle_s: int, frequency: int) -> None:
        """Let *key*, if it exists, be as long unused, or as often used; -1: that is not known."""
        self._values.use(key, self._usage.of_loaded_key(idle_s, frequency))

    def _next_use(self, key: bytes) -> int:
        """The last use of *key* when it is written now."""
        if not self._usage.counts:
            return self._clock.now_ms // 1000
        last_use = self._values.last_use_of(key)
        return self._usage.of_new_key() if last_use < 0 else self._usage.after_use(last_use)

    # ------------------------------------------------------------------ expiry

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

    def evict(self, key: bytes) -> None:
        """Remove *key* to make room. The caller has it logged."""
        self._free(key, self._freeing.of_evicted, b"eviction-del")
        self.events.changed(self.index, key, b"evicted", True)

    def keys_to_evict(self, volatile: bool) -> KeyTable:
        """The table of all keys; with *volatile* of those that expire, with the times."""
        return self._expires if volatile else self._values

    def expire_now(self, key: bytes) -> None:
        """Remove *key*, which has expired."""
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

    def _expire_if_due(self, key: bytes) -> bool:
        when = self._expires.number(key)
        if when == NO_TIME or when >= self._clock.now_ms or self._lookup.keeps_expired:
            return False
        if not self._lookup.hides_expired:
            self.expire_now(key)
        return True

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

    @property
    def expiring(self) -> KeyTable:
        """The keys that have an expiry, with its time: the active expiry cycle walks them."""
        return self._expires

    # ------------------------------------------------------------------ walking

    @property
    def table(self) -> KeyTable:
        """All keys and values, expired ones included: a snapshot walks them."""
        return self._values

    def keys(self) -> Iterator[bytes]:
        """All keys that have not expired, in no order. Nothing may be changed meanwhile."""
        now_ms = self._clock.now_ms
        for key in self._values:
            if self.expiry(key) == NO_EXPIRY or self.expiry(key) >= now_ms:
                yield key

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """About *count* keys from *cursor* on, and the next cursor; see KeyTable.scan."""
        return self._values.scan(cursor, count)

    def random_key(self) -> bytes | None:
        """Any key, each as likely as any other; None if there are none.

        While expired keys may not be removed, it returns one of them after many attempts, as redis
        does: there may be no other keys.
        """
        attempts = 0
        while (key := self._values.random_key(self.events.chance)) is not None:
            attempts += 1
            if self.peek(key) is not None or attempts == MANY_ATTEMPTS:
                return key
        return None

    def swap(self, other: Keyspace) -> None:
        """Exchange all keys with *other*. The caller wakes the clients that wait in either."""
        self._values, other._values = other._values, self._values
        self._expires, other._expires = other._expires, self._expires
        self._field_expiries, other._field_expiries = other._field_expiries, self._field_expiries
        self.side, other.side = other.side, self.side
