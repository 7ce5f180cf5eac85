"""The moments at which waits end, or at which waiters may find something, in their order.

An alarm is an entry of a heap: ``(unix ms, serial, waiter, ends)``. One that was given up (its
waiter was answered, or has an earlier one) stays there: it is dropped when it comes up, or all at
once when such alarms are the majority. O(log N) to set one, and to take one.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import count

from server.client.client import Waiter

MANY_STALE = 64  # below this many alarms that were given up nobody minds
_MANY_STALE = MANY_STALE  # as a C number

Alarm = tuple[int, int, Waiter, bool]


class Alarms:
    """Alarms of waiters: *ends* says that the wait is over then, else the waiter looks again."""

    __slots__ = ("_alarms", "_serial", "_stale")

    def __init__(self) -> None:
        self._alarms: list[Alarm] = []
        self._serial = count()  # of the same moment the first one set comes first
        self._stale = 0

    def __len__(self) -> int:
        return len(self._alarms)

    def set(self, at_ms: int, waiter: Waiter, ends: bool) -> bool:
        """Set an alarm; whether no other one comes before."""
        heappush(self._alarms, (at_ms, next(self._serial), waiter, ends))
        return self._alarms[0][0] == at_ms

    def given_up(self, number: int) -> None:
        """So many alarms, which have not come up, mean nothing any more."""
        self._stale += number
        if self._stale > _MANY_STALE and self._stale * 2 > len(self._alarms):
            live = [alarm for alarm in self._alarms if _is_live(alarm)]
            heapify(live)
            self._alarms = live
            self._stale = 0

    def next_ms(self) -> int | None:
        """When the first one comes, in unix ms; None: there is none."""
        return self._alarms[0][0] if self._alarms else None

    def first(self, now_ms: int) -> Alarm | None:
        """The first alarm, if it comes by *now_ms* and was not given up."""
        while self._alarms and self._alarms[0][0] <= now_ms:
            alarm = self._alarms[0]
            if _is_live(alarm):
                return alarm
            heappop(self._alarms)
            self._stale -= 1
        return None

    def take_first(self) -> None:
        """Remove the alarm that first() returned."""
        heappop(self._alarms)


def _is_live(alarm: Alarm) -> bool:
    """Whether *alarm* still means something."""
    at_ms, _, waiter, ends = alarm
    return waiter.client.waiter is waiter and (ends or at_ms == waiter.wake_at_ms)
