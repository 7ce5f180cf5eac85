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

Most lanes have one entry, which a consumer has. Then there is no object for the lane: its place in
the dictionary has the entry itself, and the entry knows the lane's name (LanePending). Entries that
were pending before there was an order do not; of these the names are kept here.

    GroupOrder       256 bytes, compiled, with its dictionaries
    lane             208, with its places in them; its value; a tree if it has several entries
                     120, with its value, if it is that one entry
    pending entry      9 or more in each tree; 16 for its lane; or 120, if its name is kept here
"""

from __future__ import annotations

from typing import Any

from storage import allocation, xxh3
from storage.rax.rax import Rax
from storage.stream import pending as pendings
from storage.stream.pending import NOBODY, PARKED, LanePending, Pending

ORDER = 256  # bytes, as listed above
LANE = 208
ONLY = 120
NAME = 120
LONGEST = 64  # bytes of a value that a lane keeps; so values that are large take no room twice
SHOWN = 47  # of a longer one, besides its digest
_LONGEST, _SHOWN = LONGEST, SHOWN  # as C numbers
_ORDER, _LANE, _ONLY, _NAME = ORDER, LANE, ONLY, NAME  # as C numbers
_PARKED, _NOBODY = PARKED, NOBODY  # as C numbers


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
    """The lanes of a group. All is O(log N) in its pending entries.

    If it *is_shown* only, the pending entries do not learn which lanes they have.
    """

    __slots__ = ("_is_shown", "_names", "_weight", "field", "lanes", "ready", "turn", "waiting")

    def __init__(self, field: bytes, is_shown: bool = False) -> None:
        self.field = field
        self.lanes: dict[
            bytes, Any
        ] = {}  # by name: a Lane, or the LanePending that is its only one
        self.ready: dict[bytes, Lane] = {}  # those that are ready, in the order they became so
        self.waiting = 0  # entries without an owner, of all lanes
        self.turn = 0  # counts the readings
        self._names: dict[
            bytes, bytes
        ] = {}  # of the lanes of those that are no LanePending, by key
        self._is_shown = is_shown
        self._weight = 0
        self._weigh(_ORDER)

    def __del__(self) -> None:
        allocation.used -= self._weight

    def _weigh(self, size: int) -> None:
        self._weight += size
        allocation.used += size

    # ------------------------------------------------------------------ which lane

    def _name_of(self, pending: Pending) -> bytes | None:
        """The name of the lane of *pending*, or None."""
        if type(pending) is LanePending:
            of_lane: LanePending = pending
            return of_lane.value
        return self._names.get(key_of(pending)) if self._names else None

    def has_lane(self, pending: Pending) -> bool:
        """Whether *pending* has a lane."""
        return self._name_of(pending) is not None

    def _lane_of(self, pending: Pending) -> Lane | None:
        """The lane of *pending*, or None."""
        name = self._name_of(pending)
        return None if name is None else self._lane(name)

    def _lane(self, name: bytes) -> Lane:
        """The lane of that name, as an object: a new one, if there is none."""
        held = self.lanes.get(name)
        if type(held) is Lane:
            lane: Lane = held
            return lane
        lane = Lane.__new__(Lane)
        lane.begin(name, self.turn)
        if held is None:
            self._weigh(_LANE + allocation.of_bytes(name))
        else:
            only: LanePending = held
            lane.turn = only.turn
            lane.taken = 1
            lane.add(key_of(only), only)
            self._weigh(_LANE - _ONLY)
        self.lanes[name] = lane
        return lane

    def may_give(self, name: bytes, most: int) -> bool:
        """Whether a new entry of that lane may be given in this reading: all before it were.

        And these are fewer than *most*; 0: no matter how many.
        """
        held = self.lanes.get(name)
        if held is None:
            return True
        if type(held) is LanePending:
            only: LanePending = held
            return only.turn == self.turn and most != 1
        lane: Lane = held
        if lane.turn != self.turn or lane.taken != lane.size():
            return False
        return most == 0 or lane.taken < most

    # ------------------------------------------------------------------ what happens to entries

    def add(self, key: bytes, pending: Pending, name: bytes) -> None:
        """An entry of that lane has become pending, and has its place in the group's queue."""
        if type(pending) is LanePending and not self._is_shown:
            of_lane: LanePending = pending
            of_lane.value = name
            of_lane.turn = self.turn
            if pending.consumer_index == _NOBODY:
                self._add_to(self._lane(name), key, pending)
            elif self.lanes.setdefault(name, pending) is pending:  # one look-up for both
                self._weigh(_ONLY + allocation.of_bytes(name))
            else:
                self._add_to(self._lane(name), key, pending)
        else:
            self._names[key] = name
            self._weigh(_NAME)
            self._add_to(self._lane(name), key, pending)

    def _add_to(self, lane: Lane, key: bytes, pending: Pending) -> None:
        lane.add(key, pending)
        if pending.consumer_index != _NOBODY:
            lane.taken += 1
        else:
            self.waiting += 1
        self._settle(lane)

    def passed(self, pending: Pending) -> None:
        """An entry has no lane, whatever it had in an earlier order."""
        if type(pending) is LanePending and not self._is_shown:
            of_lane: LanePending = pending
            of_lane.value = None

    def removed(self, key: bytes, pending: Pending) -> None:
        """An entry is no longer pending. It may have no lane."""
        name = self._name_of(pending)
        if name is not None:
            held = self.lanes.pop(name)
            if held is pending:  # as most often
                self._weigh(-_ONLY - allocation.of_bytes(name))
            else:
                self.lanes[name] = held
                if self._names and self._names.pop(key, None) is not None:
                    self._weigh(-_NAME)
                self._remove_from(self._lane(name), key, pending)

    def _remove_from(self, lane: Lane, key: bytes, pending: Pending) -> None:
        lane.remove(key)
        if pending.consumer_index != _NOBODY:
            lane.taken -= 1
        else:
            self.waiting -= 1
        self._settle(lane)

    def given(self, pending: Pending) -> None:
        """A consumer has been given an entry that had no owner. It may have no lane."""
        lane = self._lane_of(pending)
        if lane is not None:
            lane.taken += 1
            self.waiting -= 1
            self._settle(lane)

    def given_back(self, pending: Pending) -> None:
        """A consumer has an entry no more, which is pending still. It may have no lane."""
        lane = self._lane_of(pending)
        if lane is not None:
            lane.taken -= 1
            self.waiting += 1
            self._settle(lane)

    def moved(self, pending: Pending) -> None:
        """An entry without an owner is held until another time."""
        lane = self._lane_of(pending)
        if lane is not None:
            self._settle(lane)

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

    # ------------------------------------------------------------------ lanes that are ready

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

    # ------------------------------------------------------------------ claims

    def may_claim(self, pending: Pending, consumer_index: int) -> bool:
        """Whether that consumer has all entries before this one in its lane. O(those * log N)."""
        lane = self._lane_of(pending)
        if lane is None:
            return True
        key = key_of(pending)
        before = lane.first
        while before is not None and key_of(before) < key:
            if before.consumer_index != consumer_index:
                return False
            before = lane.after(before)
        return True

    def taken_after(self, pending: Pending, consumer_index: int) -> list[Pending]:
        """Those after *pending* in its lane that another consumer than that has.

        NOBODY is no consumer, so then these are all that any consumer has. O(those * log N).
        """
        found: list[Pending] = []
        lane = self._lane_of(pending)
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
