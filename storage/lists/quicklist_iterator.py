# cython: boundscheck=False, wraparound=False
"""Walking over the elements of a list, in either direction, without making an object for each."""

from __future__ import annotations

from octets import buffers
from storage import octets
from storage.listpack.listpack import Element, Listpack
from storage.lists.node_deque import Node

NONE = -1
PLAIN = 0  # stands for the position of the one element of a plain node


class QuickListIterator:
    """A walk over a list, made by QuickList.iterate. The list must not change meanwhile.

    After each next() that returns True the element is *plain* if that is not None; else *number*
    if *is_int*; else the *size* bytes of *data* from *start* on.
    """

    __slots__ = (
        "_element",
        "_nodes",
        "_reverse",
        "_upcoming",
        "at",
        "data",
        "is_int",
        "node",
        "number",
        "pack",
        "plain",
        "size",
        "start",
    )

    def __init__(self) -> None:
        self._element = Element()
        self._nodes: list[Node | None] = []
        self.pack: Listpack | None = None  # the current node if it is not plain
        self._upcoming = NONE  # the position there of the element that next() goes to
        self._reverse = False
        self.node = 0  # the index of the current node
        self.at = NONE  # the current element's position there
        self.plain: bytes | None = None
        self.is_int = False
        self.number = 0
        self.data: bytearray | None = None
        self.start = 0
        self.size = 0

    def begin(self, nodes: list[Node | None], node: int, index: int, reverse: bool) -> None:
        """Start so that next() goes to the element *index* of the node *node* of *nodes*.

        There must be that element. Before the first node there may be None.
        """
        self._nodes = nodes
        self._reverse = reverse
        self._enter(node)
        if self.pack is not None:
            self._upcoming = self.pack.seek(index)

    def next(self) -> bool:
        """Go to the next element. False if there is none. O(1)."""
        if self._upcoming == NONE and not self._next_node():
            return False
        self.at = self._upcoming
        if self.pack is None:
            self._upcoming = NONE
        else:
            self._read(self.pack)
        return True

    def next_run(self) -> bool:
        """Go to the next element, past the end of a node, too. False if there is none.

        So the caller has the elements of *pack* from *at* on to read, or *plain* alone.
        """
        if self._upcoming == NONE and not self._next_node():
            return False
        self.at = self._upcoming
        self._upcoming = NONE
        return True

    def _read(self, pack: Listpack) -> None:
        element = self._element
        after = pack.read(self.at, element)
        self.is_int = element.is_int
        self.number = element.number
        self.start = element.start
        self.size = element.size
        self._upcoming = pack.prev(self.at) if self._reverse else after

    def _next_node(self) -> bool:
        """Go to the next node, if there is one."""
        node = self.node + (-1 if self._reverse else 1)
        if not 0 <= node < len(self._nodes) or self._nodes[node] is None:
            return False
        self._enter(node)
        return True

    def _enter(self, index: int) -> None:
        """Make the node of that index the current one."""
        node = self._nodes[index]
        self.node = index
        if isinstance(node, Listpack):
            pack = node
            self.pack = pack
            self._upcoming = pack.last() if self._reverse else pack.first()
            self.data = pack.data
            self.plain = None
        else:
            self.pack = None
            self._upcoming = PLAIN
            self.data = None
            self.plain = node

    def value(self) -> bytes:
        """The current element."""
        if self.plain is not None:
            return self.plain
        if self.is_int:
            return octets.decimal(self.number)
        assert self.data is not None
        return buffers.cut(self.data, self.start, self.start + self.size)

    def matches(self, value: bytes) -> bool:
        """Whether the current element is *value*."""
        if self.pack is None:
            return self.plain == value
        return self.pack.matches(self.at, value)
