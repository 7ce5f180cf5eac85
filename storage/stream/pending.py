"""Pending entries, and the queue that keeps those of a group in the order of their delivery.

A pending entry has been delivered to a consumer and not been acknowledged yet. One object is in
three indexes: the group's pending list and the consumer's (both by id), and this queue (by time):

    oldest <-> ... <-> last released <-> ... <-> newest
    |  released, without owner    |  delivery_time never falls from left to right  |

Released entries (XNACK) are the first that are claimed, in the order of their release. Their
consumer_index is NOBODY and their delivery_time 0. So the entries that have been idle for long
enough are always in front: k of them are found in O(k). An entry is added after all that are
older, which is the end of the queue unless its time is set back (XCLAIM IDLE, TIME). Then its place
is looked for from the end, and from the place of the last one that was set back: one command gives
all that it claims the same time.

Held entries were released, too, but are to be claimed from a later time on (XNACK DELAY, BACKOFF).
That is their delivery_time. They stand beside the queue, in an index by it, until they are ripe.
Those that are parked (ORDERBY, see group_order.py) are held until a time that does not come: they
need no index, and are linked to each other beside the queue.

Entries ahead have a delivery_time that is still to come (XEXTEND, or the clock was set back). What
is delivered now goes before them, so as soon as more than FEW are in its way they get an index:

    oldest <-> ... <-> delivered now <-> ahead_from <-> ... <-> newest
                                         |  ahead: delivery_time -> the last of that time

Gone entries, in front, are no longer in the stream: nobody claims them, but they stay pending. Who
walks by time notes how far it has come (gone_to), and the next one begins after that.

Due entries are the first of those with an owner: they were not acknowledged in time, and BACKOFF
need not hold them. Who looks for those that it has to hold notes how far it has come (due_to), and
when. By a clock that was set back since, they may have to be held after all.

An entry has 64 bytes: header 16, ms 8, seq 8, older 8, newer 8, delivery_time 8, delivery_count 4,
consumer_index 4. The consumer is an index into its group's table, since a pointer would not fit.
One that was delivered by a group with ORDERBY has 32 more, for its lane.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from storage import allocation, octets
from storage.rax.rax import Rax
from storage.stream import kept_blocks, links, stream_id
from storage.stream.redeliveries import Redeliveries
from storage.stream.stream_id import StreamId

MAX_COUNT = 2**32 - 1  # deliveries are counted up to here; it stands for MANY
MANY = 2**63 - 1  # redis's LLONG_MAX
_MOST = MAX_COUNT  # the same, and the next, as C numbers
_MANY = MANY
OBJECT = 64  # bytes, compiled: as drawn above
PARKED = 2**53  # held until then (unix ms): until its lane is ready, and by no time
NOBODY = 0  # the consumer_index of an entry without an owner
_NOBODY, _PARKED = NOBODY, PARKED  # the same as C numbers

FEW = 16  # entries ahead: so many need no index
_FEW = FEW  # the same as a C number
BESIDE = 88  # bytes, compiled: of Beside

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


class LanePending(Pending):
    """One of a group with ORDERBY, with the number of its lane: see group_order.py."""

    __slots__ = ("in_chain", "lane", "turn")

    lane: int  # 0: it has none
    turn: int  # in which reading it was given, while it is the only one of its lane
    in_chain: Any  # what follows it: see lane_chains.py


kept_blocks.keep_for(LanePending)


def new_pending(
    ms: int,
    seq: int,
    delivery_time: int,
    count: int,
    consumer_index: int,
    lane: int = 0,
) -> Pending:
    """A pending entry that is in no index yet; with the number of its lane, unless that is 0."""
    if lane == 0:
        made = Pending.__new__(Pending)
    else:
        of_lane = LanePending.__new__(LanePending)
        of_lane.lane = lane
        of_lane.turn = 0
        of_lane.in_chain = links.link_to(None)
        made = of_lane
    made.ms = ms
    made.seq = seq
    made.delivery_time = delivery_time
    made.delivery_count = count
    made.consumer_index = consumer_index
    made.older_link = links.link_to(None)
    made.newer_link = links.link_to(None)
    return made


def older_of(pending: Pending) -> Pending | None:
    """The entry before this one in the queue."""
    return links.follow(pending.older_link)


def newer_of(pending: Pending) -> Pending | None:
    """The entry after this one in the queue."""
    return links.follow(pending.newer_link)


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


class Beside:
    """What a queue has beside it; most have none."""

    __slots__ = (
        "ahead",
        "ahead_from",
        "due_ms",
        "due_to",
        "gone_to",
        "held",
        "parked",
        "redelivered",
        "set_back",
    )

    held: Rax | None  # until when (8 bytes), id key -> Pending; None if none is held but parked
    parked: Pending | None  # link: the last of those that are parked
    ahead: Rax | None  # delivery_time, as an id key -> the last of it, from ahead_from on; or None
    ahead_from: Pending | None  # links
    gone_to: Pending | None
    due_to: Pending | None
    due_ms: int  # unix time, when that was noted
    set_back: Pending | None  # where the last one was added before others: it, or a neighbour
    redelivered: Redeliveries | None  # None: nobody wants to know

    def __init__(self) -> None:
        self.held = None
        self.parked = links.link_to(None)
        self.redelivered = None
        self.ahead = None
        self.ahead_from = links.link_to(None)
        self.gone_to = links.link_to(None)
        self.due_to = links.link_to(None)
        self.due_ms = 0
        self.set_back = links.link_to(None)
        allocation.used += BESIDE

    def __del__(self) -> None:
        allocation.used -= BESIDE


class DeliveryQueue:
    """The pending entries of a group by delivery time, oldest first; equal ones as they were added.

    Those that were released come first; those that are held are beside it.

    It keeps its entries alive, and nothing else may change their links.
    """

    __slots__ = ("_beside", "_last_released", "_newest", "_oldest", "redeliveries")

    _oldest: Pending | None  # links
    _newest: Pending | None
    _last_released: Pending | None  # None if the first entry has an owner
    _beside: Beside | None  # None until there is a use for it

    def __init__(self) -> None:
        self._oldest = links.link_to(None)
        self._newest = links.link_to(None)
        self._last_released = links.link_to(None)
        self._beside = None
        self.redeliveries = 0  # deliveries of entries that had been delivered before

    def oldest(self) -> Pending | None:
        """The entry whose delivery is longest ago, or None. O(1)."""
        return links.follow(self._oldest)

    def newest(self) -> Pending | None:
        """The entry that was delivered last, or None. O(1)."""
        return links.follow(self._newest)

    def first_owned(self) -> Pending | None:
        """The entry with an owner whose delivery is longest ago, or None. O(1)."""
        last = links.follow(self._last_released)
        return links.follow(self._oldest if last is None else last.newer_link)

    def first_left(self) -> Pending | None:
        """The entry whose delivery is longest ago of those not known to be gone, or None. O(1)."""
        beside = self._beside
        last = None if beside is None else links.follow(beside.gone_to)
        return links.follow(self._oldest if last is None else last.newer_link)

    def is_gone(self, pending: Pending) -> None:
        """Note that *pending*, whose entry is not in the stream, need not be looked at again.

        That has an effect on first_left() only, after which its neighbours are noted in order.
        """
        if self.first_left() is pending:
            self._use().gone_to = links.link_to(pending)

    def first_not_due(self, now_ms: int) -> Pending | None:
        """The first entry with an owner that BACKOFF may have to hold, or None. O(1)."""
        beside = self._beside
        last = None if beside is None or now_ms < beside.due_ms else links.follow(beside.due_to)
        return self.first_owned() if last is None else links.follow(last.newer_link)

    def is_due(self, pending: Pending, now_ms: int) -> None:
        """Note that BACKOFF need not hold *pending*, which is the first one not known to be due."""
        beside = self._use()
        beside.due_to = links.link_to(pending)
        beside.due_ms = now_ms

    def look_again(self) -> None:
        """Forget which are gone, as such an id may be in the stream again, and which are due."""
        if self._beside is not None:
            self._beside.gone_to = links.link_to(None)
            self._beside.due_to = links.link_to(None)

    def note_first(self, redelivered: Redeliveries | None) -> None:
        """Note there from now on when entries that are delivered again were delivered first."""
        if redelivered is not None:
            self._use().redelivered = redelivered
        elif self._beside is not None:
            self._beside.redelivered = None

    def redelivered(self) -> Redeliveries | None:
        """Where that is noted; None if it is not."""
        return None if self._beside is None else self._beside.redelivered

    def note(self, pending: Pending) -> None:
        """The time of *pending* is about to change."""
        noted = self.redelivered()
        if noted is not None:
            is_owned = pending.consumer_index != _NOBODY
            key = octets.id_key(pending.ms, pending.seq)
            noted.note(key, pending.delivery_count, pending.delivery_time, is_owned)

    def forget(self, key: bytes) -> None:
        """The entry of that key is no longer pending."""
        noted = self.redelivered()
        if noted is not None:
            noted.forget(key)

    def _use(self) -> Beside:
        if self._beside is None:
            self._beside = Beside()
        return self._beside

    def add(self, pending: Pending, now_ms: int = 0) -> None:
        """Queue *pending* by its delivery_time.

        *now_ms* is unix time, 0 if that is not known. O(1) for the newest, and for one that is
        newer than all up to now, or comes next to the last one that was not; O(log N) for one
        ahead; else O(N) of those between, or of those newer up to now, whichever are fewer.
        """
        beside, time = self._beside, pending.delivery_time
        if beside is not None and beside.ahead is not None:
            self._catch_up(beside, now_ms)
        older = links.follow(self._newest)
        is_set_back = older is not None and older.delivery_time > time
        if is_set_back:
            older = self._place_for(time, now_ms)
        if older is None:  # older than all, but not than those that were released
            older = links.follow(self._last_released)
        self._insert(older, pending)
        beside = self._beside
        if beside is not None:
            self._note_added(beside, older, pending)
        if is_set_back and time < now_ms:
            self._use().set_back = links.link_to(pending)

    def _note_added(self, beside: Beside, older: Pending | None, pending: Pending) -> None:
        """Give *pending*, which comes after *older* now, its place in the index if it is ahead."""
        time = pending.delivery_time
        if beside.ahead is not None and time >= _time_of(beside.ahead_from):
            beside.ahead.insert(octets.id_key(time, 0), pending)
        gone = links.follow(beside.gone_to)
        if gone is not None and gone.consumer_index != _NOBODY and time < gone.delivery_time:
            beside.gone_to = links.link_to(older)  # it is not known of *pending*
        due = links.follow(beside.due_to)
        if due is not None and time < due.delivery_time:
            beside.due_to = _link_to_owned(older)

    def _place_for(self, time: int, now_ms: int) -> Pending | None:
        """The last entry of that *time* or before; None if all are newer."""
        beside = self._beside
        ahead = None if beside is None else beside.ahead
        older = links.follow(self._newest)
        if beside is not None and ahead is not None:
            if time >= _time_of(beside.ahead_from):
                place = ahead.seek("<=", octets.id_key(time, 0))
                place.next()
                found: Pending = place.value
                return found
            older = self._before_ahead()
        return self._walk_to(older, time, now_ms)

    def _walk_to(self, older: Pending | None, time: int, now_ms: int) -> Pending | None:
        """The last entry of that *time* or before, of *older* and those before it.

        Two walk by turns: one back from *older*, one from where the last one was set back.
        """
        beside, near = self._beside, None
        if beside is not None and time < now_ms:  # else it is those ahead that are in the way
            near = links.follow(beside.set_back)
        is_before = near is not None and near.delivery_time <= time
        steps = 0
        while older is not None and older.delivery_time > time:
            if near is not None:
                other = links.follow(near.newer_link if is_before else near.older_link)
                is_there = other is None or (other.delivery_time > time) == is_before
                if is_there:
                    older = near if is_before else other
                    break
                near = other
            older = links.follow(older.older_link)
            steps += 1
        if steps > _FEW and now_ms > 0:
            self._index_ahead(now_ms)
        return older

    def _before_ahead(self) -> Pending | None:
        """The newest entry that has no place in the index of those ahead."""
        beside = self._beside
        first = None if beside is None else links.follow(beside.ahead_from)
        return links.follow(self._newest if first is None else first.older_link)

    def _index_ahead(self, now_ms: int) -> None:
        """Give all that are later than *now_ms* a place in the index. O(log N) for each new one."""
        beside = self._use()
        pending = self._before_ahead()
        while pending is not None and pending.delivery_time > now_ms:
            if beside.ahead is None:
                beside.ahead = Rax()
            key = octets.id_key(pending.delivery_time, 0)
            if beside.ahead.find(key) is None:
                beside.ahead.insert(key, pending)
            beside.ahead_from = links.link_to(pending)
            pending = links.follow(pending.older_link)

    def _catch_up(self, beside: Beside, now_ms: int) -> None:
        """Take what is no longer ahead out of the index. O(log N) for each time of delivery."""
        ahead = beside.ahead
        while ahead is not None:
            time = _time_of(beside.ahead_from)
            if time > now_ms:
                break
            last: Pending = ahead.remove(octets.id_key(time, 0))
            beside.ahead_from = last.newer_link
            if len(ahead) == 0:
                ahead = beside.ahead = None

    def _leave_beside(self, beside: Beside, pending: Pending) -> None:
        """One that is not held is about to leave the queue."""
        if links.follow(beside.gone_to) is pending:
            beside.gone_to = pending.older_link
        if links.follow(beside.due_to) is pending:
            beside.due_to = _link_to_owned(links.follow(pending.older_link))
        if links.follow(beside.set_back) is pending:
            is_oldest = links.follow(pending.older_link) is None
            beside.set_back = pending.newer_link if is_oldest else pending.older_link
        if beside.ahead is not None and pending.delivery_time >= _time_of(beside.ahead_from):
            self._leave_ahead(beside, beside.ahead, pending)

    def _leave_ahead(self, beside: Beside, ahead: Rax, pending: Pending) -> None:
        """Take one entry, which is still in the queue, out of the index."""
        time = pending.delivery_time
        key = octets.id_key(time, 0)
        if ahead.find(key) is pending:
            older = links.follow(pending.older_link)
            if older is not None and older.delivery_time == time:
                ahead.insert(key, older)
            else:
                ahead.remove(key)
        if links.follow(beside.ahead_from) is pending:
            beside.ahead_from = pending.newer_link
        if len(ahead) == 0:
            beside.ahead = None

    def release(self, pending: Pending) -> None:
        """Queue *pending*, which has no owner, after those that were released before. O(1)."""
        pending.delivery_time = 0
        if not self.has_released():
            _count_queue(1)
        self._insert(links.follow(self._last_released), pending)
        if self._beside is not None:
            gone = links.follow(self._beside.gone_to)
            if gone is not None and gone.consumer_index != _NOBODY:
                self._beside.gone_to = self._last_released  # it is not known of *pending*
        self._last_released = links.link_to(pending)

    def hold(self, pending: Pending, until_ms: int) -> None:
        """Keep *pending*, which has no owner, from being claimed until then.

        *until_ms* is unix time, and greater than 0. O(log N); O(1) if it is PARKED, which no other
        time is later than: it is the latest that XNACK takes.
        """
        pending.delivery_time = _PARKED - 1 if until_ms > _PARKED else until_ms
        if not self.has_released():
            _count_queue(1)
        beside = self._use()
        if pending.delivery_time == _PARKED:
            last = links.follow(beside.parked)
            pending.older_link = links.link_to(last)
            if last is not None:
                last.newer_link = links.link_to(pending)
            beside.parked = links.link_to(pending)
            links.hold(pending)
        else:
            if beside.held is None:
                beside.held = Rax()
            beside.held.insert(_held_key(pending), pending)
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
        """The entry held that is to be claimed first, or None: of those not parked. O(1)."""
        held = None if self._beside is None else self._beside.held
        found = None if held is None else held.first()
        return None if found is None else found[1]

    def held(self) -> list[Pending]:
        """All held entries, in the order in which they are to be claimed; the parked by their ids.

        O(N log N) in their number.
        """
        beside, parked = self._beside, []
        if beside is None:
            return []
        pending = links.follow(beside.parked)
        while pending is not None:
            parked.append(pending)
            pending = links.follow(pending.older_link)
        parked.sort(key=_id_of)
        return parked if beside.held is None else [one for _, one in beside.held] + parked

    def ripe(self, now_ms: int, most: int) -> list[Pending]:
        """Of the held entries, those that may be claimed now, *most* at most. O(their number)."""
        found: list[Pending] = []
        held = None if self._beside is None else self._beside.held
        if held is None:
            return found
        place = held.seek("^", b"")
        while len(found) < most and place.next():
            pending: Pending = place.value
            if pending.delivery_time > now_ms:
                break
            found.append(pending)
        return found

    def is_held(self, pending: Pending) -> bool:
        """Whether *pending*, which is here, is held. O(1)."""
        return _is_parked(pending) or (
            self._beside is not None
            and self._beside.held is not None
            and links.follow(pending.older_link) is None
            and links.follow(pending.newer_link) is None
            and links.follow(self._oldest) is not pending
        )

    def _let_go(self, pending: Pending) -> None:
        """Take out what is held."""
        beside = self._beside
        assert beside is not None
        if _is_parked(pending):
            self._unpark(beside, pending)
        else:
            held = beside.held
            assert held is not None
            held.remove(_held_key(pending))
            if len(held) == 0:
                beside.held = None
        if not self.has_released():
            _count_queue(-1)
        allocation.used -= OBJECT

    def _unpark(self, beside: Beside, pending: Pending) -> None:
        older, newer = links.follow(pending.older_link), links.follow(pending.newer_link)
        if older is not None:
            older.newer_link = pending.newer_link
        if newer is None:
            beside.parked = pending.older_link
        else:
            newer.older_link = pending.older_link
        pending.older_link = links.link_to(None)
        pending.newer_link = links.link_to(None)
        links.let_go(pending)

    def _insert(self, older: Pending | None, pending: Pending) -> None:
        """Queue *pending* after *older*; in front if that is None."""
        newer = links.follow(self._oldest if older is None else older.newer_link)
        self._join(older, pending)
        self._join(pending, newer)
        links.hold(pending)
        allocation.used += OBJECT

    def remove(self, pending: Pending) -> None:
        """Take out *pending*. O(log N) if it is ahead, or held and not parked; else O(1)."""
        beside = self._beside
        if beside is not None and self.is_held(pending):
            self._let_go(pending)
        else:
            if beside is not None:
                self._leave_beside(beside, pending)
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
        if self._beside is not None:
            if self._beside.held is not None:
                allocation.used -= OBJECT * len(self._beside.held)
            parked = links.follow(self._beside.parked)
            while parked is not None:
                self._unpark(self._beside, parked)
                allocation.used -= OBJECT
                parked = links.follow(self._beside.parked)
            self._beside = None
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
        if links.follow(self._last_released) is not None:
            return True
        beside = self._beside
        if beside is None:
            return False
        return beside.held is not None or links.follow(beside.parked) is not None

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
        pending = self.oldest()
        while pending is not None:
            newer = newer_of(pending)
            yield pending
            pending = newer

    def check(self) -> int:
        """Return how many the index of those ahead covers; AssertionError if it is not right."""
        beside = self._beside
        if beside is None or beside.ahead is None:
            assert beside is None or links.follow(beside.ahead_from) is None
            return 0
        covered = 0
        last_of: dict[bytes, Pending] = {}
        pending = links.follow(beside.ahead_from)
        while pending is not None:
            last_of[octets.id_key(pending.delivery_time, 0)] = pending
            covered += 1
            pending = newer_of(pending)
        assert list(beside.ahead) == list(last_of.items())
        before = self._before_ahead()
        assert before is None or before.delivery_time < _time_of(beside.ahead_from)
        return covered

    def __del__(self) -> None:
        self.clear()


def _is_parked(pending: Pending) -> bool:
    """Whether it is parked. A time that far ahead of one with an owner is a consumer's doing."""
    return pending.delivery_time == _PARKED and pending.consumer_index == _NOBODY


def _link_to_owned(pending: Pending | None) -> Pending | None:
    """A link to *pending* if it has an owner; else to None."""
    is_owned = pending is not None and pending.consumer_index != _NOBODY
    return links.link_to(pending if is_owned else None)


def _id_of(pending: Pending) -> tuple[int, int]:
    return pending.ms, pending.seq


def _held_key(pending: Pending) -> bytes:
    """What an entry that is held, and not parked, sorts by: until when, then its id."""
    return octets.id_key(pending.delivery_time, 0) + octets.id_key(pending.ms, pending.seq)


def _time_of(link: Pending | None) -> int:
    """When the entry that *link* leads to was delivered, or is held until."""
    pending = links.follow(link)
    assert pending is not None
    return pending.delivery_time
