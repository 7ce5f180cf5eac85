"""Pending entries, and the queue that keeps those of a group in the order of their delivery.

A pending entry has been delivered to a consumer and not been acknowledged yet. One object is in
three indexes: the group's pending list and the consumer's (both by id), and this queue (by time):

    oldest <-> ... <-> last released <-> ... <-> newest
    |  released, without owner    |  delivery_time never falls from left to right  |

Released entries (XNACK) are the first that are claimed, in the order of their release. Their
consumer_index is NOBODY and their delivery_time 0. So the entries that have been idle for long
enough are always in front: k of them are found in O(k). An entry is added behind all that are
older, which is the end of the queue unless its time is set back (XCLAIM IDLE, TIME).

An entry has 64 bytes: header 16, ms 8, seq 8, older 8, newer 8, delivery_time 8, delivery_count 4,
consumer_index 4. The consumer is an index into its group's table, since a pointer would not fit.
"""

from __future__ import annotations

from collections.abc import Iterator

from storage import allocation
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
    delivery_time: int  # unix ms of the last delivery; 0 once it was released
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

    Those that were released come first.

    It keeps its entries alive, and nothing else may change their links.
    """

    __slots__ = ("_last_released", "_newest", "_oldest")

    _oldest: Pending | None  # links
    _newest: Pending | None
    _last_released: Pending | None  # None if the first entry has an owner

    def __init__(self) -> None:
        self._oldest = links.link_to(None)
        self._newest = links.link_to(None)
        self._last_released = links.link_to(None)

    @property
    def oldest(self) -> Pending | None:
        """The entry whose delivery is longest ago, or None. O(1)."""
        return links.follow(self._oldest)

    @property
    def newest(self) -> Pending | None:
        """The entry that was delivered last, or None. O(1)."""
        return links.follow(self._newest)

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
        if links.follow(self._last_released) is None:
            _count_queue(1)
        self._insert(links.follow(self._last_released), pending)
        self._last_released = links.link_to(pending)

    def _insert(self, older: Pending | None, pending: Pending) -> None:
        """Queue *pending* after *older*; in front if that is None."""
        newer = links.follow(self._oldest if older is None else older.newer_link)
        self._join(older, pending)
        self._join(pending, newer)
        links.hold(pending)
        allocation.used += OBJECT

    def remove(self, pending: Pending) -> None:
        """Take *pending*, which is in the queue, out of it. O(1)."""
        if self._last_released == links.link_to(pending):
            self._last_released = pending.older_link
            if links.follow(self._last_released) is None:
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
        if links.follow(self._last_released) is not None:
            _count_queue(-1)
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
        """Whether any entry was released. O(1)."""
        return links.follow(self._last_released) is not None

    def released(self) -> list[Pending]:
        """The entries that were released, first released first. O(their number)."""
        last = links.follow(self._last_released)
        found: list[Pending] = []
        for pending in self if last is not None else ():
            found.append(pending)
            if pending is last:
                break
        return found

    def __iter__(self) -> Iterator[Pending]:
        """Oldest first. What was yielded may be removed meanwhile; nothing else may be."""
        pending = self.oldest
        while pending is not None:
            newer = pending.newer
            yield pending
            pending = newer

    def __del__(self) -> None:
        self.clear()
