# cython: boundscheck=False, wraparound=False
"""A sorted set: members with scores, in one listpack while it is small, else in a tree.

    pack      member, score, member, score, ...      storage/sorted_sets/score_listpack.py
    tree      a counted tree and an index            storage/sorted_sets/score_tree.py

Both have the members in the same order: by score, and by their bytes where scores are equal. So all
ranges are of ranks: *rank* (bound) says where a range by score or by member begins or ends.

It begins as a listpack. It becomes a tree when it gets more members, or a longer one, than the
limits allow (zset-max-listpack-entries and zset-max-listpack-value), and stays one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from storage import allocation
from storage.chance import Chance
from storage.limits import ListpackLimits
from storage.listpack.listpack import Listpack
from storage.sorted_sets import score_listpack, score_walk
from storage.sorted_sets.bound import Bound
from storage.sorted_sets.score_tree import ScoreTree
from storage.sorted_sets.score_walk import ScoreWalk

NONE = -1
HEADS = 64  # bytes; what a member and its score have besides the member's text, on the safe side
MOST = 1 << 30  # bytes of a listpack: no larger one can be made
OBJECT = 48  # bytes, compiled
FEW = 3  # up to a third of all members are drawn one by one


class SortedSet:
    """Members and scores, which are not NaN. Its two forms are *pack* and *tree*; one is None.

    N is the number of members. What is O(log N) is O(N) in a listpack, where N is small.
    """

    __slots__ = ("pack", "tree")

    def __init__(self, pack: Listpack | None = None) -> None:
        """A sorted set of what *pack* has, which belongs to the set from now on."""
        self.pack: Listpack | None = Listpack() if pack is None else pack
        self.tree: ScoreTree | None = None
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= OBJECT

    def __len__(self) -> int:
        return self.length()

    def length(self) -> int:
        """How many members there are."""
        if self.pack is not None:
            return self.pack.length() >> 1
        return 0 if self.tree is None else self.tree.length()

    @property
    def encoding(self) -> bytes:
        """The answer of OBJECT ENCODING: Redis's name for a large sorted set, too."""
        return b"listpack" if self.pack is not None else b"skiplist"

    # ------------------------------------------------------------------ one member

    def score_of(self, member: bytes) -> float | None:
        """The score of *member*, or None. O(1) in a tree."""
        pack = self.pack
        if pack is not None:
            at = pack.find(member, 1)
            return None if at == NONE else score_listpack.score_at(pack, pack.behind(at))
        tree = self.as_tree()
        spot = tree.find(member)
        return None if spot == NONE else tree.score_at(spot)

    def rank_of(self, member: bytes) -> int:
        """How many members are before *member*; -1 if it does not exist. O(log N)."""
        pack = self.pack
        if pack is not None:
            at = pack.find(member, 1)
            return NONE if at == NONE else score_listpack.rank_at(pack, at)
        tree = self.as_tree()
        spot = tree.find(member)
        return NONE if spot == NONE else tree.rank_at(spot, member)

    def put(self, member: bytes, score: float, limits: ListpackLimits) -> float | None:
        """Give *member* that score. Returns its old one; None if the member is new. O(log N)."""
        pack = self.pack
        if pack is not None:
            return self._put_in_pack(pack, member, score, limits)
        tree = self.as_tree()
        spot = tree.find(member)
        if spot == NONE:
            tree.add(member, score)
            return None
        old = tree.score_at(spot)
        if score != old:
            tree.set_score(spot, member, score)
        return old

    def _put_in_pack(
        self, pack: Listpack, member: bytes, score: float, limits: ListpackLimits
    ) -> float | None:
        at = pack.find(member, 1)
        if at != NONE:
            old = score_listpack.score_at(pack, pack.behind(at))
            if score != old and pack.size + HEADS > MOST:  # the new score may be longer
                tree = self.as_tree()
                tree.set_score(tree.find(member), member, score)
            elif score != old:
                score_listpack.remove(pack, at)
                score_listpack.insert(pack, member, score)
            return old
        size = len(member)
        if (
            (pack.length() >> 1) < limits.entries
            and size <= limits.value
            and pack.size + size + HEADS <= MOST
        ):
            score_listpack.insert(pack, member, score)
        else:
            self.as_tree().add(member, score)
        return None

    def remove(self, member: bytes) -> bool:
        """Remove *member*. False if it does not exist. O(log N)."""
        pack = self.pack
        if pack is not None:
            at = pack.find(member, 1)
            if at == NONE:
                return False
            score_listpack.remove(pack, at)
            return True
        tree = self.as_tree()
        spot = tree.find(member)
        if spot == NONE:
            return False
        tree.remove_at(tree.rank_at(spot, member))
        return True

    # ------------------------------------------------------------------ ranges

    def rank(self, bound: Bound) -> int:
        """How many members are before *bound*. O(log N)."""
        if self.pack is not None:
            return score_listpack.rank(self.pack, bound)
        return self.as_tree().rank(bound)

    def rank_from(self, rank: int, bound: Bound) -> int:
        """How many members are before *bound* if at least *rank*, else any number up to *rank*.

        Faster near *rank*.
        """
        if self.pack is not None:
            return score_listpack.rank(self.pack, bound)
        return self.as_tree().rank_from(rank, bound)

    def walk(self, rank: int, reverse: bool) -> ScoreWalk:
        """A walk from the member of that rank on, 0 .. N, or back from it, N - 1 .. -1. O(log N).

        The set must not change meanwhile.
        """
        return score_walk.begin(self.pack, self.tree, rank, reverse)

    def remove_range(self, first: int, end: int) -> None:
        """Remove the members of the ranks *first* to before *end*. O((end - first) * log N)."""
        if self.pack is not None:
            self.pack.delete_range(2 * first, 2 * (end - first))
            return
        tree = self.as_tree()
        for _ in range(end - first):
            tree.remove_at(first)

    def __iter__(self) -> Iterator[tuple[bytes, float]]:
        """All members with their scores, in order. The set must not change meanwhile."""
        walk = self.walk(0, False)
        while walk.next():
            yield walk.member(), walk.score

    # ------------------------------------------------------------------ many members

    def scan(self, cursor: int, count: int) -> tuple[int, list[Any]]:
        """About *count* members from *cursor* on, each with its score after it; the next cursor.

        0 is the first cursor, and the one after the last page. A member that is there all the time
        is in one page, and in no other while the set is a tree; a listpack is one page.
        """
        if self.pack is not None:
            return 0, [part for pair in self for part in pair]
        return self.as_tree().scan(cursor, count)

    def pair_at(self, rank: int) -> tuple[bytes, float]:
        """The member of that rank, and its score. O(log N)."""
        walk = self.walk(rank, False)
        walk.next()
        return walk.member(), walk.score

    def draws(self, chance: Chance) -> Iterator[tuple[bytes, float]]:
        """Random members with their scores, without end: each draw is from all, of which there must
        be one.
        """
        while True:
            yield self.pair_at(chance.below(self.length()))

    def sample(self, chance: Chance, count: int) -> list[tuple[bytes, float]]:
        """*count* different members with their scores, and no more than there are.

        O(count * log N) expected. All members come in their order.
        """
        if FEW * count < self.length():
            ranks: dict[int, None] = {}
            while len(ranks) < count:
                ranks[chance.below(self.length())] = None
            return [self.pair_at(rank) for rank in ranks]
        pairs = list(self)
        if count < len(pairs):
            for at in range(count):
                other = at + chance.below(len(pairs) - at)
                pairs[at], pairs[other] = pairs[other], pairs[at]
        return pairs[:count]

    def copy(self) -> SortedSet:
        """Another set of the same members and scores. O(N log N)."""
        made = SortedSet()
        made.pack = None if self.pack is None else self.pack.copy()
        made.tree = None if self.tree is None else self.tree.copy()
        return made

    # ------------------------------------------------------------------ the two forms

    def as_tree(self) -> ScoreTree:
        """The tree; it is made of the listpack now, if there is one. O(N log N) then."""
        tree = self.tree
        if tree is None:
            tree = ScoreTree()
            for member, score in self:
                tree.add(member, score)
            self.tree = tree
            self.pack = None
        return tree

    def become_small(self, limits: ListpackLimits) -> None:
        """Become a listpack again if the limits allow it: what a STORE has made may be small."""
        if self.pack is not None or self.length() > limits.entries:
            return
        if any(len(member) > limits.value for member, _ in self):
            return
        if sum(len(member) + HEADS for member, _ in self) > MOST:
            return
        pack = Listpack()
        for member, score in self:
            pack.append(member)
            pack.append(score_listpack.text_of(score))
        pack.shrink()
        self.pack = pack
        self.tree = None

    def check(self) -> None:
        """Raise AssertionError or Corrupt if anything does not agree. O(N). For tests."""
        if self.pack is not None:
            self.pack.check()
        if self.tree is not None:
            self.tree.check()
        assert (self.pack is None) != (self.tree is None), "both forms, or none"
        pairs = [(score, member) for member, score in self]
        assert pairs == sorted(pairs), "disorder"
        assert len({member for _, member in pairs}) == len(pairs) == len(self), "a member twice"

    def shrink(self) -> None:
        """Give back memory that is not in use."""
        if self.pack is not None:
            self.pack.shrink()


def of_pack(pack: Listpack) -> SortedSet:
    """The sorted set of what *pack* has, which belongs to the set from now on."""
    made = SortedSet.__new__(SortedSet)
    made.pack = pack
    made.tree = None
    allocation.used += OBJECT
    return made
