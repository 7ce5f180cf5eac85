# cython: boundscheck=False, wraparound=False
"""The nodes of a list, in order: a deque that takes little memory while it is short.

    one node          _head is _tail                _nodes is None
    several           _nodes  [None, None, _head, ..., _tail]
                              |-- _gap --|

Both ends are attributes; a Python list is made for more than one node only. The gap at its left end
makes adding and removing nodes O(1) there too.
"""

from __future__ import annotations

from typing import TypeAlias

from storage.listpack.listpack import Listpack

Node: TypeAlias = Listpack | bytes  # elements, or one that is a node of its own


def count_of(node: Node | None) -> int:
    """How many elements a node has; *node* must not be None."""
    if isinstance(node, Listpack):
        pack = node
        return pack.count
    return 1


class NodeDeque:
    """The nodes of a list; their number is N."""

    __slots__ = ("_gap", "_head", "_nodes", "_outgrown", "_tail", "fill", "length")

    _head: Node | None
    _tail: Node | None
    _nodes: list[Node | None] | None
    _gap: int
    _outgrown: bool  # it was more than one listpack, and has not shrunk to half of one since
    fill: int  # see QuickList; declared here it takes no memory, declared there 16 bytes
    length: int  # elements in all nodes; the methods that add and remove elements update it

    def _clear(self) -> None:
        self._head = self._tail = None
        self._nodes = None
        self._gap = 0
        self._outgrown = False
        self.length = 0

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        if self._nodes is not None:
            return len(self._nodes) - self._gap
        return 0 if self._head is None else 1

    def _push_node_left(self, node: Node) -> None:
        if self._head is None:
            self._tail = node
        else:
            nodes = self._several()
            if self._gap == 0:
                self._gap = len(nodes)
                nodes[:0] = [None] * self._gap
            self._gap -= 1
            nodes[self._gap] = node
        self._head = node

    def _push_node_right(self, node: Node) -> None:
        if self._tail is None:
            self._head = node
        else:
            self._several().append(node)
        self._tail = node

    def _several(self) -> list[Node | None]:
        """``_nodes``, which is made now if there was one node only."""
        if self._nodes is None:
            self._nodes = [self._head]
            self._outgrown = True
        return self._nodes

    def _drop_head(self) -> None:
        nodes = self._nodes
        if nodes is None:
            self._head = self._tail = None
        elif len(nodes) - self._gap == 2:
            self._head = self._tail
            self._nodes = None
            self._gap = 0
        else:
            nodes[self._gap] = None
            self._gap += 1
            self._head = nodes[self._gap]
            if 4 * self._gap > 3 * len(nodes):
                self._unfold()

    def _drop_tail(self) -> None:
        nodes = self._nodes
        if nodes is None:
            self._head = self._tail = None
        elif len(nodes) - self._gap == 2:
            self._tail = self._head
            self._nodes = None
            self._gap = 0
        else:
            nodes.pop()
            self._tail = nodes[len(nodes) - 1]

    def _unfold(self) -> list[Node]:
        """All nodes; if there are several, the list itself, not a copy. O(N)."""
        if self._nodes is None:
            return [] if self._head is None else [self._head]
        if self._gap:
            del self._nodes[: self._gap]
            self._gap = 0
        return self._nodes  # type: ignore[return-value]  # None is in the gap only

    def _fold(self, nodes: list[Node]) -> None:
        """Make *nodes*, which _unfold gave and the caller changed, the nodes of this list."""
        self._gap = 0
        self._head = nodes[0] if nodes else None
        self._tail = nodes[len(nodes) - 1] if nodes else None
        self._nodes = nodes if len(nodes) > 1 else None  # type: ignore[assignment]  # see _unfold
        if len(nodes) > 1:
            self._outgrown = True

    def _locate(self, index: int) -> tuple[int, int]:
        """The node that has the element of that index (not negative), and its index there. O(N).

        Nodes are numbered as in ``_nodes``, the gap included.
        """
        nodes = self._nodes
        if nodes is None:
            return 0, index
        if index <= self.length >> 1:
            i = self._gap
            count = count_of(nodes[i])
            while index >= count:
                index -= count
                i += 1
                count = count_of(nodes[i])
            return i, index
        i = len(nodes)
        behind = self.length - index  # elements from there to the end
        while behind > 0:
            i -= 1
            behind -= count_of(nodes[i])
        return i, -behind
