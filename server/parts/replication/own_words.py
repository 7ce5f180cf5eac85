"""Where in the history commands stand that only a Penstock knows: policies, and schedules.

Another replica is sent fillers of the same length in their place, which change nothing there, so
that offsets are the same for all:

    *2  $4  PING  $21  .....................
"""

from __future__ import annotations

from collections import deque

PING = b"*1\r\n$4\r\nPING\r\n"
OWN = {b"XSCHEDULE", b"XUNSCHEDULE", b"XEXPIREAT"}
AT = b"AT"
OF_PRODUCERS = b"IDMP-"  # what Redis's own XCFGSET sets begins so
MOST_KEPT = 100_000  # places, whatever the backlog holds: with more, the oldest are forgotten


def is_own(words: list[bytes]) -> bool:
    """Whether no other server knows the command *words*, as this one logs it."""
    name = words[0].upper()
    if name == b"XGROUP":
        return words[1].upper() == b"CFGSET"
    if name == b"XADD":
        return words[2].upper() == AT
    if name == b"XNACK":
        return words[-2].upper() == AT
    if name == b"XCFGSET":
        return not words[2].upper().startswith(OF_PRODUCERS)
    return name in OWN


def filler(size: int) -> bytes:
    """Commands of *size* bytes that do nothing. A command of our own has more than 40."""
    for start in (b"", PING):  # of some sizes there is no single one
        room = size - len(start)
        for digits in range(1, 12):
            count = room - len(b"*2\r\n$4\r\nPING\r\n$\r\n\r\n") - digits
            if len(b"%d" % max(count, 0)) == digits and count >= 0:
                return b"%b*2\r\n$4\r\nPING\r\n$%d\r\n%b\r\n" % (start, count, b"." * count)
    raise ValueError(f"no commands have {size} bytes")


class OwnWords:
    """The places of such commands, oldest first: their first byte, and the one after them."""

    def __init__(self) -> None:
        self._places: deque[tuple[int, int]] = deque()

    def note(self, first: int, end: int, kept_from: int) -> None:
        """One stands at *first* to *end*. What is before *kept_from* is nowhere any more. O(1)."""
        places = self._places
        places.append((first, end))
        while places[0][1] <= kept_from or len(places) > MOST_KEPT:
            places.popleft()

    def clear(self) -> None:
        """The history is another one."""
        self._places.clear()

    def without(self, data: bytes, first: int) -> bytes:
        """*data*, which begins with byte *first* of the history, without them.

        O(size and the places from there on).
        """
        end = first + len(data)
        changed: bytearray | None = None
        for start, behind in reversed(self._places):
            if start < first:
                break
            if behind <= end:
                changed = changed or bytearray(data)
                changed[start - first : behind - first] = filler(behind - start)
        return data if changed is None else bytes(changed)
