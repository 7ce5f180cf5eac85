# cython: boundscheck=False, wraparound=False
"""A large sorted set: a counted B+ tree of packed leaves, and an index of its members.

                     branch  [score count leaf | ...]           height 2
                    /                          \
        branch  [score count leaf | ...]      branch ...        height 1
       /           |          \
    leaf <-----> leaf <-----> leaf <-----> leaf ...             up to 128 members and scores
      ^            ^                         ^
      |            |                         |
    index   hash prefix -> number of the leaf                   8 bytes a member

Members are in the order of their scores, and those of one score in the order of their bytes. Since
each branch counts the members below each child, a rank is found, and what has a rank, in one
descent; and so is each end of a range of scores or of members.

A member is stored once, in its leaf. By the index it is found without a descent, and scanned in
hash order, so that a scan misses nothing when scores change meanwhile. A member takes 16 bytes in
its leaf and one for the length of its text (four for 128 bytes or more), 8 bytes in the index, and
spare room: about 35 bytes besides the text if members came in no order, 29 if they came in theirs.

Leaves split in the middle when they are too long. The last one splits at its end if that is where
the new member is: so members that come in ascending order fill their leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from storage import allocation
from storage.errors import TooLarge
from storage.hash_table import mark_octets, packed_octets
from storage.sorted_sets import bound as bounds
from storage.sorted_sets import score_octets
from storage.sorted_sets.bound import Bound
from storage.sorted_sets.branch import Branch
from storage.sorted_sets.leaf import LONGEST_MEMBER, Leaf
from storage.sorted_sets.member_index import MemberIndex

NONE: Final = -1
LEAF_SHIFT: Final = 32
AT_MASK: Final = 0xFFFFFFFF
OBJECT: Final = 80  # bytes of the tree alone
_LONGEST: Final = LONGEST_MEMBER  # the same as a C number


class ScoreTree:
    """Members and their scores, which are not NaN. N is the number of members.

    A *spot* is where a member is: the number of its leaf << 32 | its number in there. It is valid
    until the tree changes.
    """

    __slots__ = ("_free", "_height", "_held", "_index", "_root", "first", "last", "leaves")

    def __init__(self) -> None:
        self.leaves = mark_octets.untracked([])  # by number; None for each number that is free
        self._free = mark_octets.untracked([])
        self._held = 0  # bytes of these lists that are counted
        self._index = MemberIndex(self.leaves)
        self._height = 0  # of the root: 0 if it is a leaf
        self.first = 0  # the numbers of the first leaf and the last one
        self.last = 0
        allocation.used += OBJECT
        self._root: Any = self._new_leaf()

    def __del__(self) -> None:
        allocation.used -= OBJECT + self._held

    def __len__(self) -> int:
        return self.length()

    def length(self) -> int:
        """How many members there are."""
        return self._index.used

    def __iter__(self) -> Iterator[tuple[bytes, float]]:
        """All members with their scores, in order. The tree must not change meanwhile."""
        number = self.first
        while number != NONE:
            leaf: Leaf = self.leaves[number]
            for at in range(score_octets.count(leaf.marks)):
                yield leaf.member_at(at), score_octets.score_at(leaf.marks, at)
            number = leaf.behind

    # ------------------------------------------------------------------ looking up

    def find(self, member: bytes) -> int:
        """The spot of *member*, or -1. O(1) expected."""
        return self._index.find(member, mark_octets.prefix_of(member))

    def score_at(self, spot: int) -> float:
        """The score at that spot."""
        leaf = self.leaf_of(spot)
        return score_octets.score_at(leaf.marks, spot & AT_MASK)

    def member_at(self, spot: int) -> bytes:
        """The member at that spot."""
        leaf = self.leaf_of(spot)
        return leaf.member_at(spot & AT_MASK)

    def leaf_of(self, spot: int) -> Leaf:
        """The leaf of that spot."""
        leaf: Leaf = self.leaves[spot >> LEAF_SHIFT]
        return leaf

    def rank(self, bound: Bound) -> int:
        """How many members are before *bound*. O(log N)."""
        node = self._root
        height = self._height
        rank = 0
        while height > 0:
            branch: Branch = node
            child = branch.child_before(bound, self.leaves)
            rank += branch.members_before(child)
            node = branch.children[child]
            height -= 1
        leaf: Leaf = node
        return rank + leaf.count_before(bound)

    def rank_from(self, rank: int, bound: Bound) -> int:
        """How many members are before *bound* if at least *rank*, else any number up to *rank*.

        Most ranges end in the leaf where they begin: that is looked at first.
        """
        if rank < self.length():
            spot = self.spot_of(rank)
            leaf = self.leaf_of(spot)
            if not bound.is_behind(leaf.marks, leaf.data, score_octets.count(leaf.marks) - 1):
                at = spot & AT_MASK
                return rank - at + leaf.count_before(bound)
        return self.rank(bound)

    def spot_of(self, rank: int) -> int:
        """The spot of the member of that rank, 0 .. N - 1. O(log N)."""
        node = self._root
        height = self._height
        while height > 0:
            branch: Branch = node
            child = 0
            while rank >= score_octets.tag_at(branch.marks, child):
                rank -= score_octets.tag_at(branch.marks, child)
                child += 1
            node = branch.children[child]
            height -= 1
        leaf: Leaf = node
        number = leaf.number
        return number << LEAF_SHIFT | rank

    # ------------------------------------------------------------------ adding

    def add(self, member: bytes, score: float) -> None:
        """Add *member*, which must be new. Raises TooLarge; nothing is changed then. O(log N)."""
        if len(member) > _LONGEST:
            raise TooLarge(f"a member of {len(member)} bytes")
        bound = bounds.at_both(score, member, True)
        sibling = self._add(self._root, self._height, bound, mark_octets.prefix_of(member))
        if sibling is not None:
            root = Branch(self._height + 1)
            root.insert(0, self._root)
            root.insert(1, sibling)
            self._root = root
            self._height += 1

    def _add(self, node: Any, height: int, bound: Bound, prefix: int) -> Any:
        """Add a member at *bound* below *node*; return the sibling split off after it, or None."""
        if height == 0:
            return self._add_to_leaf(node, bound, prefix)
        branch: Branch = node
        at = branch.child_before(bound, self.leaves)
        sibling = self._add(branch.children[at], height - 1, bound, prefix)
        branch.refresh(at)
        if sibling is None:
            return None
        branch.insert(at + 1, sibling)
        return branch.split() if branch.is_long() else None

    def _add_to_leaf(self, leaf: Leaf, bound: Bound, prefix: int) -> Leaf | None:
        at = leaf.count_before(bound)
        assert bound.member is not None
        leaf.insert(at, bound.score, prefix, bound.member)
        self._index.add(prefix, leaf.number)
        return self._split(leaf, at) if leaf.is_long() else None

    def _split(self, leaf: Leaf, newest: int) -> Leaf:
        """Move the second half of *leaf* to a new leaf after it, which is returned.

        If its *newest* member is the last of all, this moves alone.
        """
        members = score_octets.count(leaf.marks)
        first = members >> 1
        if leaf.behind == NONE and newest == members - 1:
            first = newest
        made = self._new_leaf()
        made.take(leaf, first)
        self._moved(made, 0, leaf.number)
        leaf.remove(first, members)
        made.before = leaf.number
        made.behind = leaf.behind
        leaf.behind = made.number
        self._link(made.behind, made.number)
        return made

    def _moved(self, leaf: Leaf, first: int, old: int) -> None:
        """The members of *leaf* from number *first* on were in the leaf *old* before."""
        for at in range(first, score_octets.count(leaf.marks)):
            self._index.move(score_octets.tag_at(leaf.marks, at), old, leaf.number)

    def _link(self, behind: int, before: int) -> None:
        """The leaf number *behind* comes after *before* now. If it is NONE, *before* is last."""
        if behind == NONE:
            self.last = before
        else:
            leaf: Leaf = self.leaves[behind]
            leaf.before = before

    def set_score(self, spot: int, member: bytes, score: float) -> None:
        """Give *member*, at that spot, another score. O(log N); O(1) if it keeps its place."""
        leaf = self.leaf_of(spot)
        at = spot & AT_MASK
        if leaf.keeps_place(at, score):
            score_octets.put_score(leaf.marks, at, score)
            return
        self.remove_at(self.rank_at(spot, member))
        self.add(member, score)

    # ------------------------------------------------------------------ removing

    def rank_at(self, spot: int, member: bytes) -> int:
        """The rank of *member*, which is at that spot. O(log N)."""
        return self.rank(bounds.at_both(self.score_at(spot), member, False))

    def remove_at(self, rank: int) -> None:
        """Remove the member of that rank. O(log N)."""
        self._remove(self._root, self._height, rank)
        while self._height > 0:
            root: Branch = self._root
            if len(root.children) > 1:
                break
            self._root = root.children[0]
            self._height -= 1

    def _remove(self, node: Any, height: int, rank: int) -> None:
        """Remove the member that has *rank* among those below *node*."""
        if height == 0:
            leaf: Leaf = node
            self._index.remove(score_octets.tag_at(leaf.marks, rank), leaf.number)
            leaf.remove(rank, rank + 1)
            return
        branch: Branch = node
        at = branch.child_of(rank)
        self._remove(branch.children[at], height - 1, rank - branch.members_before(at))
        if height == 1:
            self._tend_leaf(branch, at)
        else:
            self._tend_branch(branch, at)

    def _tend_leaf(self, branch: Branch, at: int) -> None:
        """A member was removed from the leaf number *at* of *branch*: drop it or join it.

        1. An empty leaf goes. If it was the only one of its branch, so does the branch.
        2. A short one is joined with the next leaf of the branch, or with the one before.
        """
        leaf: Leaf = branch.children[at]
        if score_octets.count(leaf.marks) == 0:  # 1
            branch.remove(at)
            self._drop(leaf)
            return
        branch.refresh(at)
        if at + 1 < len(branch.children):  # 2
            after: Leaf = branch.children[at + 1]
            if leaf.may_join(after):
                self._join(branch, at, leaf, after)
                return
        if at > 0:
            before: Leaf = branch.children[at - 1]
            if before.may_join(leaf):
                self._join(branch, at - 1, before, leaf)

    def _join(self, branch: Branch, at: int, leaf: Leaf, after: Leaf) -> None:
        """Move the members of *after* to *leaf*, which is the child number *at*."""
        first = score_octets.count(leaf.marks)
        leaf.take(after, 0)
        self._moved(leaf, first, after.number)
        branch.remove(at + 1)
        branch.refresh(at)
        self._drop(after)

    def _tend_branch(self, branch: Branch, at: int) -> None:
        """After a removal, drop child branch *at* of *branch* if empty, or join it to a sibling."""
        child: Branch = branch.children[at]
        if child.size == 0:
            branch.remove(at)
            return
        branch.refresh(at)
        if at + 1 < len(branch.children):
            after: Branch = branch.children[at + 1]
            if child.may_join(after):
                self._join_branches(branch, at, child, after)
                return
        if at > 0:
            before: Branch = branch.children[at - 1]
            if before.may_join(child):
                self._join_branches(branch, at - 1, before, child)

    def _join_branches(self, branch: Branch, at: int, child: Branch, after: Branch) -> None:
        child.take(after)
        branch.remove(at + 1)
        branch.refresh(at)

    # ------------------------------------------------------------------ leaves

    def _new_leaf(self) -> Leaf:
        """A leaf with a number of its own, which is in no branch yet."""
        if self._free:
            number = self._free.pop()
            made = Leaf(number)
            self.leaves[number] = made
        else:
            made = Leaf(len(self.leaves))
            self.leaves.append(made)
        self._count_lists()
        return made

    def _drop(self, leaf: Leaf) -> None:
        """Forget *leaf*, whose members are gone or elsewhere."""
        if leaf.before == NONE:
            self.first = leaf.behind
        else:
            before: Leaf = self.leaves[leaf.before]
            before.behind = leaf.behind
        self._link(leaf.behind, leaf.before)
        self.leaves[leaf.number] = None
        self._free.append(leaf.number)
        self._count_lists()

    def _count_lists(self) -> None:
        """Count the memory of the lists of leaves."""
        held = packed_octets.list_room(self.leaves) + packed_octets.list_room(self._free)
        allocation.used += held - self._held
        self._held = held

    # ------------------------------------------------------------------ as a whole

    def scan(self, cursor: int, count: int) -> tuple[int, list[Any]]:
        """A page of members from *cursor* on, each with its score; see Directory.scan_items."""
        return self._index.scan_items(cursor, count)

    def copy(self) -> ScoreTree:
        """A tree of the same members and scores. O(N log N)."""
        made = ScoreTree()
        for member, score in self:
            made.add(member, score)
        return made

    def check(self) -> None:
        """Raise AssertionError if anything does not agree. O(N). For tests."""
        pairs = [(score, member) for member, score in self]
        assert len(pairs) == len(self) == self._check_node(self._root, self._height, [])
        assert all(one < other for one, other in pairwise(pairs)), "disorder"
        numbers = [number for number, leaf in enumerate(self.leaves) if leaf is not None]
        assert sorted([*numbers, *self._free]) == list(range(len(self.leaves))), "lost numbers"
        assert self.leaves[self.first].before == self.leaves[self.last].behind == NONE
        self._index.check()

    def _check_node(self, node: Any, height: int, leaves: list[int]) -> int:
        """How many members are below *node*; *leaves* gets the numbers of its leaves."""
        if height == 0:
            assert self.leaves[node.number] is node, "a leaf has another number"
            before = leaves[len(leaves) - 1] if leaves else NONE
            assert node.before == before, "links back miss a leaf"
            assert before == NONE or self.leaves[before].behind == node.number, "links miss a leaf"
            leaves.append(node.number)
            return len(node)
        assert node.height == height
        assert node.children, "a branch without children"
        size = 0
        for at, child in enumerate(node.children):
            first = len(leaves)
            members = self._check_node(child, height - 1, leaves)
            leaf = self.leaves[leaves[first]]
            assert members > 0, "an empty child"
            assert score_octets.tag_at(node.marks, at) == members, "members miscounted"
            assert score_octets.place_at(node.marks, at) == leaf.number, "another first leaf"
            first_score = score_octets.score_at(leaf.marks, 0)
            assert score_octets.score_at(node.marks, at) == first_score, "another first score"
            size += members
        assert node.size == size, "members of a branch miscounted"
        return size
