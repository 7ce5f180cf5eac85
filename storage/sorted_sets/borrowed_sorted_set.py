"""A sorted set read through borrowed references: the plain versions of borrowed_sorted_set.pxd.

See storage/rdb/borrowed.py for what that is and why. The leaves of a tree are walked by their
numbers, from the last one to the first.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from storage.rdb import raw
from storage.rdb.borrowed import Borrowed
from storage.sorted_sets import score_octets
from storage.sorted_sets.leaf import Leaf
from storage.sorted_sets.score_tree import ScoreTree
from storage.sorted_sets.sorted_set import SortedSet

NONE = -1


class Text(NamedTuple):
    """A member: the first *size* bytes of *octets*."""

    octets: raw.Raw
    size: int


def pack_of(value: Borrowed) -> Borrowed:
    """The listpack of the sorted set *value*; nothing if it is a tree."""
    found: SortedSet = value
    return found.pack


def tree_of(value: Borrowed) -> Borrowed:
    """The tree of the sorted set *value*; nothing if it is a listpack."""
    found: SortedSet = value
    return found.tree


def size(tree: Borrowed) -> int:
    """How many members *tree* has."""
    found: ScoreTree = tree
    return found.length()


def last_leaf(tree: Borrowed) -> Borrowed:
    """The last leaf of *tree*."""
    return tree.leaves[tree.last]


def leaf_before(tree: Borrowed, leaf: Borrowed) -> Borrowed:
    """The leaf before *leaf*; nothing if that is the first."""
    return None if leaf.before == NONE else tree.leaves[leaf.before]


def leaf_of(leaf: Leaf) -> Borrowed:
    """*leaf*, of which the caller holds a reference."""
    return leaf


def count(leaf: Borrowed) -> int:
    """How many members *leaf* has."""
    return score_octets.count(leaf.marks)


def member_at(leaf: Borrowed, at: int) -> Text:
    """The member number *at* of *leaf*. O(1)."""
    text: bytes = leaf.member_at(at)
    return Text(text, len(text))


def score_bits_at(leaf: Borrowed, at: int) -> int:
    """The 64 bits of its score. O(1)."""
    bits: int = struct.unpack("<Q", struct.pack("<d", score_octets.score_at(leaf.marks, at)))[0]
    return bits
