"""The order of a group with ORDERBY: which values of a field are under way, and which wait.

    field customer      pending in the group: 1 ann, 2 bob, 3 ann, 4 ann, 6 bob

    lane    pending   a consumer has   the others wait
    ann     1 3 4     1 3              4: its turn comes when 1 and 3 have left the group
    bob     2 6       -                2 and 6: the lane is ready, somebody may be given them

A lane has all pending entries with one value, by their ids. It is ready when no consumer has any of
them, and the first one is not held for a while (BACKOFF, XNACK DELAY): so what failed holds back
what comes after it, and only that. Who reads is given the entries of a ready lane in their order,
as many as it asks for, and then new entries with that value. A new entry whose lane is anyone
else's is *parked*: the group passes it, and it is pending without an owner until its lane is ready.
An entry without the field has no lane. A long value is known by how it begins and its digest; if
two had one digest, their entries would only wait for each other.

The lanes are made from what is pending when somebody reads, and follow it from then on: the group
reports each entry that is taken, given back, or leaves it, for whatever reason. They are neither
saved nor copied.

    GroupOrder       192 bytes, compiled, with its dictionaries
    lane             208, with its places in them; its value; a tree if it has several entries
    pending entry      9 or more in each tree
"""

from __future__ import annotations

from storage import allocation, xxh3
from storage.rax.rax import Rax
from storage.stream import pending as pendings
from storage.stream.pending import NOBODY, PARKED, Pending

ORDER = 192  # bytes, as listed above
LANE = 208
LONGEST = 64  # bytes of a value that a lane keeps; so values that are large take no room twice
SHOWN = 47  # of a longer one, besides its digest
_LONGEST, _SHOWN = LONGEST, SHOWN  # as C numbers
_ORDER, _LANE, _PARKED, _NOBODY = ORDER, LANE, PARKED, NOBODY  # as C numbers


class Lane:
    """The pending entries with one value. Most lanes have one."""

    __slots__ = ("_others", "first", "key", "taken", "turn", "value")

    value: bytes
    first: Pending | None  # the one with the smallest id
    key: bytes | None  # its key
    _others: Rax | None  # id key -> Pending
    taken: int  # how many entries a consumer has
    turn: int  # in which reading it was given something last

    def begin(self, value: bytes, turn: int) -> None:
        """Be a new one, without entries."""
        self.value = value
        self.first = self.key = self._others = None
        self.taken = 0
        self.turn = turn

    def size(self) -> int:
        """How many entries it has."""
        others = 0 if self._others is None else self._others.size
        return others + (self.first is not None)

    def waiting(self) -> int:
        """How many of its entries have no owner."""
        return self.size() - self.taken

    def add(self, key: bytes, pending: Pending) -> None:
        """Add an entry that it has not."""
        first, first_key = self.first, self.key
        if first is None or first_key is None:
            self.first, self.key = pending, key
        else:
            if self._others is None:
                self._others = Rax()
            if key < first_key:  # the group was set back
                self._others.insert(first_key, first)
                self.first, self.key = pending, key
            else:
                self._others.insert(key, pending)

    def remove(self, key: bytes) -> None:
        """Remove an entry that it has."""
        others = self._others
        if key != self.key:
            if others is not None:
                others.remove(key)
        elif others is None or others.size == 0:
            self.first = self.key = None
        else:
            next_one = others.first()
            assert next_one is not None
            self.key, self.first = next_one
            others.remove(self.key)

    def after(self, pending: Pending) -> Pending | None:
        """The entry that follows *pending*, or None."""
        if self._others is None:
            return None
        place = self._others.seek(">", key_of(pending))
        found: Pending | None = place.value if place.next() else None
        return found


