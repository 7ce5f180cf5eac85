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
An entry without the field has no lane.

The lanes are made from what is pending when somebody reads, and follow it from then on: the group
reports each entry that is taken, given back, or leaves it, for whatever reason. They are neither
saved nor copied.

    GroupOrder       192 bytes, compiled, with its dictionaries
    lane             128, with its places in them, its value, and its tree
    pending entry     18 or more in the two trees
"""

from __future__ import annotations

from storage import allocation
from storage.rax.rax import Rax
from storage.stream import pending as pendings
from storage.stream.pending import NOBODY, PARKED, Pending

ORDER = 192  # bytes, as listed above
LANE = 128
_ORDER, _LANE, _PARKED, _NOBODY = ORDER, LANE, PARKED, NOBODY  # as C numbers


class Lane:
    """The pending entries with one value."""

    __slots__ = ("pending", "taken", "turn", "value")

    def __init__(self, value: bytes) -> None:
        self.value = value
        self.pending = Rax()  # id key -> Pending
        self.taken = 0  # how many of them a consumer has
        self.turn = 0  # in which reading it was given something last
        allocation.used += _LANE + allocation.of_bytes(value)

    def __del__(self) -> None:
        allocation.used -= _LANE + allocation.of_bytes(self.value)

    def waiting(self) -> int:
        """How many of its entries have no owner."""
        return self.pending.size - self.taken


class GroupOrder:
    """The lanes of a group. All is O(log N) in its pending entries."""

    __slots__ = ("_lane_of", "field", "lanes", "ready", "turn", "waiting")

    def __init__(self, field: bytes) -> None:
        self.field = field
        self.lanes: dict[bytes, Lane] = {}  # by value
        self.ready: dict[bytes, Lane] = {}  # those that are ready, in the order they became so
        self._lane_of = Rax()  # id key -> Lane
        self.waiting = 0  # entries without an owner, of all lanes
        self.turn = 0  # counts the readings
        allocation.used += _ORDER

    def __del__(self) -> None:
        allocation.used -= _ORDER

    def lane_of(self, key: bytes) -> Lane | None:
        """The lane of the pending entry with that key, or None."""
        lane: Lane | None = self._lane_of.find(key)
        return lane

    def is_free(self, value: bytes) -> bool:
        """Whether a new entry with *value* may be given in this reading: all before it were."""
        lane: Lane | None = self.lanes.get(value)
        if lane is None:
            return True
        return lane.turn == self.turn and lane.taken == lane.pending.size

    def taken_of(self, value: bytes) -> int:
        """How many entries with *value* a consumer has."""
        lane: Lane | None = self.lanes.get(value)
        return 0 if lane is None else lane.taken

    def add(self, key: bytes, pending: Pending, value: bytes) -> None:
        """An entry with *value* has become pending, and has its place in the group's queue."""
        lane: Lane | None = self.lanes.get(value)
        if lane is None:
            lane = Lane(value)
            lane.turn = self.turn
            self.lanes[value] = lane
        lane.pending.insert(key, pending)
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
            lane.pending.remove(key)
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
        if lane.pending.size:
            self._settle(lane)

    def pass_over(self, lane: Lane) -> None:
        """Forget that *lane* is ready, until something changes in it."""
        self.ready.pop(lane.value, None)

    def _settle(self, lane: Lane) -> None:
        """Something has changed in *lane*: is it ready now, or empty?"""
        if lane.pending.size == 0:
            del self.lanes[lane.value]
            self.ready.pop(lane.value, None)
        elif lane.taken == 0 and first_of(lane).delivery_time == _PARKED:
            if lane.value not in self.ready:
                self.ready[lane.value] = lane
        elif self.ready:
            self.ready.pop(lane.value, None)

    def may_claim(self, key: bytes, consumer_index: int) -> bool:
        """Whether that consumer has all entries before this one in its lane. O(log N + those)."""
        lane: Lane | None = self._lane_of.find(key)
        if lane is None:
            return True
        place = lane.pending.seek("^")
        while place.next() and place.current_key() < key:
            before: Pending = place.value
            if before.consumer_index != consumer_index:
                return False
        return True

    def taken_after(self, key: bytes, consumer_index: int) -> list[Pending]:
        """Those after this one in its lane that another consumer than that has. O(log N + those).

        NOBODY is no consumer, so then these are all that any consumer has.
        """
        found: list[Pending] = []
        lane: Lane | None = self._lane_of.find(key)
        if lane is None or lane.taken == 0:
            return found
        place = lane.pending.seek(">", key)
        while place.next():
            pending: Pending = place.value
            if pending.consumer_index not in (_NOBODY, consumer_index):
                found.append(pending)
        return found


def first_of(lane: Lane) -> Pending:
    """The first pending entry of a lane, which has one."""
    found = lane.pending.first()
    assert found is not None
    pending: Pending = found[1]
    return pending


def key_of(pending: Pending) -> bytes:
    """The key of a pending entry."""
    key: bytes = pendings.id_of(pending).key()
    return key
