"""When entries of a stream expire: a deadline (unix ms) for each of their ids.

    run      those that came in the order of the ids, as most do: 24 to 30 bytes each
    ends     deadline, id  ->  True        the others, in a radix tree
    times    id            ->  deadline    and another, by their ids, of 16 bytes

The deadline of an entry that was trimmed, or deleted by other ways than XDEL, stays until prune()
finds it, or it comes.
"""

from __future__ import annotations

from storage import allocation, octets
from storage.rax.rax import Rax
from storage.side_data.deadline_run import DeadlineRun
from storage.stream import stream_id
from storage.stream.stream_id import StreamId

NEVER = 2**62  # a time that does not come
_NEVER = NEVER  # as a C number
ENDLESS = 2**62  # more deadlines than there can be
OBJECT = 160  # bytes of the object, compiled, without the nodes of its trees
IN_TREES = 240  # bytes of a deadline in both trees
IN_RUN = 24


class Deadlines:
    """The deadlines of one stream. Each operation is O(log N)."""

    __slots__ = ("_ends", "_pruned_to", "_run", "_times", "_weight")

    def __init__(self) -> None:
        self._run = DeadlineRun()
        self._ends = Rax()
        self._times = Rax()
        self._pruned_to: StreamId | None = None  # prune() has found nothing more before this id
        self._weight = OBJECT  # bytes, without the run
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= self._weight

    def count(self) -> int:
        """How many there are."""
        return self._run.size + self._times.size

    def in_trees(self) -> int:
        """How many are in the trees, and so take time to be freed."""
        return self._times.size

    def first(self) -> int:
        """The first of all. NEVER: there is none."""
        first = self._run.first_deadline() if self._run.size else _NEVER
        if self._times.size:
            at = self._ends.seek("^")
            first = min(first, octets.u64_be(at.current_key(), 0))
        return first

    def put(self, entry_id: StreamId, deadline_ms: int) -> bool:
        """Let an entry expire then, not when it would have. True if that is before all others."""
        if not self._times.size and self._run.add(entry_id, deadline_ms):  # as most often
            return self._run.size == 1
        self.discard(entry_id)
        is_first = deadline_ms < self.first()
        if not self._run.add(entry_id, deadline_ms):  # without what it had
            key = entry_id.key()
            self._times.insert(key, deadline_ms)
            self._ends.insert(octets.id_key(deadline_ms, 0)[:8] + key, True)
            self._weigh(IN_TREES)
        return is_first

    def has_expired(self, entry_id: StreamId, now_ms: int) -> bool:
        """Whether an entry has a deadline that has come by *now_ms*."""
        if self._run.size:
            of_run = self._run.deadline_of(entry_id)
            if of_run:
                return of_run <= now_ms
        if not self._times.size:
            return False
        of_trees = self._times.find(entry_id.key())
        return of_trees is not None and of_trees <= now_ms

    def discard(self, entry_id: StreamId) -> bool:
        """Let an entry never expire. False if it would not have."""
        if self._run.size and self._run.remove(entry_id):
            return True
        if not self._times.size:
            return False
        key = entry_id.key()
        deadline_ms = self._times.remove(key)
        if deadline_ms is None:
            return False
        self._ends.remove(octets.id_key(deadline_ms, 0)[:8] + key)
        self._weigh(-IN_TREES)
        return True

    def prune(self, first_id: StreamId) -> None:
        """Forget some deadlines of entries before *first_id*, the first that is there.

        Two of the run, and two of the trees, at most; none while *first_id* is the very object for
        which none was left.
        """
        if first_id is not self._pruned_to:
            self._prune(first_id)

    def _prune(self, first_id: StreamId) -> None:
        for _ in range(2):
            if not self._run.size or not self._run.begins_before(first_id):
                self._pruned_to = first_id
                break
            self._run.forget_first()
        for _ in range(2):
            if not self._times.size:
                break
            at = self._times.seek("^")
            entry_id = stream_id.from_key(at.current_key())
            if stream_id.compare(entry_id, first_id) >= 0:
                break
            self._pruned_to = None  # others may follow
            self.discard(entry_id)

    def up_to(self, until_ms: int, most: int) -> list[tuple[int, StreamId]]:
        """Up to *most* of those up to *until_ms*, the first first: ``(deadline, id)``."""
        found = self._run.pairs(until_ms, most)
        if not self._times.size:
            return found
        count, at = 0, self._ends.seek("^")
        while count < most and at.next():
            key = at.current_key()
            deadline_ms = octets.u64_be(key, 0)
            if deadline_ms > until_ms:
                break
            found.append((deadline_ms, stream_id.from_key(key[8:])))
            count += 1
        found.sort(key=_place)
        return found[:most]

    def all(self) -> list[tuple[int, StreamId]]:
        """All, the first first: ``(deadline, id)``. O(N)."""
        return self.up_to(NEVER, ENDLESS)

    def by_id(self) -> list[tuple[int, StreamId]]:
        """All, in the order of the ids: ``(deadline, id)``. O(N)."""
        return sorted(self.all(), key=_key)

    def forget_in_trees(self) -> None:
        """Let one of the entries in the trees never expire; there must be one."""
        at = self._times.seek("^")
        self.discard(stream_id.from_key(at.current_key()))

    def memory(self) -> int:
        """About how many bytes it takes."""
        return self._weight + self._run.size * IN_RUN

    def _weigh(self, size: int) -> None:
        self._weight += size
        allocation.used += size


def _place(pair: tuple[int, StreamId]) -> tuple[int, int, int]:
    """What deadlines are ordered by."""
    return pair[0], pair[1].ms, pair[1].seq


def _key(pair: tuple[int, StreamId]) -> tuple[int, int]:
    return pair[1].ms, pair[1].seq
