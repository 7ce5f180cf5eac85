"""The producers of a stream that add each entry once: which ids of theirs it has had.

    limits      how long an id is kept (seconds), and how many of each producer
    by name     producer -> its ids, the oldest first; each with the id of the entry

A producer names each entry by an id of its own, or lets the entry's content be the id. What it
sends twice is added once, as long as the id is known. An id is forgotten when so many newer ones of
the producer have come, when the entry is too old, or when the limits change.

An id that is too old is unknown at once; its memory is given back by expire_due(), which is called
regularly. It finds those streams by the second at which their oldest id becomes too old:

    seconds     1732500000        1732500012           a heap
    streams     [a, b]            [a]                  weak references

These two tables are of the process, as is the count of memory. Who reads them has a clock.
"""

from __future__ import annotations

import heapq
import weakref

from storage import allocation, octets
from storage.stream.stream_id import StreamId
from storage.xxh3 import Halves

MOST_SECONDS, MOST_IDS = 86400, 10_000
DEFAULT_SECONDS, DEFAULT_IDS = 100, 100
OBJECT = 192  # bytes of the producers of a stream, compiled
PRODUCER = 400  # bytes of one with its tables
KNOWN = 112  # bytes of an id of a producer besides its text
_U64 = 2**64 - 1

_streams: dict[int, list[weakref.ref[Producers]]] = {}
_seconds: list[int] = []
_alive = 0  # objects of the class below


class Limits:
    """How long the ids of producers are kept, and how many of each."""

    __slots__ = ("ids", "seconds")

    def __init__(self, seconds: int = DEFAULT_SECONDS, ids: int = DEFAULT_IDS) -> None:
        self.seconds = seconds
        self.ids = ids


class Known:
    """The ids of one producer, and the entries of them. What is said to be O(1) is, in the mean."""

    __slots__ = ("_first", "_order", "entries")

    def __init__(self) -> None:
        self.entries: dict[bytes, StreamId] = {}
        self._order: list[bytes] = []  # from _first on: all ids, the oldest first
        self._first = 0

    def __len__(self) -> int:
        return len(self._order) - self._first

    def oldest(self) -> bytes:
        """The id that came first. There must be one."""
        return self._order[self._first]

    def names(self) -> list[bytes]:
        """All ids, the oldest first. O(N)."""
        return self._order[self._first :]

    def add(self, name: bytes, entry_id: StreamId) -> None:
        """Add an id, which must be new."""
        self.entries[name] = entry_id
        self._order.append(name)

    def remove(self, name: bytes) -> None:
        """Remove an id: the oldest in O(1), others in O(N)."""
        del self.entries[name]
        if self._order[self._first] == name:
            self._first += 1
            if self._first * 2 > len(self._order):
                del self._order[: self._first]
                self._first = 0
        else:
            self._order.remove(name)


