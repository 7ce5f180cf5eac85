# cython: boundscheck=False, wraparound=False
"""The nodes of the radix tree (see storage/rax/rax.py), and how they are split and joined."""

from __future__ import annotations

from typing import Any, Final

from storage import allocation
from storage.rax import branches

ABSENT: Final = object()  # the value of a node where no key ends
ZEROS: Final = [bytes(n) for n in range(17)]
NODE_BYTES: Final = 48  # compiled
COUNTED: Final = 96  # bytes that a node counts for: itself, and a run that is not shared
BYTES_BYTES: Final = 33  # of a bytes object without its content


class Node:
    """A point where keys diverge or one ends. Compiled, its branches are a block of memory."""

    __slots__ = ("branches", "run", "tail", "value")

    branches: branches.Branches | None
    run: bytes
    tail: bytes
    value: Any  # held

    def __dealloc__(self) -> None:
        branches.let_go(self.value)
        branches.free(self.branches)


def new_node(run: bytes, value: Any) -> Node:
    """A node without branches."""
    node = Node.__new__(Node)
    node.run = run
    node.value = branches.hold(value)
    node.tail = b""
    node.branches = branches.none()
    allocation.used += COUNTED
    return node


def discard() -> None:
    """Undo what new_node added to the memory count; called when a node is dropped."""
    allocation.used -= COUNTED


EMPTY: Final = new_node(b"", ABSENT)  # the root of every tree without keys; it stays as it is
discard()  # no tree pays for it


def dismantle(node: Node) -> None:
    """Drop all nodes below *node*, without recursion: the tree may be deeper than the stack."""
    doomed = [node]
    while doomed:
        lower = doomed.pop()
        for index in range(branches.count(lower.branches)):
            child = branches.child(lower.branches, index)
            if type(child) is Node:
                doomed.append(child)
                discard()
        block = lower.branches
        lower.branches = branches.none()
        branches.free(block)


def value_of(node: Node) -> Any:
    """The value of the key that ends at *node*, or ABSENT."""
    return branches.held(node.value)


def has_value(node: Node) -> bool:
    """Whether a key ends at *node*."""
    return value_of(node) is not ABSENT


def set_value(node: Node, value: Any) -> None:
    """Set the value of the key that ends at *node*; ABSENT removes it."""
    old = node.value
    node.value = branches.hold(value)
    branches.let_go(old)


class Tree:
    """What the map and its iterators share: the root, and the counts.

    Without keys the root is EMPTY, so that a tree costs no node before it has a key. Compiled, the
    cyclic collector does not know trees: no value may refer to the tree that it is in.
    """

    __slots__ = ("changes", "node_count", "root", "size")

    root: Node
    size: int  # keys
    node_count: int  # as Redis would count the nodes
    changes: int  # how often the set of keys has changed: iterators seek again if it has


def rest_of(key: bytes, at: int) -> bytes:
    """What is left of *key* at *at*. Zeros are the rest of most ids, so those bytes are shared."""
    left = len(key) - at
    if left < len(ZEROS) and branches.is_rest(ZEROS[left], key, at):
        return ZEROS[left]
    return branches.cut(key, at, len(key))


def rest_length(node: Node, index: int) -> int:
    """How many bytes the keys of the child at *index* share after its edge."""
    child = branches.child(node.branches, index)
    if type(child) is not Node:
        return len(node.tail)
    lower: Node = child
    return len(lower.run)


def split(node: Node, at: int) -> None:
    """End *node* before byte *at* of its run; the rest of it becomes its only child."""
    lower = new_node(rest_of(node.run, at + 1), value_of(node))
    lower.tail = node.tail
    lower.branches = node.branches
    edge = node.run[at]
    node.run = rest_of(branches.cut(node.run, 0, at), 0)
    node.tail = b""
    set_value(node, ABSENT)
    node.branches = branches.insert(branches.none(), 0, edge, lower)
    unwrap(node, 0, lower)


def join(node: Node) -> None:
    """Undo a split: *node*, which has no value, becomes one with its only child."""
    child = branches.child(node.branches, 0)
    edge = branches.edge(node.branches, 0)
    lower: Node = child if type(child) is Node else wrap(node, 0)
    branches.free(node.branches)
    node.run = branches.joined(node.run, edge, lower.run)
    node.tail = lower.tail
    set_value(node, value_of(lower))
    node.branches = lower.branches
    lower.branches = branches.none()
    discard()


def wrap(node: Node, index: int) -> Node:
    """Make a node of the bare value at *index*."""
    leaf = new_node(node.tail, branches.child(node.branches, index))
    branches.put(node.branches, index, leaf)
    branches.count_bare(node.branches, -1)
    return leaf


def unwrap(node: Node, index: int, leaf: Node) -> None:
    """Make a bare value of *leaf*, the child at *index*, if it is one and its run fits the tail."""
    bare = branches.bare(node.branches)
    if branches.count(leaf.branches) == 0 and (bare == 0 or leaf.run == node.tail):
        node.tail = leaf.run
        branches.put(node.branches, index, value_of(leaf))
        branches.count_bare(node.branches, 1)
        discard()


def weight(node: Node) -> int:
    """About how many bytes *node* takes, its children not counted."""
    total = NODE_BYTES + branches.weight(node.branches)
    for part in (node.run, node.tail):
        if part and part is not ZEROS[min(len(part), len(ZEROS) - 1)]:
            total += BYTES_BYTES + len(part)
    return total


def check(node: Node, is_root: bool) -> int:
    """Assert that all below *node* has the form it should have; return the number of keys. O(N)."""
    siblings = branches.count(node.branches)
    keys = int(has_value(node))
    bare = 0
    assert is_root or keys or siblings > 1, "a node where nothing happens"
    assert keys or siblings != 1, "a node that was not joined with its only child"
    for index in range(siblings):
        edge = branches.edge(node.branches, index)
        assert branches.find(node.branches, edge) == index, "an edge that is not found"
        assert branches.place(node.branches, edge) == index, "edges that are not sorted"
        child = branches.child(node.branches, index)
        if type(child) is Node:
            lower: Node = child
            keys += check(lower, False)
        else:
            keys += 1
            bare += 1
    assert branches.bare(node.branches) == bare, "bare values miscounted"
    return keys
