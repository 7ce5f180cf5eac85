"""Pending entries, and the queue that keeps those of a group in the order of their delivery.

A pending entry has been delivered to a consumer and not been acknowledged yet. One object is in
three indexes: the group's pending list and the consumer's (both by id), and this queue (by time):

    oldest <-> ... <-> last released <-> ... <-> newest
    |  released, without owner    |  delivery_time never falls from left to right  |

Released entries (XNACK) are the first that are claimed, in the order of their release. Their
consumer_index is NOBODY and their delivery_time 0. So the entries that have been idle for long
enough are always in front: k of them are found in O(k). An entry is added behind all that are
older, which is the end of the queue unless its time is set back (XCLAIM IDLE, TIME).

Held entries were released, too, but are to be claimed from a later time on (XNACK DELAY, BACKOFF).
That is their delivery_time. They stand beside the queue, in an index by it, until they are ripe.

An entry has 64 bytes: header 16, ms 8, seq 8, older 8, newer 8, delivery_time 8, delivery_count 4,
consumer_index 4. The consumer is an index into its group's table, since a pointer would not fit.
"""

from __future__ import annotations

from collections.abc import Iterator

from storage import allocation, octets
from storage.rax.rax import Rax
from storage.stream import links, stream_id
from storage.stream.stream_id import StreamId

MAX_COUNT = 2**32 - 1  # deliveries are counted up to here; it stands for MANY
MANY = 2**63 - 1  # redis's LLONG_MAX
_MOST = MAX_COUNT  # the same, and the next, as C numbers
_MANY = MANY
OBJECT = 64  # bytes, compiled: as drawn above
NOBODY = 0  # the consumer_index of an entry without an owner

_queues = 0  # of the process, that have released entries


class Pending:
    """One delivered, not yet acknowledged entry."""

    __slots__ = (
        "consumer_index",
        "delivery_count",
        "delivery_time",
        "ms",
        "newer_link",
        "older_link",
        "seq",
    )

    ms: int
    seq: int
    delivery_time: int  # unix ms of the last delivery; 0 once it was released; or held until then
    delivery_count: int  # saturates at MAX_COUNT
    consumer_index: int
    older_link: Pending | None  # see storage/stream/links.py
    newer_link: Pending | None

    @property
    def older(self) -> Pending | None:
        """The entry before this one in the queue."""
        return links.follow(self.older_link)

    @property
    def newer(self) -> Pending | None:
        """The entry after this one in the queue."""
        return links.follow(self.newer_link)


def new_pending(ms: int, seq: int, delivery_time: int, count: int, consumer_index: int) -> Pending:
    """A pending entry that is in no index yet."""
    made = Pending.__new__(Pending)
    made.ms = ms
    made.seq = seq
    made.delivery_time = delivery_time
    made.delivery_count = count
    made.consumer_index = consumer_index
    made.older_link = links.link_to(None)
    made.newer_link = links.link_to(None)
    return made


def id_of(pending: Pending) -> StreamId:
    """The id of the entry."""
    return stream_id.make_id(pending.ms, pending.seq)


def count_up(pending: Pending) -> None:
    """Add one delivery to the count."""
    if pending.delivery_count < _MOST:
        pending.delivery_count += 1


def count_down(pending: Pending) -> None:
    """Take one delivery off the count, which stays what it is if that stands for MANY."""
    if 0 < pending.delivery_count < _MOST:
        pending.delivery_count -= 1


def set_count(pending: Pending, count: int) -> None:
    """Set the delivery count, limited to what can be stored."""
    pending.delivery_count = MAX_COUNT if count > MAX_COUNT else max(count, 0)


def count_of(pending: Pending) -> int:
    """The delivery count as clients see it."""
    return _MANY if pending.delivery_count == _MOST else pending.delivery_count


def any_released() -> bool:
    """Whether any group of the process has an entry that was released."""
    return _queues > 0


def _count_queue(change: int) -> None:
    global _queues  # noqa: PLW0603 - it is of the process
    _queues += change


