# cython: boundscheck=False, wraparound=False
"""An iterator over the keys of a radix tree (storage/rax/rax.py), and how it seeks a key."""

from __future__ import annotations

from typing import Any

from storage.rax import branches, rax_node
from storage.rax.rax_node import Node, Tree


class RaxIterator:
    """A place in a tree, moving in the order of the keys.

    After a seek the first next or prev gives the key that was sought. *valid* says whether there
    is a key; *key* and *value* are what was there on arrival. Keys may come and go meanwhile, the
    one at the place too: the next step is to the nearest key that is there then.
    """

    __slots__ = ("_changes", "_edge", "_fresh", "_index", "_node", "_path", "_tail", "_tree",
                 "valid", "value")  # fmt: skip

    _tree: Tree
    _node: Node
    _index: int  # the branch of _node where the bare value is; -1: it is _node's own
    _path: bytes  # the key up to the end of _node's run
    _edge: int
    _tail: bytes  # _edge and _tail are the rest of the key of a bare value
    _changes: int
    _fresh: bool
    valid: bool
    value: Any

    @property
    def key(self) -> bytes:
        """The key at this place."""
        return self.current_key()

    def current_key(self) -> bytes:
        """*key* as a method, for compiled callers. O(len(key)): the tree has it in pieces."""
        if self._index < 0:
            return self._path
        return branches.joined(self._path, self._edge, self._tail)

    def next(self) -> bool:
        """Go to the next key. False if there is none; the iterator is invalid then."""
        if self._fresh or not self.valid:
            self._fresh = False
            return self.valid
        if self._changes != self._tree.changes:
            return self._find_after(self.current_key(), False)
        if self._index + 1 < branches.count(self._node.branches):
            return self._first_from(self._node, self._index + 1, self._path)
        return self._find_after(self.current_key(), False)

    def prev(self) -> bool:
        """Go to the key before. False if there is none; the iterator is invalid then."""
        if self._fresh or not self.valid:
            self._fresh = False
            return self.valid
        if self._changes == self._tree.changes and self._index > 0:
            return self._last_from(self._node, self._index - 1, self._path)
        return self._find_before(self.current_key(), False)

    def seek(self, op: str, key: bytes = b"") -> bool:
        """Go to the key that Rax.seek describes. False if there is no such key.

        Raises ValueError for an unknown *op*.
        """
        root = self._tree.root
        or_equal = len(op) == 2 and op[1] == "="
        way = op[0] if len(op) == 1 or or_equal else " "  # compared as a number, not as a text
        if way == ">":
            self._find_after(key, or_equal)
        elif way == "<":
            self._find_before(key, or_equal)
        elif or_equal:
            raise ValueError(f"no such way to seek: {op}")
        elif way == "=":
            self.valid = self._find_after(key, True) and self.current_key() == key
        elif self._tree.size == 0 and way in ("^", "$"):
            self.valid = False
        elif way == "^":
            self._first_from(root, -1, root.run)
        elif way == "$":
            self._last_from(root, branches.count(root.branches) - 1, root.run)
        else:
            raise ValueError(f"no such way to seek: {op}")
        self._fresh = True
        return self.valid

    # ------------------------------------------------------------------ standing

    def _stand(self, node: Node, index: int, path: bytes, value: Any) -> bool:
        """Move to *value*: the bare one that is child *index* of *node*, or with -1 its own."""
        self._node = node
        self._index = index
        self._path = path  # the key up to *node*, and all of it if the value is the node's own
        if index >= 0:
            self._edge = branches.edge(node.branches, index)
            self._tail = node.tail
        self.value = value
        self.valid = True
        self._changes = self._tree.changes
        return True

    def _first_from(self, node: Node, index: int, path: bytes) -> bool:
        """Move to the smallest key of *node*, at which *path* ends, from branch *index* on.

        Its own key comes before its branches, as number -1.
        """
        while True:
            if index < 0:
                if rax_node.has_value(node):
                    return self._stand(node, -1, path, rax_node.value_of(node))
                index = 0
            child = branches.child(node.branches, index)
            if type(child) is not Node:
                return self._stand(node, index, path, child)
            edge = branches.edge(node.branches, index)
            node = child
            path = branches.joined(path, edge, node.run)
            index = -1

    def _last_from(self, node: Node, index: int, path: bytes) -> bool:
        """Move to the greatest key of *node*, at which *path* ends, up to branch *index*.

        Its own key comes before its branches, as number -1; then there must be one.
        """
        while index >= 0:
            child = branches.child(node.branches, index)
            if type(child) is not Node:
                return self._stand(node, index, path, child)
            edge = branches.edge(node.branches, index)
            node = child
            path = branches.joined(path, edge, node.run)
            index = branches.count(node.branches) - 1
        return self._stand(node, -1, path, rax_node.value_of(node))

    # ------------------------------------------------------------------ finding

    def _find_after(self, key: bytes, or_equal: bool) -> bool:
        """Move to the smallest key above *key* (or equal to it).

        1. Follow *key*, and remember the last branch on the way that lies after it.
        2. A run that differs: all keys of the node lie after *key* if it is greater, or if *key*
           ends in it; else none does.
        3. *key* ends at the node: its own value is equal, its branches lie after.
        4. A bare value at the branch for the next byte: compare what is left.
        5. With nothing found on the way itself, the branch of step 1 has the answer.
        """
        node = self._tree.root
        at = 0
        fork: Node | None = None
        fork_index = fork_at = 0
        while True:
            same = branches.shared(node.run, key, at)
            if same < len(node.run):  # 2
                if at + same == len(key) or key[at + same] < node.run[same]:
                    return self._first_from(node, -1, branches.cut(key, 0, at) + node.run)
                break
            at += same
            if at == len(key):  # 3
                if or_equal and rax_node.has_value(node):
                    return self._stand(node, -1, key, rax_node.value_of(node))
                if branches.count(node.branches) > 0:
                    return self._first_from(node, 0, key)
                break
            index = branches.place(node.branches, key[at])
            behind = index
            ahead = index < branches.count(node.branches)
            ahead = ahead and branches.edge(node.branches, index) == key[at]
            if behind + ahead < branches.count(node.branches):  # 1
                fork, fork_index, fork_at = node, behind + ahead, at
            if not ahead:
                break
            at += 1
            child = branches.child(node.branches, index)
            if type(child) is not Node:  # 4
                order = branches.order(node.tail, key, at)
                if order > 0 or (or_equal and order == 0):
                    return self._stand(node, index, branches.cut(key, 0, at - 1), child)
                break
            node = child
        if fork is not None:  # 5
            return self._first_from(fork, fork_index, branches.cut(key, 0, fork_at))
        self.valid = False
        return False

    def _find_before(self, key: bytes, or_equal: bool) -> bool:
        """Move to the greatest key below *key* (or equal to it).

        As _find_after, mirrored; but a key that ends on the way lies before *key* as well. It is
        remembered like a branch, with the index -1, as _last_from takes it.
        """
        node = self._tree.root
        at = 0
        fork: Node | None = None
        fork_index = fork_at = 0
        while True:
            same = branches.shared(node.run, key, at)
            if same < len(node.run):  # 2
                if at + same < len(key) and key[at + same] > node.run[same]:
                    index = branches.count(node.branches) - 1
                    return self._last_from(node, index, branches.cut(key, 0, at) + node.run)
                break
            at += same
            if at == len(key):  # 3
                if or_equal and rax_node.has_value(node):
                    return self._stand(node, -1, key, rax_node.value_of(node))
                break
            index = branches.place(node.branches, key[at])
            if index > 0 or rax_node.has_value(node):  # 1
                fork, fork_index, fork_at = node, index - 1, at
            if index == branches.count(node.branches):
                break
            if branches.edge(node.branches, index) != key[at]:
                break
            at += 1
            child = branches.child(node.branches, index)
            if type(child) is not Node:  # 4
                order = branches.order(node.tail, key, at)
                if order < 0 or (or_equal and order == 0):
                    return self._stand(node, index, branches.cut(key, 0, at - 1), child)
                break
            node = child
        if fork is None:  # 5
            self.valid = False
            return False
        return self._last_from(fork, fork_index, branches.cut(key, 0, fork_at))


def new_iterator(tree: Tree) -> RaxIterator:
    """An iterator before its first seek."""
    made = RaxIterator.__new__(RaxIterator)
    made._tree = tree  # noqa: SLF001 - this is its constructor
    made.valid = False
    made._fresh = True  # noqa: SLF001
    return made
