# cython: boundscheck=False, wraparound=False
"""The radix tree: byte strings to objects, in order; a shared prefix is stored once.

    keys        3 5 0    3 5 1    3 5 2    3 6 0    3 7 0    3 7 0 4        (a digit is a byte)
    values        A        B        C        D        E         F

    Node  run 3   tail 0                       run: the bytes that all keys below go on with
     |
     +-- 5 --> Node  run -   tail -            an edge is the one byte in which the keys differ
     |          +-- 0 --> A
     |          +-- 1 --> B
     |          +-- 2 --> C
     +-- 6 --> D                               the rest of its key, 0, is the node's tail
     +-- 7 --> Node  run 0   value E           a key that ends at a node has its value there
                +-- 4 --> F

A key that branches off alone is a leaf. If what is left of it is the node's tail, the leaf is the
bare value, without an object around it: 9 bytes. Stream ids mostly are such leaves: those of one
millisecond differ in the last byte, and those of many milliseconds all end in the same sequence
number 0. Any other leaf is a node without branches.

Below each node at least two keys part, or a key ends at it: on removal a node that is neither is
joined with its only child. A tree without keys has a root that all such trees share.

Redis's rax makes more nodes of the same keys, and its users can read the number of them. It has a
node for the empty prefix, one where a key ends, one where keys part, and one after each byte in
which they do; that number is kept here. (Redis does not join nodes below a key which is the
beginning of others, so there it may have more after a removal. Stream ids are all of one length.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from storage import allocation
from storage.rax import branches, rax_iterator, rax_node
from storage.rax.rax_iterator import RaxIterator
from storage.rax.rax_node import Node, Tree

OBJECT = 64  # bytes, compiled


class Rax(Tree):
    """A sorted map of bytes to objects of any kind.

    insert, find and remove are O(len(key)), whatever the number of keys. The values must not
    refer to the tree: such a cycle would never be freed.
    """

    __slots__ = ()

    def __init__(self) -> None:
        self.root = rax_node.EMPTY
        self.size = 0
        self.changes = 0
        self.node_count = 1
        allocation.used += OBJECT

    def __len__(self) -> int:
        return self.size

    def __contains__(self, key: bytes) -> bool:
        return self.find(key, rax_node.ABSENT) is not rax_node.ABSENT

    def __iter__(self) -> Iterator[tuple[bytes, Any]]:
        """All keys and values in order; keys may be inserted and removed meanwhile."""
        at = self.seek("^")
        while at.next():
            yield at.key, at.value

    def find(self, key: bytes, default: Any = None) -> Any:
        """The value at *key*, or *default*."""
        node = self.root
        at = 0
        while branches.shared(node.run, key, at) == len(node.run):
            at += len(node.run)
            if at == len(key):
                value = rax_node.value_of(node)
                return default if value is rax_node.ABSENT else value
            index = branches.find(node.branches, key[at])
            if index < 0:
                break
            at += 1
            child = branches.child(node.branches, index)
            if type(child) is not Node:
                return child if branches.is_rest(node.tail, key, at) else default
            node = child
        return default

    # ------------------------------------------------------------------ insertion

    def insert(self, key: bytes, value: Any) -> Any:
        """Put *value* at *key*; return the value that it replaces, or None.

        1. Follow the node's run. If the key leaves it or ends in it, split the node there.
        2. If the key ends at the node, its value goes there.
        3. If no branch has the key's next byte, what is left of the key becomes a leaf.
        4. If that branch is a bare value whose rest of the key is the same, replace it. If it is
           another, make a node of it: the rest is a run now, which step 1 will split.
        5. Go on with the node at that branch.
        """
        if self.size == 0:
            self.root = rax_node.new_node(key, rax_node.ABSENT)
            self.node_count = 2 if key else 1
        node = self.root
        at = 0
        apart = True  # does Redis have a node where the run begins?
        while True:
            same = branches.shared(node.run, key, at)  # 1
            at += same
            if same < len(node.run):
                self.node_count += not (apart and same == 0)
                rax_node.split(node, same)
            if at == len(key):  # 2
                old = rax_node.value_of(node)
                rax_node.set_value(node, value)
                if old is not rax_node.ABSENT:
                    return old
                break
            index = branches.find(node.branches, key[at])
            if index < 0:  # 3
                self._add_leaf(node, key, at, value)
                break
            at += 1
            child = branches.child(node.branches, index)
            if type(child) is not Node:  # 4
                if branches.is_rest(node.tail, key, at):
                    branches.put(node.branches, index, value)
                    return child
                child = rax_node.wrap(node, index)
            apart = branches.count(node.branches) > 1  # 5
            node = child
        self.size += 1
        self.changes += 1
        return None

    def _add_leaf(self, node: Node, key: bytes, at: int, value: Any) -> None:
        """Add a leaf for *key*, which leaves the tree at *node* with its byte *at*."""
        siblings = branches.count(node.branches)
        self.node_count += 1
        if siblings > 0:
            self.node_count += at + 1 < len(key)
        if siblings == 1:
            self.node_count += rax_node.rest_length(node, 0) > 0
        index = branches.place(node.branches, key[at])
        if branches.bare(node.branches) == 0:
            node.tail = rax_node.rest_of(key, at + 1)
        if branches.is_rest(node.tail, key, at + 1):
            node.branches = branches.insert(node.branches, index, key[at], value)
            branches.count_bare(node.branches, 1)
        else:
            leaf = rax_node.new_node(rax_node.rest_of(key, at + 1), value)
            node.branches = branches.insert(node.branches, index, key[at], leaf)

    # ------------------------------------------------------------------ removal

    def remove(self, key: bytes, default: Any = None) -> Any:
        """Remove *key* and return its value, or *default* if it does not exist.

        1. Find the place of the key, and remember the two nodes that lead there.
        2. If the key ends at a node with branches, forget the value there; the node may have to
           be joined with its only child (see _mend).
        3. If it is a leaf, cut it off; the node above may have to be joined or be a leaf now.
        4. The last key is the root's run: without it the tree is empty.
        """
        node = self.root  # 1
        above: Node | None = None
        top: Node | None = None
        index = top_index = at = 0
        while True:
            if branches.shared(node.run, key, at) < len(node.run):
                return default
            at += len(node.run)
            if at == len(key):
                break
            branch = branches.find(node.branches, key[at])
            if branch < 0:
                return default
            at += 1
            child = branches.child(node.branches, branch)
            if type(child) is not Node:
                if not branches.is_rest(node.tail, key, at):
                    return default
                branches.count_bare(node.branches, -1)  # 3
                self._cut(node, branch, len(node.tail))
                self._mend(node, above, index)
                return child
            top, top_index = above, index
            above, index = node, branch
            node = child
        value = rax_node.value_of(node)
        if value is rax_node.ABSENT:
            return default
        if branches.count(node.branches) > 0:  # 2
            rax_node.set_value(node, rax_node.ABSENT)
            self.size -= 1
            self.changes += 1
            self._mend(node, above, index)
        elif above is not None:  # 3
            self._cut(above, index, len(node.run))
            rax_node.discard()
            self._mend(above, top, top_index)
        else:  # 4
            self.clear()
        return value

    def _cut(self, node: Node, index: int, rest: int) -> None:
        """Cut off the leaf at *index*, a key's last *rest* bytes."""
        siblings = branches.count(node.branches) - 1
        node.branches = branches.remove(node.branches, index)
        self.node_count -= 1
        if siblings > 0:
            self.node_count -= rest > 0
        if siblings == 1:
            self.node_count -= rax_node.rest_length(node, 0) > 0
        self.size -= 1
        self.changes += 1

    def _mend(self, node: Node, above: Node | None, index: int) -> None:
        """Give *node*, the child at *index* of *above*, the form that its keys require now.

        1. With one branch and no value it is joined with that child.
        2. Without branches it is a leaf, which may do as a bare value.
        """
        if not rax_node.has_value(node) and branches.count(node.branches) == 1:  # 1
            apart = above is None or branches.count(above.branches) > 1
            self.node_count -= not (apart and not node.run)
            rax_node.join(node)
        if above is not None and branches.count(node.branches) == 0:  # 2
            rax_node.unwrap(above, index, node)

    def clear(self) -> None:
        """Forget all keys. O(N)."""
        root = self.root
        if branches.bare(root.branches) < branches.count(root.branches):
            rax_node.dismantle(root)
        else:
            branches.free(root.branches)
            root.branches = branches.none()
        if self.size > 0:
            rax_node.discard()
            self.root = rax_node.EMPTY
            self.size = 0
            self.changes += 1
            self.node_count = 1

    def __del__(self) -> None:
        self.clear()
        allocation.used -= OBJECT

    # ------------------------------------------------------------------ order

    def first(self) -> tuple[bytes, Any] | None:
        """The smallest key and its value, or None."""
        at = self.seek("^")
        return (at.key, at.value) if at.valid else None

    def last(self) -> tuple[bytes, Any] | None:
        """The greatest key and its value, or None."""
        at = self.seek("$")
        return (at.key, at.value) if at.valid else None

    def seek(self, op: str, key: bytes = b"") -> RaxIterator:
        """An iterator that stands at a key of the tree, if there is such a key.

        *op* is ``>=``, ``>``, ``<=``, ``<`` or ``=`` for the nearest such key to *key*, ``^`` for
        the first of all, ``$`` for the last.
        """
        made = rax_iterator.new_iterator(self)
        made.seek(op, key)
        return made

    def weight(self) -> int:
        """About how many bytes the nodes take, values not counted. O(N), N being node objects."""
        total = 0
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            total += rax_node.weight(node)
            for index in range(branches.count(node.branches)):
                child = branches.child(node.branches, index)
                if type(child) is Node:
                    waiting.append(child)
        return total

    def check(self) -> None:
        """Raise AssertionError unless the tree has the form that its keys require. O(N)."""
        assert rax_node.check(self.root, True) == self.size, "keys miscounted"
