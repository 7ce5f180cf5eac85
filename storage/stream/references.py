"""Who refers to an entry: what a stream remembers that deletes entries by ACKED or DELREF.

A group refers to each entry that it has not been given yet, and to each that is pending in it:

    group    last_id   pending               entry  1   2   3   4   5   6   7
      a         5       2 5                         .   a   .   .   a   a   a
      b         3       3                           .   .   b   b   b   b   b
                                                    ^       ^least
                                                    kept_below is 2: nothing before can be deleted

``least`` is the smallest last_id of all groups: all refer to what is beyond it. Whether one of them
has an entry pending is asked of each group while there are FEW: a search of its pel takes less time
than to keep an index takes at each delivery and each acknowledgement. When there are more, ``ids``
counts for each entry the groups in which it is pending, and one search answers for all of them.

``kept_below``: a trim with ACKED has found that no entry below can be deleted, so the next one
begins there. An acknowledgement of an entry below sets it back to that entry.

A stream that gives up what all groups have acknowledged (RETAIN-ACKED) looks at each entry once:
``swept`` is the id up to which it has, and ``acked`` has the keys of those acknowledged since, of
which no more than MOST_ACKED are kept: then all is looked at again.

An index may be made some entries at a time (count_some in retention.py), in the order of the keys:
``counting`` has then all up to ``counted_to``, in whatever group, and is kept as the index will be.

This is made when a command first asks, from all groups, which then tell it of each change. A stream
that is never asked has none: it is not stored in an RDB, nor copied.

    References   64 bytes
    ids          64, and 9 bytes or more for each entry that is pending in any group
"""

from __future__ import annotations

from typing import Final

from storage import allocation
from storage.rax.rax import Rax
from storage.stream import stream_id
from storage.stream.stream_id import ZERO, StreamId

FEW: Final = 8  # groups
OBJECT: Final = 64  # bytes, compiled
_OBJECT: Final = OBJECT  # the same as a C number
MOST_ACKED: Final = 100_000
_MOST_ACKED: Final = MOST_ACKED  # the same as a C number


class References:
    """The references of all groups of a stream, which report here what they do. All is O(log N)."""

    __slots__ = ("acked", "counted_to", "counting", "ids", "kept_below", "least", "swept")

    def __init__(self) -> None:
        self.ids: Rax | None = None  # id key -> how many groups have it pending; None: not counted
        self.least: StreamId | None = None  # None: not known
        self.kept_below = ZERO
        self.swept = ZERO
        self.counting: Rax | None = None  # what becomes ids
        self.counted_to = b""
        self.acked: list[bytes] | None = None  # None: nobody looks at them
        allocation.used += _OBJECT

    def __del__(self) -> None:
        allocation.used -= _OBJECT

    def count(self, key: bytes) -> int:
        """In how many groups the entry of that key is pending, if that is counted."""
        assert self.ids is not None
        number: int = self.ids.find(key, 0)
        return number

    def _counted(self, key: bytes) -> Rax | None:
        """Where the entry of that key is counted; None: nowhere, so far."""
        if self.ids is None and self.counting is not None and key <= self.counted_to:
            return self.counting
        return self.ids

    def added(self, key: bytes) -> None:
        """An entry has become pending in a group."""
        ids = self._counted(key)
        if ids is not None:
            number: int = ids.find(key, 0)
            ids.insert(key, number + 1)

    def removed(self, key: bytes) -> None:
        """An entry is no longer pending in a group."""
        ids = self._counted(key)
        if ids is not None:
            number: int = ids.find(key, 0)
            if number > 1:
                ids.insert(key, number - 1)
            else:
                ids.remove(key)
        entry_id = stream_id.from_key(key)
        if stream_id.compare(entry_id, self.kept_below) < 0:
            self.kept_below = entry_id
        acked = self.acked
        if acked is not None:
            acked.append(key)
            if len(acked) > _MOST_ACKED:
                acked.clear()
                self.swept = ZERO

    def group_moves(self, old: StreamId, new: StreamId) -> None:
        """A group whose last_id was *old* has come, or been set back, to *new*."""
        least = self.least
        if least is not None and stream_id.compare(new, least) < 0:
            self.least = new
        elif least is not None and stream_id.compare(old, least) == 0:
            self.least = None

    def group_gone(self) -> None:
        """A group has been deleted, after what was pending in it was removed."""
        self.least = None
        self.kept_below = ZERO
