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
An entry without the field has no lane. A lane is known by a number, the hash of its value: 64 bits.
If two values had one hash, their entries would only wait for each other.

The lanes are made from what is pending when somebody reads, and follow it from then on: the group
reports each entry that is taken, given back, or leaves it, for whatever reason. They are neither
saved nor copied.

Most lanes have one entry, which a consumer has. Then there is no object for the lane: its place in
the table has the entry itself, and the entry knows the lane's number (LanePending). Entries that
were pending before there was an order do not; of these the numbers are kept here.

    GroupOrder       192 bytes, compiled, with its dictionary; and the table, see lane_table.py
    lane              80; 153 for a tail, see lane_tail.py, if it has several entries; its place in
                       ``ready``; 0 if it is that one entry
    pending entry      9 or more in the tail; 32 for its lane; or 152, if its number is kept here
"""

from __future__ import annotations

from storage import allocation, octets
from storage.rax.rax import Rax
from storage.stream import lane_tail
from storage.stream.lane import Lane
from storage.stream.lane_table import LaneTable
from storage.stream.lane_tail import key_of
from storage.stream.pending import NOBODY, PARKED, LanePending, Pending

ORDER = 192  # bytes, as listed above
LANE = 80
OF_LANE = 32
NUMBER = 152
_ORDER, _LANE, _OF_LANE, _NUMBER = ORDER, LANE, OF_LANE, NUMBER  # as C numbers
_PARKED, _NOBODY = PARKED, NOBODY  # as C numbers


class GroupOrder:
    """The lanes of a group. All is O(log N) in its pending entries, if nothing else is said.

    But O(N log N) the first time that an entry comes or goes within a lane: see lane_tail.py.

    If it *is_shown* only, the pending entries do not learn which lanes they have.
    """

    __slots__ = (
        "_is_shown", "_numbers", "_readied", "_weight", "field", "lanes", "ready", "turn",
        "waiting", "was_set_back",
    )  # fmt: skip

    def __init__(self, field: bytes, is_shown: bool = False) -> None:
        self.field = field
        self.lanes = LaneTable()
        self.ready = Rax()  # those that are ready, by the numbers they got when they became so
        self._readied = 0  # the last of these numbers
        self.waiting = 0  # entries without an owner, of all lanes
        self.turn = 0  # counts the readings
        self.was_set_back = True  # whether what the group has not read may be pending
        self._numbers: dict[bytes, int] = {}  # by key: the lanes of those that are no LanePending
        self._is_shown = is_shown
        self._weight = 0
        self._weigh(_ORDER)

    def __del__(self) -> None:
        allocation.used -= self._weight

    def _weigh(self, size: int) -> None:
        self._weight += size
        allocation.used += size

    # ------------------------------------------------------------------ which lane

    def _number_of(self, pending: Pending) -> int:
        """The number of the lane of *pending*; 0 if it has none."""
        if type(pending) is LanePending:
            of_lane: LanePending = pending
            return of_lane.lane
        return self._numbers.get(key_of(pending), 0) if self._numbers else 0

    def has_lane(self, pending: Pending) -> bool:
        """Whether *pending* has a lane."""
        return self._number_of(pending) != 0

    def lane_of(self, pending: Pending) -> Lane | None:
        """The lane of *pending*, or None."""
        number = self._number_of(pending)
        return self._lane(number) if number else None

    def _lane(self, number: int) -> Lane:
        """The lane of that number, as an object: a new one, if there is none."""
        held = self.lanes.find(number)
        if type(held) is Lane:
            lane: Lane = held
            return lane
        lane = Lane.__new__(Lane)
        lane.begin(number, self.turn)
        self._weigh(_LANE)
        if held is not None:
            only: LanePending = held
            lane.turn = only.turn
            lane.taken = 1
            lane.add(only)
            self.lanes.remove(number, only)
        self.lanes.add(number, lane)
        return lane

    def may_give(self, number: int, most: int) -> bool:
        """Whether a new entry of that lane may be given in this reading: all before it were.

        And these are fewer than *most*; 0: no matter how many.
        """
        held = self.lanes.find(number)
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

    def add(self, key: bytes, pending: Pending, number: int) -> None:
        """An entry of that lane has become pending, and has its place in the group's queue."""
        is_only = False
        if type(pending) is LanePending and not self._is_shown:
            of_lane: LanePending = pending
            of_lane.lane = number
            of_lane.turn = self.turn
            self._weigh(_OF_LANE)
            if pending.consumer_index != _NOBODY:
                is_only = self.lanes.add(number, pending)  # as most often
        else:
            self._numbers[key] = number
            self._weigh(_NUMBER)
        if not is_only:
            self._add_to(self._lane(number), pending)

    def _add_to(self, lane: Lane, pending: Pending) -> None:
        lane.add(pending)
        if pending.consumer_index != _NOBODY:
            lane.taken += 1
        else:
            self.waiting += 1
        self._settle(lane)

    def passed(self, pending: Pending) -> None:
        """An entry has no lane, whatever it had in an earlier order."""
        if type(pending) is LanePending and not self._is_shown:
            of_lane: LanePending = pending
            of_lane.lane = 0

    def removed(self, key: bytes, pending: Pending) -> None:
        """An entry is no longer pending. It may have no lane."""
        number = self._number_of(pending)
        if number:
            if type(pending) is LanePending:
                self._weigh(-_OF_LANE)
            else:
                del self._numbers[key]
                self._weigh(-_NUMBER)
            if not self.lanes.remove(number, pending):  # most often it is the only one
                self._remove_from(self._lane(number), pending)

    def _remove_from(self, lane: Lane, pending: Pending) -> None:
        lane.remove(pending)
        if pending.consumer_index != _NOBODY:
            lane.taken -= 1
        else:
            self.waiting -= 1
        self._settle(lane)

    def given(self, pending: Pending) -> None:
        """A consumer has been given an entry that had no owner. It may have no lane."""
        lane = self.lane_of(pending)
        if lane is not None:
            lane.taken += 1
            self.waiting -= 1
            self._settle(lane)

    def given_back(self, pending: Pending) -> None:
        """A consumer has an entry no more, which is pending still. It may have no lane."""
        lane = self.lane_of(pending)
        if lane is not None:
            lane.taken -= 1
            self.waiting += 1
            self._settle(lane)

    def moved(self, pending: Pending) -> None:
        """An entry without an owner is held until another time."""
        lane = self.lane_of(pending)
        if lane is not None:
            self._settle(lane)

    def _settle(self, lane: Lane) -> None:
        """Something has changed in *lane*: is it ready now, or empty?"""
        first = lane.first
        if first is None:
            self.lanes.remove(lane.number, lane)
            self._weigh(-_LANE)
        if first is None or lane.taken or first.delivery_time != _PARKED:
            self.pass_over(lane)
        elif lane.ready_as == 0:
            self._readied += 1
            lane.ready_as = self._readied
            self.ready.insert(octets.id_key(lane.ready_as, 0), lane)

    # ------------------------------------------------------------------ lanes that are ready

    def take_up(self, lane: Lane) -> None:
        """Entries of *lane* are given to the one who reads now."""
        lane.turn = self.turn

    def first_ready(self) -> Lane:
        """The lane that has been ready for longest; there must be one."""
        found = self.ready.first()
        assert found is not None
        lane: Lane = found[1]
        return lane

    def look_again(self, lane: Lane) -> None:
        """A lane that was passed over may be ready. It may be empty and forgotten."""
        if lane.first is not None:
            self._settle(lane)

    def pass_over(self, lane: Lane) -> None:
        """Forget that *lane* is ready, until something changes in it."""
        if lane.ready_as:
            self.ready.remove(octets.id_key(lane.ready_as, 0))
            lane.ready_as = 0

    # ------------------------------------------------------------------ claims

    def taken_after(self, pending: Pending, consumer_index: int) -> list[Pending]:
        """Those after *pending* in its lane that another consumer than that has.

        NOBODY is no consumer, so then these are all that any consumer has. O(those that anybody
        has), as these are the first of a lane; else O(the lane).
        """
        found: list[Pending] = []
        lane = self.lane_of(pending)
        if lane is None:
            return found
        left, one = lane.taken, lane.first
        while one is not None and left > 0:
            if one.consumer_index != _NOBODY:
                left -= 1
                if one.consumer_index != consumer_index and lane_tail.is_before(pending, one):
                    found.append(one)
            one = lane.after(one)
        return found
