"""The branches of a node of the radix tree: one for each byte with which a key can continue.

Compiled, the branches of a node are one block of memory (branches.pxd has the same functions on
raw pointers), and so the cyclic collector need not know the nodes; here they are two sequences:

    count  capacity  bare   child 0 .. child n-1   (room)   edge 0 .. edge n-1   (room)
      2       2     2 (+2)      8 bytes each                    1 byte each

The edges are sorted. No branches at all are None (NULL), not an empty block. *bare* is the number
of children that are bare values, a number which the node keeps here because there is room.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from storage import allocation

HEADER = 8  # bytes
BRANCH = 9  # a child and its edge


class Branches:
    __slots__ = ("bare", "children", "edges")

    def __init__(self) -> None:
        self.edges = bytearray()
        self.children: list[Any] = []
        self.bare = 0


def none() -> Branches | None:
    """No branches."""
    return None


def count(branches: Branches | None) -> int:
    """How many branches there are."""
    return 0 if branches is None else len(branches.edges)


def place(branches: Branches | None, byte: int) -> int:
    """The index of the first edge that is not below *byte*: where it is or would be inserted."""
    return 0 if branches is None else bisect_left(branches.edges, byte)


def find(branches: Branches | None, byte: int) -> int:
    """The index of the edge *byte*, or -1."""
    return -1 if branches is None else branches.edges.find(byte)


def edge(branches: Branches | None, index: int) -> int:
    """The byte at *index*, which must be there."""
    assert branches is not None
    return branches.edges[index]


def child(branches: Branches | None, index: int) -> Any:
    """The child at *index*, which must be there."""
    assert branches is not None
    return branches.children[index]


def put(branches: Branches | None, index: int, new: Any) -> None:
    """Replace the child at *index*."""
    assert branches is not None
    branches.children[index] = new


def insert(branches: Branches | None, index: int, byte: int, new: Any) -> Branches:
    """Insert a branch at *index*. The block may move: the result replaces it."""
    if branches is None:
        branches = Branches()
        allocation.used += HEADER
    allocation.used += BRANCH
    branches.edges.insert(index, byte)
    branches.children.insert(index, new)
    return branches


def remove(branches: Branches | None, index: int) -> Branches | None:
    """Drop the branch at *index*. The result replaces the block; None if that was the last."""
    assert branches is not None
    del branches.edges[index]
    del branches.children[index]
    allocation.used -= BRANCH
    if branches.edges:
        return branches
    allocation.used -= HEADER
    return None


def free(branches: Branches | None) -> None:
    """Remove all branches; the block must not be used again."""
    if branches is not None:
        allocation.used -= weight(branches)
        branches.edges.clear()
        branches.children.clear()


def bare(branches: Branches | None) -> int:
    """How many children are bare values."""
    return 0 if branches is None else branches.bare


def count_bare(branches: Branches | None, change: int) -> None:
    """Add *change* to the number of children that are bare values."""
    assert branches is not None
    branches.bare += change


def weight(branches: Branches | None) -> int:
    """The bytes that the block takes."""
    return 0 if branches is None else HEADER + BRANCH * len(branches.edges)


# ---------------------------------------------------------------------- one value


def hold(value: Any) -> Any:
    """An owned reference to *value*: the owner must pass it to let_go in the end."""
    return value


def held(reference: Any) -> Any:
    """The value that *reference* refers to."""
    return reference


def let_go(reference: Any) -> None:
    """Give up an owned reference; it must not be used again."""


# ---------------------------------------------------------------------- runs of bytes


def shared(run: bytes, key: bytes, at: int) -> int:
    """The length of the common prefix of *run* and ``key[at:]``."""
    length = min(len(run), len(key) - at)
    if run[:length] == key[at : at + length]:
        return length
    return next(n for n in range(length) if run[n] != key[at + n])


def is_rest(run: bytes, key: bytes, at: int) -> bool:
    """Whether ``key[at:]`` is *run*."""
    return key[at:] == run


def order(run: bytes, key: bytes, at: int) -> int:
    """Less than, equal to or greater than 0, as *run* compares with ``key[at:]``."""
    rest = key[at:]
    return (run > rest) - (run < rest)


def cut(text: bytes, start: int, end: int) -> bytes:
    """``text[start:end]``; the bounds must lie in *text*. Compiled, it makes no slice object."""
    return text[start:end]


def joined(path: bytes, byte: int, run: bytes) -> bytes:
    """*path*, then *byte*, then *run*."""
    return b"%b%c%b" % (path, byte, run)