class DeliveryQueue:
    """The pending entries of a group by delivery time, oldest first; equal ones as they were added.

    Those that were released come first; those that are held are beside it.

    It keeps its entries alive, and nothing else may change their links.
    """

    __slots__ = ("_held", "_last_released", "_newest", "_oldest")

    _oldest: Pending | None  # links
    _newest: Pending | None
    _last_released: Pending | None  # None if the first entry has an owner
    _held: Rax | None  # until when (8 bytes), id key -> Pending; None if none is held

    def __init__(self) -> None:
        self._oldest = links.link_to(None)
        self._newest = links.link_to(None)
        self._last_released = links.link_to(None)
        self._held = None

    @property
    def oldest(self) -> Pending | None:
        """The entry whose delivery is longest ago, or None. O(1)."""
        return links.follow(self._oldest)

    @property
    def newest(self) -> Pending | None:
        """The entry that was delivered last, or None. O(1)."""
        return links.follow(self._newest)

    @property
    def first_owned(self) -> Pending | None:
        """The entry with an owner whose delivery is longest ago, or None. O(1)."""
        last = links.follow(self._last_released)
        return self.oldest if last is None else last.newer

    def add(self, pending: Pending) -> None:
        """Queue *pending* by its delivery_time. O(1) for the newest, else O(N) of those newer."""
        older = links.follow(self._newest)
        while older is not None and older.delivery_time > pending.delivery_time:
            older = links.follow(older.older_link)
        if older is None:  # older than all, but not than those that were released
            older = links.follow(self._last_released)
        self._insert(older, pending)

    def release(self, pending: Pending) -> None:
        """Queue *pending*, which has no owner, behind those that were released before. O(1)."""
        pending.delivery_time = 0
        if not self.has_released():
            _count_queue(1)
        self._insert(links.follow(self._last_released), pending)
        self._last_released = links.link_to(pending)

    def hold(self, pending: Pending, until_ms: int) -> None:
        """Keep *pending*, which has no owner, from being claimed until then. O(log N).

        *until_ms* is unix time, and greater than 0.
        """
        pending.delivery_time = until_ms
        if not self.has_released():
            _count_queue(1)
        if self._held is None:
            self._held = Rax()
        self._held.insert(_held_key(pending), pending)
        allocation.used += OBJECT

    def ripen(self, now_ms: int, most: int) -> None:
        """Release what was held until *now_ms* or less, *most* entries at most. O(log N) for each.

        First comes what was held the shortest.
        """
        pending = self.first_held()
        while pending is not None and pending.delivery_time <= now_ms and most > 0:
            self._let_go(pending)
            self.release(pending)
            most -= 1
            pending = self.first_held()

    def first_held(self) -> Pending | None:
        """The held entry that is to be claimed first, or None. O(1)."""
        if self._held is None:
            return None
        found = self._held.first()
        return None if found is None else found[1]

    def held(self) -> list[Pending]:
        """All held entries, in the order in which they are to be claimed. O(their number)."""
        return [] if self._held is None else [pending for _, pending in self._held]

    def is_held(self, pending: Pending) -> bool:
        """Whether *pending*, which is here, is held. O(1)."""
        return (
            self._held is not None
            and links.follow(pending.older_link) is None
            and links.follow(pending.newer_link) is None
            and links.follow(self._oldest) is not pending
        )

    def _let_go(self, pending: Pending) -> None:
        """Take out what is held."""
        held = self._held
        assert held is not None
        held.remove(_held_key(pending))
        if len(held) == 0:
            self._held = None
        if not self.has_released():
            _count_queue(-1)
        allocation.used -= OBJECT

    def _insert(self, older: Pending | None, pending: Pending) -> None:
        """Queue *pending* after *older*; in front if that is None."""
        newer = links.follow(self._oldest if older is None else older.newer_link)
        self._join(older, pending)
        self._join(pending, newer)
        links.hold(pending)
        allocation.used += OBJECT

    def remove(self, pending: Pending) -> None:
        """Take *pending*, which is here, out. O(1); O(log N) of those that are held."""
        if self._held is not None and self.is_held(pending):
            self._let_go(pending)
        else:
            self._take_out(pending)

    def _take_out(self, pending: Pending) -> None:
        if self._last_released == links.link_to(pending):
            self._last_released = pending.older_link
            if not self.has_released():
                _count_queue(-1)
        self._join(links.follow(pending.older_link), links.follow(pending.newer_link))
        pending.older_link = links.link_to(None)
        pending.newer_link = links.link_to(None)
        allocation.used -= OBJECT
        links.let_go(pending)

    def _join(self, older: Pending | None, newer: Pending | None) -> None:
        """Link *older* and *newer* to each other; None is the end of the queue on that side."""
        if older is None:
            self._oldest = links.link_to(newer)
        else:
            older.newer_link = links.link_to(newer)
        if newer is None:
            self._newest = links.link_to(older)
        else:
            newer.older_link = links.link_to(older)

    def clear(self) -> None:
        """Empty the queue, entry by entry. O(N)."""
        pending = links.follow(self._oldest)
        if self.has_released():
            _count_queue(-1)
        if self._held is not None:
            allocation.used -= OBJECT * len(self._held)
            self._held = None
        self._oldest = links.link_to(None)
        self._newest = links.link_to(None)
        self._last_released = links.link_to(None)
        while pending is not None:
            newer = links.follow(pending.newer_link)
            pending.older_link = links.link_to(None)
            pending.newer_link = links.link_to(None)
            allocation.used -= OBJECT
            links.let_go(pending)
            pending = newer

    def has_released(self) -> bool:
        """Whether any entry was released, or is held. O(1)."""
        return self._held is not None or links.follow(self._last_released) is not None

    def released(self) -> list[Pending]:
        """The entries that were released and not held, first released first. O(their number)."""
        last = links.follow(self._last_released)
        found: list[Pending] = []
        for pending in self if last is not None else ():
            found.append(pending)
            if pending is last:
                break
        return found

    def __iter__(self) -> Iterator[Pending]:
        """Oldest first, without those that are held.

        What was yielded may be removed meanwhile; nothing else may be.
        """
        pending = self.oldest
        while pending is not None:
            newer = pending.newer
            yield pending
            pending = newer

    def __del__(self) -> None:
        self.clear()


def _held_key(pending: Pending) -> bytes:
    """What a held entry sorts by: until when, then its id."""
    return octets.id_key(pending.delivery_time, 0) + octets.id_key(pending.ms, pending.seq)