class GroupOrder:
    """The lanes of a group. All is O(log N) in its pending entries."""

    __slots__ = ("_lane_of", "_weight", "field", "lanes", "ready", "turn", "waiting")

    def __init__(self, field: bytes) -> None:
        self.field = field
        self.lanes: dict[bytes, Lane] = {}  # by value
        self.ready: dict[bytes, Lane] = {}  # those that are ready, in the order they became so
        self._lane_of = Rax()  # id key -> Lane
        self.waiting = 0  # entries without an owner, of all lanes
        self.turn = 0  # counts the readings
        self._weight = 0
        self._weigh(_ORDER)

    def __del__(self) -> None:
        allocation.used -= self._weight

    def _weigh(self, size: int) -> None:
        self._weight += size
        allocation.used += size

    def lane_of(self, key: bytes) -> Lane | None:
        """The lane of the pending entry with that key, or None."""
        lane: Lane | None = self._lane_of.find(key)
        return lane

    def is_free(self, value: bytes) -> bool:
        """Whether a new entry with *value* may be given in this reading: all before it were."""
        lane: Lane | None = self.lanes.get(value)
        if lane is None:
            return True
        return lane.turn == self.turn and lane.taken == lane.size()

    def taken_of(self, value: bytes) -> int:
        """How many entries with *value* a consumer has."""
        lane: Lane | None = self.lanes.get(value)
        return 0 if lane is None else lane.taken

    def add(self, key: bytes, pending: Pending, value: bytes) -> None:
        """An entry with *value* has become pending, and has its place in the group's queue."""
        lane: Lane | None = self.lanes.get(value)
        if lane is None:
            lane = Lane.__new__(Lane)
            lane.begin(value, self.turn)
            self.lanes[value] = lane
            self._weigh(_LANE + allocation.of_bytes(value))
        lane.add(key, pending)
        self._lane_of.insert(key, lane)
        if pending.consumer_index != _NOBODY:
            lane.taken += 1
        else:
            self.waiting += 1
        self._settle(lane)

    def removed(self, key: bytes, pending: Pending) -> None:
        """An entry is no longer pending. It may have no lane."""
        lane: Lane | None = self._lane_of.remove(key)
        if lane is not None:
            lane.remove(key)
            if pending.consumer_index != _NOBODY:
                lane.taken -= 1
            else:
                self.waiting -= 1
            self._settle(lane)

    def given(self, key: bytes) -> None:
        """A consumer has been given an entry that had no owner. It may have no lane."""
        lane: Lane | None = self._lane_of.find(key)
        if lane is not None:
            lane.taken += 1
            self.waiting -= 1
            self._settle(lane)

    def given_back(self, key: bytes) -> None:
        """A consumer has an entry no more, which is pending still. It may have no lane."""
        lane: Lane | None = self._lane_of.find(key)
        if lane is not None:
            lane.taken -= 1
            self.waiting += 1
            self._settle(lane)

    def moved(self, key: bytes) -> None:
        """An entry without an owner is held until another time."""
        lane: Lane | None = self._lane_of.find(key)
        if lane is not None:
            self._settle(lane)

    def take_up(self, lane: Lane) -> None:
        """Entries of *lane* are given to the one who reads now."""
        lane.turn = self.turn

    def first_ready(self) -> Lane:
        """The lane that has been ready for longest; there must be one. O(1)."""
        return next(iter(self.ready.values()))

    def look_again(self, lane: Lane) -> None:
        """A lane that was passed over may be ready. It may be empty and forgotten."""
        if lane.first is not None:
            self._settle(lane)

    def pass_over(self, lane: Lane) -> None:
        """Forget that *lane* is ready, until something changes in it."""
        self.ready.pop(lane.value, None)

    def _settle(self, lane: Lane) -> None:
        """Something has changed in *lane*: is it ready now, or empty?"""
        first = lane.first
        if first is None:
            del self.lanes[lane.value]
            self._weigh(-_LANE - allocation.of_bytes(lane.value))
        if first is not None and lane.taken == 0 and first.delivery_time == _PARKED:
            if lane.value not in self.ready:
                self.ready[lane.value] = lane
        elif self.ready:
            self.ready.pop(lane.value, None)

    def may_claim(self, key: bytes, consumer_index: int) -> bool:
        """Whether that consumer has all entries before this one in its lane. O(those * log N)."""
        lane: Lane | None = self._lane_of.find(key)
        before = None if lane is None else lane.first
        while lane is not None and before is not None and key_of(before) < key:
            if before.consumer_index != consumer_index:
                return False
            before = lane.after(before)
        return True

    def taken_after(self, pending: Pending, consumer_index: int) -> list[Pending]:
        """Those after *pending* in its lane that another consumer than that has.

        NOBODY is no consumer, so then these are all that any consumer has. O(those * log N).
        """
        found: list[Pending] = []
        lane: Lane | None = self._lane_of.find(key_of(pending))
        if lane is None or lane.taken == 0:
            return found
        later = lane.after(pending)
        while later is not None:
            if later.consumer_index not in (_NOBODY, consumer_index):
                found.append(later)
            later = lane.after(later)
        return found


def named(value: bytes) -> bytes:
    """The name of the lane of *value*: that, or of a long one how it begins, and its digest."""
    if len(value) <= _LONGEST:
        return value
    return value[:_SHOWN] + b"#%016x" % xxh3.hashed(value)


def key_of(pending: Pending) -> bytes:
    """The key of a pending entry."""
    key: bytes = pendings.id_of(pending).key()
    return key
