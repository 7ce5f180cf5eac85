"""What a consumer may claim of the lanes of a group, in one command that claims many entries.

Of each lane is noted what was seen of it, so that it is walked over once, not for each entry.
"""

from __future__ import annotations

from storage.stream import lane_tail
from storage.stream.group_order import GroupOrder
from storage.stream.pending import Pending


class LaneClaims:
    """The claims of one consumer. It may lose entries meanwhile that leave the group.

    No other consumer is given anything of these lanes while this is used.
    """

    __slots__ = ("_consumer_index", "_has_to", "_order", "_others_have_none")

    def __init__(self, order: GroupOrder, consumer_index: int) -> None:
        self._order = order
        self._consumer_index = consumer_index
        self._has_to: dict[int, Pending] = {}  # lane -> the last entry up to which it has all
        self._others_have_none: set[int] = set()  # lanes

    def may_claim(self, pending: Pending) -> bool:
        """Whether the consumer has all entries before this one in its lane; it may have no lane.

        O(log N), and amortized O(1) for each entry before it.
        """
        lane = self._order.lane_of(pending)
        if lane is None:
            return True
        last = self._has_to.get(lane.number)
        at = lane.first if last is None else lane.after(last)
        while at is not None and lane_tail.is_before(at, pending):
            if at.consumer_index != self._consumer_index:
                break
            last, at = at, lane.after(at)
        if last is not None:
            self._has_to[lane.number] = last
        return at is None or not lane_tail.is_before(at, pending)

    def others_after(self, pending: Pending) -> list[Pending]:
        """What others have of the lane, after an entry that was just claimed; they are to lose it.

        As GroupOrder.taken_after() for the first one of a lane, then O(1).
        """
        lane = self._order.lane_of(pending)
        if lane is None or lane.number in self._others_have_none:
            return []
        self._others_have_none.add(lane.number)
        return self._order.taken_after(pending, self._consumer_index)
