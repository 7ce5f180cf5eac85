"""Readers by pattern: which streams they match, and which of these may have something for them.

    XREADGROUP ... MATCH jobs:*      Readers     fresh   jobs:b     looked at by the next call
                                                 resting jobs:c     until 12:00:30
                                                 kept    jobs:d     for ann, whose turn it is
                                                 queue   clients that wait

While anybody reads by pattern, the names of all streams of that database are kept here. They are
gathered when the first one asks, some keys at a time, and follow the events of keys from then on.
A stream is compared with each pattern once: when its name is new, or the pattern is. When something
happens to it, it becomes *fresh* to the readers that match it; who has seen all that it has makes
it stale again. One that may give something later rests until then: when VISIBILITY or the time of
CLAIM is over. One whose group has ACTIVE is kept for its active consumer, and others look at it
when they might take over. So a call looks at the streams that may have something, and at no others.

All clients that want the same by the same patterns share one Readers; it is forgotten when nobody
has used it for a while: a worker that polls leaves it between its calls. What is kept for those who
may have gone defends the server against clients that ask for ever new patterns, so it is limited
and counted. Those with the same patterns and group stand in one queue, whatever else they want. The
names go with the last one, and then a change of a key costs one look at a flag.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from hashlib import sha256
from itertools import islice

from server.observe.memory import Memory
from server.parts.due_keys import DueKeys
from server.parts.waiting.wait_queue import Queue
from storage import glob
from storage.keyspace.key_table import KeyTable
from storage.keyspace.keyspace import Keyspace
from storage.stream.stream import Stream

AT_ONCE = 2000  # keys that are gathered before others have their turn
MOST_READERS = 100  # of a database that are kept although no client waits
MOST_FRESH = 1_000_000  # keys that are fresh to all of these; with more, the least used go
MOST_PATTERN_BYTES = 200_000  # of all these: each new key of anybody is compared with them
MOST_CONSUMER_BYTES = 5_000_000  # and of what is known of their consumers
KEPT_MS = 60_000  # since the last use
MOST_CONSUMERS = 10_000  # of which it is known when they have read
CONSUMER_BYTES = 150  # that each of them takes besides its name
LONGEST_NAME = 64  # bytes of a consumer or group; of a longer one a digest is kept
BACK_MS = 1000  # that the clock may be set back before all look again
MANY = 1000  # keys that were fresh at once: the memory for so many is given back
THE_QUEUE = b""  # the only key of Readers.queues

Name = tuple[tuple[bytes, ...], bytes | None, Hashable]


class Readers:
    """Those who read the streams that match *patterns*, for *group*; None: by XREAD.

    What else they want is the same, too. *queues* has the queue of the clients that wait, if any
    do; others with these patterns and this group have the same. *label* is what it is called there.
    """

    __slots__ = (
        "_cursor", "_has_due", "_is_gathered", "_kept_for", "_last_ms", "_most_fresh", "_read_ms",
        "consumer_bytes", "fresh", "group", "is_dropped", "kept", "keys", "label", "last", "name",
        "names", "pattern_bytes", "patterns", "queues", "resting", "used_ms", "waiters",
    )  # fmt: skip

    def __init__(
        self, names: StreamNames, name: Name, queues: dict[bytes, Queue], label: bytes
    ) -> None:
        self.names = names
        self.name = name
        self.patterns, self.group, _ = name
        self.pattern_bytes = sum(map(len, self.patterns))
        self.queues = queues
        self.label = label
        self._cursor = 0
        self._is_gathered = not names.names  # those that come are compared when they come
        self.is_dropped = False
        self.keys: OrderedDict[bytes, None] = OrderedDict()  # of XREAD: in the order to look at
        self.fresh: OrderedDict[bytes, int] = OrderedDict()  # the same; when each became so
        self.resting = DueKeys()  # of a group, as all that follows: those that are not fresh
        self.kept: dict[bytes, dict[bytes, None]] = {}  # by consumer: those of them for it alone
        self._kept_for: dict[bytes, bytes] = {}  # and by key: for which consumer
        self._read_ms: dict[bytes, int] = {}  # by consumer, as short_name(): when it has read
        self.consumer_bytes = 0  # that these take
        self._has_due = False  # whether some of these were to be fresh again, and were too many
        self._last_ms = 0  # the time of the last look at those that rest
        self._most_fresh = 0  # of a group: how many were at once
        self.last = 0  # counts what has become fresh
        self.waiters = 0  # clients that wait
        self.used_ms = 0

    @property
    def is_complete(self) -> bool:
        """Whether all that match are known."""
        return self._is_gathered and self.names.is_complete

    @property
    def queue(self) -> Queue | None:
        """The clients that wait for these streams, whatever they want; None: there are none."""
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
                if readers is not None and self not in readers and self.match(key):
                    readers.append(self)
                    self.note(key)
            self._is_gathered = self._cursor == 0
            if not whole and not known:
                break

    def note(self, key: bytes) -> None:
        """*key*, which matches, may have something new."""
        if self.is_dropped:
            return
        self.last += 1
        if self.group is None:
            self.keys[key] = None
            self.fresh[key] = self.last
            self.fresh.move_to_end(key)
            return
        self.resting.discard(key)
        if self._kept_for:
            self._keep_no_longer(key)
        if key not in self.fresh:
            self.fresh[key] = self.last
            self._most_fresh = max(self._most_fresh, len(self.fresh))

    def may_have_more(self) -> bool:
        """Whether any stream may have something for one of them."""
        is_known = self.is_complete and not self._has_due
        return self.group is not None and bool(self.fresh or self.kept or not is_known)

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
        elif key in self.fresh:
            if is_stale:
                self._no_longer_fresh(key)
            else:
                self.fresh.move_to_end(key)

    def rest(self, key: bytes, at_ms: int) -> None:
        """*key* was looked at, and has nothing before *at_ms* unless something happens to it."""
        if key in self.fresh:
            self._no_longer_fresh(key)
            self.resting.put(key, at_ms)

    def _no_longer_fresh(self, key: bytes) -> None:
        del self.fresh[key]
        if self._most_fresh > MANY and not self.fresh:
            self.fresh = OrderedDict()  # an old one keeps the memory of all that it ever had
            self._most_fresh = 0

    def keep(self, key: bytes, consumer: bytes, at_ms: int) -> None:
        """Let *key* rest for all but *consumer*, which may be given something before."""
        if key in self.fresh:
            self.rest(key, at_ms)
            self._kept_for[key] = consumer
            self.kept.setdefault(consumer, {})[key] = None

    def _keep_no_longer(self, key: bytes) -> None:
        consumer = self._kept_for.pop(key, None)
        if consumer is not None:
            kept = self.kept[consumer]
            del kept[key]
            if not kept:
                del self.kept[consumer]

    def take_kept(self, consumer: bytes, most: int) -> bool:
        """Up to *most* of those that are kept for *consumer* are fresh; whether all are.

        It looks at them first: else others might, and keep them for it again and again.
        """
        kept = self.kept.get(consumer)
        if kept is not None:
            for key in list(islice(kept, most)):
                self.note(key)
                self.fresh.move_to_end(key, last=False)
        return consumer not in self.kept

    def deny(self, key: bytes) -> None:
        """*key* matches, but their user may not read it: it is no concern of theirs."""
        found = self.names.names.get(key)
        if found is not None and self in found:
            found.remove(self)
        self.forget(key)

    def reads(self, consumer: bytes, now_ms: int) -> None:
        """*consumer* reads: it is not silent in any of the streams, although they may rest."""
        name = short_name(consumer)
        if self._read_ms.pop(name, None) is None:
            self.consumer_bytes += CONSUMER_BYTES + len(name)
        self._read_ms[name] = now_ms  # the last one to be forgotten
        if len(self._read_ms) > MOST_CONSUMERS:
            oldest = next(iter(self._read_ms))
            del self._read_ms[oldest]
            self.consumer_bytes -= CONSUMER_BYTES + len(oldest)

    def read_ms(self, consumer: bytes, now_ms: int) -> int:
        """When *consumer* has read; 0: it is not known to have. Now, if the clock was set back."""
        name = short_name(consumer)
        at_ms = self._read_ms.get(name, 0)
        if at_ms > now_ms:
            at_ms = self._read_ms[name] = now_ms
        return at_ms

    def come_due(self, now_ms: int, most: int) -> bool:
        """Up to *most* of those that have rested until *now_ms* are fresh again; whether all.

        All of them are when the clock was set back: until when they rest was by the old one.
        """
        if now_ms < self._last_ms - BACK_MS:
            for key in self.resting.take_all():
                self.note(key)
        self._last_ms = now_ms
        for key in self.resting.take_due(now_ms, most):
            self.note(key)
        self._has_due = self.resting.first_ms() <= now_ms
        return not self._has_due

    def forget(self, key: bytes) -> None:
        """*key* is gone, or no stream."""
        self.keys.pop(key, None)
        self.fresh.pop(key, None)
        self.resting.discard(key)
        self._keep_no_longer(key)

    def clear(self) -> None:
        """Forget all keys; those that come are compared when they come."""
        self.keys.clear()
        self.fresh.clear()
        self.resting.clear()
        self.kept.clear()
        self._kept_for.clear()
        self._read_ms.clear()
        self.consumer_bytes = 0
        self._is_gathered = True

    def drop(self) -> None:
        """Nobody reads through these any more; streams may know them for some time."""
        self.is_dropped = True
        self.patterns, self.name = (), ((), None, None)
        self.queues = {}
        self.clear()


class StreamNames:
    """The names of the streams of *database*, and who reads each by a pattern."""

    __slots__ = (
        "_cursor", "_has_dropped", "_made", "_table", "_to_sweep", "database", "is_complete",
        "names", "readers",
    )  # fmt: skip

    def __init__(self, database: Keyspace) -> None:
        self.database = database
        self.names: dict[bytes, list[Readers]] = {}
        self.readers: OrderedDict[Name, Readers] = OrderedDict()  # the least used first
        self._made = 0  # counts these
        self._has_dropped = False  # whether any of *names* may know Readers that were dropped
        self._to_sweep: list[bytes] = []  # those that are still to forget such
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
        self._made += 1
        label = b"%d" % self._made
        made = self.readers[name] = Readers(self, name, self._queues_of(name), label)
        return made

    def _queues_of(self, name: Name) -> dict[bytes, Queue]:
        """What has the queue of those with these patterns and this group."""
        for readers in self.readers.values():
            if readers.name[:2] == name[:2]:
                return readers.queues
        return {}

    def make_room(self) -> None:
        """Drop the least used of those for whom nobody waits, if they take too much."""
        kept = fresh = of_patterns = of_consumers = 0
        for readers in reversed(list(self.readers.values())):
            if readers.waiters == 0:
                kept += 1
                fresh += len(readers.fresh)
                of_patterns += readers.pattern_bytes
                of_consumers += readers.consumer_bytes
                if kept > 1 and (
                    kept > MOST_READERS
                    or fresh > MOST_FRESH
                    or of_patterns > MOST_PATTERN_BYTES
                    or of_consumers > MOST_CONSUMER_BYTES
                ):
                    self.drop_readers(readers)

    def kept_bytes(self) -> int:
        """Bytes that patterns and consumers take. O(readers).

        Patterns for which a client waits are counted as the words that it has sent.
        """
        kept = 0
        for readers in self.readers.values():
            kept += readers.consumer_bytes
            if readers.waiters == 0:
                kept += readers.pattern_bytes
        return kept

    def drop_readers(self, readers: Readers) -> None:
        """Forget *readers*. O(the keys that are not stale)."""
        del self.readers[readers.name]
        readers.drop()
        self._has_dropped = True

    def sweep(self) -> None:
        """Let some of the streams forget readers that were dropped."""
        if self._has_dropped and not self._to_sweep:
            self._has_dropped = False
            self._to_sweep = list(self.names)
        for _ in range(min(AT_ONCE, len(self._to_sweep))):
            found = self.names.get(self._to_sweep.pop())
            if found:
                found[:] = [readers for readers in found if not readers.is_dropped]

    def forget(self, key: bytes) -> None:
        """*key* is gone, or no stream."""
        for readers in self.names.pop(key, ()):
            readers.forget(key)


class PatternReads:
    """Who reads by patterns, in all databases. *are_used*: there are some.

    *memory* counts what is kept for them.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.are_used = False
        self._of: dict[int, StreamNames] = {}

    def readers(
        self, database: Keyspace, patterns: Sequence[bytes], group: bytes | None, wants: Hashable
    ) -> Readers:
        """Those who read *patterns* of *database* and want the same. O(1) if there are any.

        *wants* is whatever else decides whether a stream has something for them, but for who they
        are.
        """
        names = self._of.get(database.index)
        if names is None:
            names = self._of[database.index] = StreamNames(database)
            self.are_used = True
        names.check()
        name = (tuple(patterns), None if group is None else short_name(group), wants)
        found = names.readers.get(name)
        if found is None:
            found = names.add_readers(name)
            names.make_room()
        found.used_ms = 0
        names.readers.move_to_end(name)
        return found

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

    def read_ms(self, db_index: int, key: bytes, group: bytes, consumer: bytes, now_ms: int) -> int:
        """When *consumer* of *group* has read by a pattern that matches *key*; 0: not known."""
        last_ms = 0
        names, group = self._of.get(db_index), short_name(group)
        for readers in () if names is None else names.names.get(key, ()):
            if readers.group == group:
                last_ms = max(last_ms, readers.read_ms(consumer, now_ms))
        return last_ms

    def readers_of(self, db_index: int, key: bytes) -> list[Readers]:
        """Those who read *key* by a pattern, and may."""
        names = self._of.get(db_index)
        return [] if names is None else names.names.get(key, [])

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
        kept = 0
        for index, names in list(self._of.items()):
            for readers in list(names.readers.values()):
                if readers.waiters or readers.used_ms == 0:
                    readers.used_ms = now_ms
                elif now_ms - readers.used_ms >= KEPT_MS:
                    names.drop_readers(readers)
            names.make_room()
            names.sweep()
            kept += names.kept_bytes()
            if not names.readers:
                names.end()
                del self._of[index]
        self.are_used = bool(self._of)
        self._memory.readers = kept


def short_name(name: bytes) -> bytes:
    """*name* of a consumer or group, or what stands for a long one: it is no short name."""
    if len(name) <= LONGEST_NAME:
        return name
    return b"sha256:" + sha256(name).hexdigest().encode()