class Producers:
    """The producers of one stream. Operations are O(1) unless they say otherwise."""

    __slots__ = (
        "__weakref__",
        "_by_name",
        "_due_s",
        "added",
        "duplicates",
        "ids",
        "seconds",
        "tracked",
    )

    def __init__(self, limits: Limits) -> None:
        self.seconds = limits.seconds
        self.ids = limits.ids
        self.added = 0  # ever
        self.duplicates = 0  # ever
        self.tracked = 0  # ids of all producers
        self._by_name: dict[bytes, Known] = {}
        self._due_s = 0  # when expire_due() looks at it; 0: never
        allocation.used += OBJECT
        _count(1)

    def __del__(self) -> None:
        self._forget_all()
        allocation.used -= OBJECT
        _count(-1)

    def count(self) -> int:
        """How many producers there are of which an id is known."""
        return len(self._by_name)

    def find(self, producer: bytes, name: bytes, now_ms: int) -> StreamId | None:
        """The entry that *producer* has added as *name*; None if it is not known (any more)."""
        known = self._by_name.get(producer)
        if known is None:
            return None
        entry_id = known.entries.get(name)
        if entry_id is not None and self._is_old(entry_id, now_ms):
            return None
        return entry_id

    def knows(self, producer: bytes, name: bytes) -> bool:
        """Whether *producer* has added an entry as *name* that is not forgotten, old or not."""
        known = self._by_name.get(producer)
        return known is not None and name in known.entries

    def record(self, producer: bytes, name: bytes, entry_id: StreamId) -> None:
        """*producer* has added *entry_id* as *name*: its oldest id is forgotten for it, if needed.

        An entry that is known by that name already is forgotten.
        """
        self.restore(producer, name, entry_id)
        self.added += 1

    def restore(self, producer: bytes, name: bytes, entry_id: StreamId) -> None:
        """As record(), but it does not count as added."""
        known = self._by_name.get(producer)
        if known is None:
            known = Known()
            self._by_name[producer] = known
            allocation.used += PRODUCER + allocation.of_bytes(producer)
        if name in known.entries:
            self._forget(known, name)
        elif len(known) >= self.ids:
            self._forget(known, known.oldest())
        known.add(name, entry_id)
        self.tracked += 1
        allocation.used += KNOWN + allocation.of_bytes(name)
        self._note_due(entry_id)

    def set_limits(self, seconds: int, ids: int) -> bool:
        """Change the limits, and forget all ids. False, and nothing is done, if none changes."""
        if seconds == self.seconds and ids == self.ids:
            return False
        self.seconds = seconds
        self.ids = ids
        self._forget_all()
        return True

    def expire(self, now_ms: int) -> None:
        """Forget the ids that are too old. O(producers + what is forgotten)."""
        gone = []
        for producer, known in self._by_name.items():
            while len(known) and self._is_old(known.entries[known.oldest()], now_ms):
                self._forget(known, known.oldest())
            if not len(known):
                gone.append(producer)
        for producer in gone:
            self._forget_producer(producer)

    def sorted_producers(self) -> list[tuple[bytes, list[tuple[bytes, StreamId]]]]:
        """Each producer with its ids and entries, by name; the oldest of its ids first. O(ids)."""
        found = []
        for producer in sorted(self._by_name):
            known = self._by_name[producer]
            found.append((producer, [(name, known.entries[name]) for name in known.names()]))
        return found

    def copy(self) -> Producers:
        """An independent object equal to this one. O(ids)."""
        made = Producers(Limits(self.seconds, self.ids))
        for producer, names in self.sorted_producers():
            for name, entry_id in names:
                made.restore(producer, name, entry_id)
        made.added = self.added
        made.duplicates = self.duplicates
        return made

    # ------------------------------------------------------------------ forgetting

    def _is_old(self, entry_id: StreamId, now_ms: int) -> bool:
        return entry_id.ms < now_ms and now_ms - entry_id.ms >= self.seconds * 1000

    def _forget(self, known: Known, name: bytes) -> None:
        known.remove(name)
        self.tracked -= 1
        allocation.used -= KNOWN + allocation.of_bytes(name)

    def _forget_producer(self, producer: bytes) -> None:
        known = self._by_name.pop(producer)
        for name in known.names():
            self._forget(known, name)
        allocation.used -= PRODUCER + allocation.of_bytes(producer)

    def _forget_all(self) -> None:
        for producer in list(self._by_name):
            self._forget_producer(producer)

    def _note_due(self, entry_id: StreamId) -> None:
        """See to it that expire_due() looks here when *entry_id* is too old."""
        due_s = entry_id.ms // 1000 + self.seconds + 1
        if not self._due_s or due_s < self._due_s:
            self._due_s = due_s
            if due_s not in _streams:
                _streams[due_s] = []
                heapq.heappush(_seconds, due_s)
            _streams[due_s].append(weakref.ref(self))

    def look_again(self, now_ms: int, due_s: int) -> None:
        """Forget what is too old, if *due_s* is still when that was to be done. O(producers)."""
        if due_s == self._due_s:
            self.expire(now_ms)
            self._due_s = 0
            for known in self._by_name.values():
                self._note_due(known.entries[known.oldest()])


def content_of(fields: list[bytes], start: int) -> bytes:
    """The id that the content of the entry ``fields[start:]`` gives it: 16 bytes. O(size).

    The order of the fields does not matter. It is Redis's, so that they are known in its files:
    of the hashes (XXH3, 128 bits) of all pairs, each of the name, its length and the value, halves
    are added up in one place and mixed by exclusive or in another.
    """
    halves = Halves()
    sum_low = sum_high = mixed_low = mixed_high = 0
    for at in range(start, len(fields) - 1, 2):
        name = fields[at]
        halves.take(b"%b%b%b" % (name, _length_of(name), fields[at + 1]))
        sum_low = (sum_low + halves.low) & _U64
        sum_high = (sum_high + halves.high) & _U64
        mixed_low ^= halves.low
        mixed_high ^= halves.high
    low = sum_low ^ (mixed_high << 1 & _U64 | mixed_high >> 63)
    high = sum_high ^ (mixed_low << 1 & _U64 | mixed_low >> 63)
    return octets.id_key(octets.swapped(low), octets.swapped(high))


def _length_of(name: bytes) -> bytes:
    return octets.id_key(octets.swapped(len(name)), 0)[:8]


def _count(made: int) -> None:
    global _alive  # noqa: PLW0603  of the process, as the memory that they take
    _alive += made


def expire_due(now_ms: int) -> None:
    """Forget the ids that are too old, in all streams. O(1) if there are none."""
    now_s = now_ms // 1000
    while _seconds and _seconds[0] <= now_s:
        due_s = heapq.heappop(_seconds)
        for reference in _streams.pop(due_s):
            producers = reference()
            if producers is not None:
                producers.look_again(now_ms, due_s)


def in_use() -> bool:
    """Whether any stream has, or has had, such producers, or limits of its own."""
    return _alive > 0
