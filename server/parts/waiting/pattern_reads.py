"""Readers by pattern: which streams they match, and which of these may have something for them.

    XREADGROUP ... MATCH jobs:*          Readers     keys    jobs:a  jobs:b  jobs:c
                                                     fresh   jobs:b               looked at first
                                                     resting jobs:c               until 12:00:30
                                                     queue   clients that wait

While anybody reads by pattern, the names of all streams of that database are kept here. They are
gathered when the first one asks, some keys at a time, and follow the events of keys from then on.
A stream is compared with each pattern once: when its name is new, or the pattern is. When something
happens to it, it becomes *fresh* to the readers that match it; who has seen all that it has makes
it stale again. One whose group has a policy rests: it becomes fresh again when its policy may give
something, as when VISIBILITY is over. So a call looks at the streams that may have something, and
at no others.

All clients that read by the same patterns, for the same group, share one Readers; it is forgotten
when nobody has used it for a while. The names go with the last one, and then a change of a key
costs one look at a flag again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from server.parts.due_keys import DueKeys
from server.parts.waiting.wait_queue import Queue
from storage import glob
from storage.keyspace.key_table import KeyTable
from storage.keyspace.keyspace import Keyspace
from storage.stream.stream import Stream

AT_ONCE = 2000  # keys that are gathered before others have their turn
MOST_READERS = 100  # of a database that are kept although no client waits
KEPT_MS = 60_000  # since the last use
THE_QUEUE = b""  # the only key of Readers.queues

Name = tuple[tuple[bytes, ...], bytes | None, bool]


class Readers:
    """Those who read the streams that match *patterns*, for *group*; None: by XREAD."""

    __slots__ = (
        "_cursor", "_is_gathered", "fresh", "group", "keys", "last", "name", "names", "patterns",
        "queues", "resting", "used_ms",
    )  # fmt: skip

    def __init__(self, names: StreamNames, name: Name) -> None:
        self.names = names
        self.name = name
        self.patterns, self.group, _ = name
        self._cursor = 0
        self._is_gathered = not names.names  # those that come are compared when they come
        self.keys: OrderedDict[bytes, None] = OrderedDict()  # in the order in which to look
        self.fresh: OrderedDict[bytes, int] = OrderedDict()  # the same; when each became so
        self.resting = DueKeys()  # of a group: those that are not fresh, by its policy
        self.last = 0  # counts what has become fresh
        self.queues: dict[bytes, Queue] = {}  # the one of the clients that wait, if there are any
        self.used_ms = 0

    @property
    def is_complete(self) -> bool:
        """Whether *keys* has all that match."""
        return self._is_gathered and self.names.is_complete

    @property
    def queue(self) -> Queue | None:
        """The clients that wait; None: there are none."""
        return self.queues.get(THE_QUEUE)

    def match(self, key: bytes) -> bool:
        """Whether any of the patterns matches *key*."""
        for pattern in self.patterns:  # noqa: SIM110  compiled, there are no generators
            if glob.match(pattern, key):
                return True
        return False

    def gather(self, whole: bool, known: bool) -> None:
        """Look at some more keys, or, if *whole*, at all that are left. O(1) a key.

        If it has to be *known* now what there is, all names are compared that have been gathered.
        """
        names = self.names
        names.gather(whole)
        while names.is_complete and not self._is_gathered:
            self._cursor, keys = names.database.scan(self._cursor, AT_ONCE)
            for key in keys:
                readers = names.names.get(key)
                if readers is not None and key not in self.keys and self.match(key):
                    readers.append(self)
                    self.note(key)
            self._is_gathered = self._cursor == 0
            if not whole and not known:
                break

    def note(self, key: bytes) -> None:
        """*key*, which matches, may have something new."""
        self.last += 1
        self.keys[key] = None
        self.resting.discard(key)
        if key not in self.fresh or self.group is None:
            self.fresh[key] = self.last
            self.fresh.move_to_end(key)

    def since(self, last: int) -> list[bytes]:
        """The keys that have become fresh since *last* was the last, oldest first. O(keys)."""
        found = []
        for key in reversed(self.fresh):
            if self.fresh[key] <= last:
                break
            found.append(key)
        return found[::-1]

    def looked(self, key: bytes, is_stale: bool) -> None:
        """*key* was looked at: it is the last one to look at again, or has nothing any more."""
        if key in self.keys:
            self.keys.move_to_end(key)
        if key in self.fresh and self.group is not None:
            if is_stale:
                del self.fresh[key]
            else:
                self.fresh.move_to_end(key)

    def rest(self, key: bytes, at_ms: int) -> None:
        """*key* was looked at, and has nothing before *at_ms* unless something happens to it."""
        if key in self.fresh:
            self.looked(key, True)
            self.resting.put(key, at_ms)

    def come_due(self, now_ms: int, most: int) -> bool:
        """Up to *most* of those that have rested until *now_ms* are fresh again; whether all."""
        for key in self.resting.take_due(now_ms, most):
            self.note(key)
        return self.resting.first_ms() > now_ms

    def rest_no_longer(self) -> None:
        """What rests is fresh again: somebody wants what others do not. O(their number)."""
        for key in self.resting.take_all():
            self.note(key)

    def forget(self, key: bytes) -> None:
        """*key* is gone, or no stream."""
        self.keys.pop(key, None)
        self.fresh.pop(key, None)
        self.resting.discard(key)

    def clear(self) -> None:
        """Forget all keys; those that come are compared when they come."""
        self.keys.clear()
        self.fresh.clear()
        self.resting.clear()
        self._is_gathered = True


class StreamNames:
    """The names of the streams of *database*, and who reads each by a pattern."""

    __slots__ = ("_cursor", "_table", "database", "is_complete", "names", "readers")

    def __init__(self, database: Keyspace) -> None:
        self.database = database
        self.names: dict[bytes, list[Readers]] = {}
        self.readers: OrderedDict[Name, Readers] = OrderedDict()  # the least used first
        self._table: KeyTable | None = None
        self._begin()

    def _begin(self) -> None:
        self.names.clear()
        for readers in self.readers.values():
            readers.clear()
        self._table = self.database.table
        self._cursor = 0
        self.is_complete = False

    def end(self) -> None:
        """Nobody reads by these names any more.

        A wait that was long may still know its Readers: through them no data are kept.
        """
        self._begin()
        self._table = None

    def check(self) -> None:
        """Begin anew if the database has other keys now: FLUSHDB, SWAPDB, a loaded copy."""
        if self.database.table is not self._table:
            self._begin()

    def gather(self, whole: bool) -> None:
        """Look at some more keys, or, if *whole*, at all that are left. O(1) a key."""
        while not self.is_complete:
            self._cursor, keys = self.database.scan(self._cursor, AT_ONCE)
            for key in keys:
                if key not in self.names:
                    self.add(key)
            self.is_complete = self._cursor == 0
            if not whole:
                break

    def add(self, key: bytes) -> list[Readers]:
        """Compare *key*, if it is a stream, with all patterns; return whom it is of concern."""
        if type(self.database.peek(key)) is not Stream:
            return []
        found = [readers for readers in self.readers.values() if readers.match(key)]
        self.names[key] = found
        for readers in found:
            readers.note(key)
        return found

    def add_readers(self, name: Name) -> Readers:
        """New readers, whose keys are still to be gathered."""
        made = self.readers[name] = Readers(self, name)
        return made

    def drop_readers(self, readers: Readers) -> None:
        """Forget *readers*. O(their keys)."""
        del self.readers[readers.name]
        for key in readers.keys:
            self.names[key].remove(readers)
        readers.clear()

    def forget(self, key: bytes) -> None:
        """*key* is gone, or no stream."""
        for readers in self.names.pop(key, ()):
            readers.forget(key)


class PatternReads:
    """Who reads by patterns, in all databases. *are_used*: there are some."""

    def __init__(self) -> None:
        self.are_used = False
        self._of: dict[int, StreamNames] = {}

    def readers(
        self, database: Keyspace, patterns: Sequence[bytes], group: bytes | None, makes: bool
    ) -> Readers:
        """Those who read *patterns* of *database*; *makes*: with MKGROUP. O(1) if there are any."""
        names = self._of.get(database.index)
        if names is None:
            names = self._of[database.index] = StreamNames(database)
            self.are_used = True
        names.check()
        name = (tuple(patterns), group, makes)
        found = names.readers.get(name)
        if found is None:
            found = names.add_readers(name)
            self._make_room(names)
        found.used_ms = 0
        names.readers.move_to_end(name)
        return found

    def _make_room(self, names: StreamNames) -> None:
        for readers in list(names.readers.values())[:-MOST_READERS]:
            if readers.queue is None:
                names.drop_readers(readers)

    def ready(self, db_index: int, key: bytes) -> list[Readers]:
        """Something has happened to *key*: those who read it by a pattern."""
        names = self._of.get(db_index)
        if names is None:
            return []
        names.check()
        found = names.names.get(key)
        if found is None:
            return names.add(key)
        for readers in found:
            readers.note(key)
        return found

    def removed(self, db_index: int, key: bytes) -> None:
        """*key* is gone."""
        names = self._of.get(db_index)
        if names is not None:
            names.forget(key)

    def queues_of(self, db_index: int, key: bytes) -> list[Queue]:
        """The queues of those who read *key* by a pattern."""
        names = self._of.get(db_index)
        found = [] if names is None else names.names.get(key, [])
        return [readers.queue for readers in found if readers.queue is not None]

    def emptied(self, db_index: int) -> list[Queue]:
        """That database has other keys now: the queues of those who read there by patterns.

        What it had is let go.
        """
        names = self._of.get(db_index)
        if names is None:
            return []
        names.check()
        queues = (readers.queue for readers in names.readers.values())
        return [queue for queue in queues if queue is not None]

    def tick(self, now_ms: int) -> None:
        """Forget those whom nobody has used for KEPT_MS. *now_ms* is the time that has passed."""
        for index, names in list(self._of.items()):
            for readers in list(names.readers.values()):
                if readers.queue is not None or readers.used_ms == 0:
                    readers.used_ms = now_ms
                elif now_ms - readers.used_ms >= KEPT_MS:
                    names.drop_readers(readers)
            if not names.readers:
                names.end()
                del self._of[index]
        self.are_used = bool(self._of)
