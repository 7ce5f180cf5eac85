"""How the keys of a database are looked up.

                  counts a hit   sets the    the caller may    checks
                  or a miss      last use    change the value  the type
    find                         x           x                 x
    lend                         x           till give_back()  x
    read          x              x                             x
    look_at       x
    peek
    key in db                    x                                         gives no value

The type is a class of values; ANY is each of them, and STRING the three that a string may have.
What a caller does to a value that it may not change may be lost: a small value is packed beside its
key, and such a look-up gives a copy of it.

Each key has a last use (storage/keyspace/usage.py). It is set when the key is written, and when a
command looks up its value; not by TYPE, TTL, OBJECT, nor by what the server does itself.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

from storage.errors import WrongType
from storage.keyspace.expiring_keys import ExpiringKeys

String: TypeAlias = bytes | bytearray | int
ANY: type[Any] = object  # the class that stands for any
STRING: type[String] = bytes  # and the one that stands for all three of a string
NO_KEY = -1  # idle_s of a key that does not exist
LARGE = 1 << 14  # keys; a table of so many is not in the cache that a core has for itself

V = TypeVar("V")


class KeyLookups(ExpiringKeys):
    """The look-ups. All are O(1)."""

    __slots__ = ()

    def find(self, key: bytes, kind: type[V]) -> V | None:
        """The value at *key*, or None. Raises WrongType if it is not a *kind*."""
        value = self._used(key, False)
        if value is not None and type(value) is not kind:
            _check_kind(value, kind)
        return value  # type: ignore[no-any-return]

    def read(self, key: bytes, kind: type[V]) -> V | None:
        """The value at *key*, or None, for a command that only reads. Raises WrongType."""
        value = self._used(key, True)
        self._count(value is not None, key, True)  # one of another type is a hit, as in Redis
        if value is not None and type(value) is not kind:
            _check_kind(value, kind)
        return value  # type: ignore[no-any-return]

    def lend(self, key: bytes, kind: type[V]) -> V | None:
        """The value at *key*, or None, to be changed and given back before all else is done.

        A small value that is packed need not become an object that is kept. Raises WrongType.
        """
        if self._usage.counts or self._lookup.no_touch or self._lookup.spares_pages:
            return self.find(key, kind)
        value = self._values.lend(key, self._clock.now_ms // 1000)
        if value is None:
            return None
        if self._expires.used and self._is_gone(key):
            self._values.forget_lent()
            return None
        if type(value) is not kind:
            self._values.forget_lent()
            _check_kind(value, kind)
        return value  # type: ignore[no-any-return]

    def give_back(self, key: bytes, value: Any) -> None:
        """Keep what has become of *value*, which lend() has given."""
        self._values.give_back(key, value)

    def look_at(self, key: bytes, tells_misses: bool = True) -> Any:
        """The value at *key*, or None, for a command that reads what is no use of the key.

        *tells_misses*: whether a miss is an event, and not only counted.
        """
        value = self.peek(key)
        self._count(value is not None, key, tells_misses)
        return value

    def peek(self, key: bytes) -> Any:
        """The value at *key* whatever its type, or None. Leaves no trace."""
        value = self._values.look(key)
        if value is not None and self._expires.used and self._is_gone(key):
            return None
        return value

    def __contains__(self, key: bytes) -> bool:
        """Whether *key* exists; if so, its last use is set."""
        if self._usage.counts or self._lookup.no_touch or self._lookup.spares_pages:
            return self._used(key, True) is not None
        if not self._values.touch(key, self._clock.now_ms // 1000):
            return False
        return not (self._expires.used and self._is_gone(key))

    def _used(self, key: bytes, reads: bool) -> Any:
        """The value at *key*, or None, with its last use set; if *reads*, nothing is changed."""
        if self._lookup.no_touch or self._lookup.spares_pages:
            value = self._values.look(key) if reads else self._values.get(key)
        elif self._usage.counts:
            value = self._values.count_use(key, self._usage, reads)
        else:
            value = self._values.use(key, self._clock.now_ms // 1000, reads)
        if value is not None and self._expires.used and self._is_gone(key):
            return None
        return value

    def _count(self, hit: bool, key: bytes, tells: bool) -> None:
        events = self.events
        if hit:
            events.hits += 1
        else:
            events.misses += 1
            if tells and events.tells_misses:
                events.missed(self.index, key)

    # ------------------------------------------------------------------ ahead of look-ups

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


def _check_kind(value: Any, kind: type) -> None:
    """Raise WrongType unless *value*, whose class is not *kind*, is of that type nevertheless."""
    is_any_string = kind is bytes and (type(value) is int or type(value) is bytearray)
    if kind is not object and not is_any_string:
        raise WrongType
