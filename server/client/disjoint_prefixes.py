"""Prefixes of which none begins with another: those that one client broadcasts by.

They are kept in their order, in blocks, so that one of a million is added by a short move:

    _blocks  [[a, b, c], [d, e], [g, h]]      _firsts  [a, d, g]

Only the neighbours of a prefix can overlap with it: what begins with it comes right after it, and
what it begins with right before it, since no two of those here begin with each other.

Only the empty prefix may overlap with others, since Redis does not check it: a client that asks for
BCAST without a PREFIX is told of all keys, whatever it has asked for before. It comes before all
others.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain

FULL = 2048  # prefixes of a block, which is cut in two then


class DisjointPrefixes:
    """An ordered set. Iterating over it gives the prefixes in the order of their bytes."""

    __slots__ = ("_blocks", "_count", "_firsts")

    def __init__(self) -> None:
        self._blocks: list[list[bytes]] = []
        self._firsts: list[bytes] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[bytes]:
        return chain.from_iterable(self._blocks)

    def __contains__(self, prefix: object) -> bool:
        if not self._blocks or not isinstance(prefix, bytes):
            return False
        block = self._blocks[max(bisect_right(self._firsts, prefix) - 1, 0)]
        place = bisect_right(block, prefix)
        return bool(place) and block[place - 1] == prefix

    def overlap(self, prefix: bytes) -> bytes | None:
        """The first that begins with *prefix*, or that *prefix* begins with. O(log n)."""
        if not self._blocks:
            return None
        if not self._firsts[0]:
            return b""
        at = max(bisect_right(self._firsts, prefix) - 1, 0)
        block = self._blocks[at]
        place = bisect_right(block, prefix)
        if place and prefix.startswith(block[place - 1]):
            return block[place - 1]
        if place == len(block):
            if at + 1 == len(self._blocks):
                return None
            block, place = self._blocks[at + 1], 0
        return block[place] if block[place].startswith(prefix) else None

    def add(self, prefix: bytes) -> None:
        """Add one that overlaps with none, or the empty one. O(log n), and a short move."""
        self._count += 1
        if not self._blocks:
            self._blocks.append([prefix])
            self._firsts.append(prefix)
            return
        at = max(bisect_right(self._firsts, prefix) - 1, 0)
        block = self._blocks[at]
        block.insert(bisect_right(block, prefix), prefix)
        self._firsts[at] = block[0]
        if len(block) == FULL:
            half = FULL // 2
            self._blocks.insert(at + 1, block[half:])
            self._firsts.insert(at + 1, block[half])
            del block[half:]


NO_PREFIXES = DisjointPrefixes()  # it stays empty


def first_overlap(prefixes: Sequence[bytes]) -> tuple[int, int] | None:
    """Which two of *prefixes* overlap: the first that does, and the next that it does so with.

    O(n log n): in their order, all that begin with one of them come right after it.
    """
    order = sorted(range(len(prefixes)), key=prefixes.__getitem__)
    first = len(prefixes)
    head = order[0] if order else 0  # what those that follow may begin with
    for each in order[1:]:
        if prefixes[each].startswith(prefixes[head]):
            first = min(first, head, each)
        else:
            head = each
    for other in range(first + 1, len(prefixes)):
        if overlaps(prefixes[first], prefixes[other]):
            return first, other
    return None


def overlaps(prefix: bytes, other: bytes) -> bool:
    """Whether one of them begins with the other."""
    return prefix.startswith(other) or other.startswith(prefix)
