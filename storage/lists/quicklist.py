# cython: boundscheck=False, wraparound=False
"""A list: a deque of listpacks, as Redis's quicklist.

    head                                                          tail
    [a, b, c, ..]  [d, e, ..]  "an element of its own"  [f, ..]  [g, h]
      listpack      listpack        plain node

A node is a listpack that holds as many elements as the fill allows, or plain: the bytes of one
element too large to be moved about in a listpack. No node is empty.

Source of the fill's meaning: list-max-listpack-size in redis.conf, https://redis.io/docs/latest/
"""

from __future__ import annotations

from collections.abc import Iterator

from storage import allocation
from storage.errors import Corrupt
from storage.listpack import listpack
from storage.listpack.listpack import Listpack
from storage.lists.node_deque import Node, NodeDeque, count_of
from storage.lists.quicklist_iterator import QuickListIterator

DEFAULT_FILL = -2
SMALLEST_FILL = -5
LARGEST_FILL = 32767
SMALLEST_LIMIT = 4096  # bytes a node for fill -1; each fill below doubles it
SAFE_LIMIT = 8192  # bytes a node where the fill counts elements
OVERHEAD = 8  # bytes; what an element has besides its text, estimated on the safe side
EMPTY_SIZE = 7  # bytes of a listpack without elements
NONE = -1
OBJECT = 64  # bytes, compiled
LARGEST_THRESHOLD = (1 << 32) - (1 << 20)

packed_threshold = 0  # bytes from which an element is plain; 0: the fill decides


def set_packed_threshold(size: int) -> bool:
    """Make elements of *size* bytes or more plain nodes; 0: only those that no node has room for.

    For debugging: it holds for all lists from now on. False if *size* is out of range.
    """
    global packed_threshold  # noqa: PLW0603  one for the whole process, as in Redis
    if not 0 <= size <= LARGEST_THRESHOLD:
        return False
    packed_threshold = size
    return True


def pack_of(node: Node | None) -> Listpack | None:
    """The node if it is a listpack; None if it is plain or none at all."""
    return node if isinstance(node, Listpack) else None


def plain_of(node: Node | None) -> bytes | None:
    """The node if it is plain; None if it is a listpack or none at all."""
    return node if isinstance(node, bytes) else None


class QuickList(NodeDeque):
    """A list of byte strings. Elements that are integers are kept as such, and read as text.

    *fill* is the config's list-max-listpack-size: -1 to -5 are nodes of at most 4, 8, 16, 32 or
    64 KB; a positive number is how many elements a node has at most.

    Indexes are redis's: 0 is the first, -1 the last. Operations at the ends are O(1); N is the
    number of nodes, and one node's bytes may be moved besides.
    """

    __slots__ = ()

    def __init__(self, fill: int = DEFAULT_FILL) -> None:
        self._begin(fill)

    def __del__(self) -> None:
        allocation.used -= OBJECT
        if self._outgrown:
            _discard(self._unfold())

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[bytes]:
        """All elements, first to last. The list must not change meanwhile."""
        walk = self.iterate()
        while walk.next():
            yield walk.value()

    def _begin(self, fill: int) -> None:
        self._clear()
        self.follow(fill)
        allocation.used += OBJECT

    def follow(self, fill: int) -> None:
        """Use *fill* from now on. Existing nodes stay as they are until they change."""
        self.fill = min(max(fill, SMALLEST_FILL), LARGEST_FILL)

    # ------------------------------------------------------------------ the ends

    def push_left(self, value: bytes) -> None:
        """Add *value* before the first element."""
        head = pack_of(self._head)
        if head is not None and self._has_room(head, len(value)):
            head.prepend(value)
        else:
            self._push_node_left(self._new_node(value))
            if head is not None:
                head.shrink()
        self.length += 1

    def push_right(self, value: bytes) -> None:
        """Add *value* after the last element."""
        tail = pack_of(self._tail)
        if tail is not None and self._has_room(tail, len(value)):
            tail.append(value)
        else:
            self._push_node_right(self._new_node(value))
            if tail is not None:
                tail.shrink()
        self.length += 1

    def pop_left(self) -> bytes | None:
        """Remove the first element and return it; None if there is none."""
        value: bytes | None
        pack = pack_of(self._head)
        if pack is not None:
            value = pack.take_first()
            if pack.count == 0:
                self._drop_head()
        else:
            value = plain_of(self._head)
            if value is None:
                return None
            allocation.used -= allocation.of_bytes(value)
            self._drop_head()
        self.length -= 1
        if self._outgrown:
            self._settle()
        return value

    def pop_right(self) -> bytes | None:
        """Remove the last element and return it; None if there is none."""
        value: bytes | None
        pack = pack_of(self._tail)
        if pack is not None:
            value = pack.take_last()
            if pack.count == 0:
                self._drop_tail()
        else:
            value = plain_of(self._tail)
            if value is None:
                return None
            allocation.used -= allocation.of_bytes(value)
            self._drop_tail()
        self.length -= 1
        if self._outgrown:
            self._settle()
        return value

    # ------------------------------------------------------------------ reading

    def get(self, index: int) -> bytes | None:
        """The element of that index, or None. O(N)."""
        walk = self.iterate(index)
        return walk.value() if walk.next() else None

    def range(self, start: int, stop: int) -> list[bytes]:
        """The elements from *start* to *stop*, both included. O(N + elements)."""
        first, count = self.bounds(start, stop)
        walk = self.iterate(first)
        found = []
        while count > 0 and walk.next():
            found.append(walk.value())
            count -= 1
        return found

    def bounds(self, start: int, stop: int) -> tuple[int, int]:
        """The index of the first element from *start* to *stop*, and how many there are."""
        first = max(start + self.length, 0) if start < 0 else min(start, self.length)
        last = max(stop + self.length, -1) if stop < 0 else min(stop, self.length - 1)
        return first, max(last - first + 1, 0)

    def iterate(self, index: int = 0, reverse: bool = False) -> QuickListIterator:
        """A walk from the element of that index on. O(N). The list must not change meanwhile."""
        if index < 0:
            index += self.length
        walk = QuickListIterator()
        if 0 <= index < self.length:
            node, within = self._locate(index)
            nodes = self._nodes if self._nodes is not None else [self._head]
            walk.begin(nodes, node, within, reverse)
        return walk

    def positions(self, value: bytes, rank: int = 1, count: int = 1, maxlen: int = 0) -> list[int]:
        """The indexes of elements equal to *value*, at most *count* of them (0: all).

        The first rank - 1 matches are passed over; with a negative *rank* the walk goes from the
        last element to the first. It compares at most *maxlen* elements (0: all). O(elements).
        """
        reverse = rank < 0
        to_skip = (-rank if reverse else rank) - 1
        left = maxlen if 0 < maxlen < self.length else self.length
        index = self.length - 1 if reverse else 0
        walk = self.iterate(index, reverse)
        found: list[int] = []
        while left > 0 and walk.next():
            if walk.matches(value):
                if to_skip > 0:
                    to_skip -= 1
                else:
                    found.append(index)
                    if len(found) == count:
                        break
            index += -1 if reverse else 1
            left -= 1
        return found

    # ------------------------------------------------------------------ changing

    def set(self, index: int, value: bytes) -> None:
        """Put *value* in place of an element. Raises IndexError if there is none. O(N)."""
        if index < 0:
            index += self.length
        if not 0 <= index < self.length:
            raise IndexError(index)
        nodes = self._unfold()
        i, within = self._locate(index)
        pack = pack_of(nodes[i])
        if pack is not None and not self._may_grow(pack, len(value), 1):
            self._outgrown = True  # Redis counts the old element's room as still in use
        if pack is None:
            _discard(nodes[i : i + 1])
            nodes[i] = self._new_node(value)
        else:
            at = pack.seek(within)
            old_size = pack.behind(at) - at
            if self._may_grow(pack, len(value) + OVERHEAD - old_size, 0) and not self._is_large(
                len(value)
            ):
                pack.replace(at, value)
                if pack.behind(at) - at > old_size:
                    pack.shrink()
            elif pack.count == 1:
                nodes[i] = self._new_node(value)
            else:
                pack.delete(at)
                self._insert_at(nodes, i, at, value)
        self._fold(nodes)
        self._settle()

    def insert(self, pivot: bytes, value: bytes, before: bool) -> bool:
        """Add *value* before or after the first element equal to *pivot*. O(elements).

        False if there is no such element.
        """
        walk = self.iterate()
        while walk.next():
            if walk.matches(pivot):
                i = walk.node - self._gap
                nodes = self._unfold()
                pack = pack_of(nodes[i])
                if pack is None:
                    self._insert_between(nodes, i if before else i + 1, value)
                else:
                    at = walk.at if before else pack.behind(walk.at)
                    self._insert_at(nodes, i, at, value)
                self.length += 1
                self._fold(nodes)
                return True
        return False

    def remove(self, count: int, value: bytes) -> int:
        """Remove the first *count* elements equal to *value* (negative: the last; 0: all).

        Returns how many were removed. O(elements).
        """
        nodes = self._unfold()
        left = abs(count) if count != 0 and -self.length < count else self.length
        removed = 0
        for step in range(len(nodes)):
            i = len(nodes) - 1 - step if count < 0 else step
            pack = pack_of(nodes[i])
            if pack is None:
                if plain_of(nodes[i]) == value:
                    _discard(nodes[i : i + 1])
                    nodes[i] = Listpack()
                    removed += 1
            elif count < 0:
                removed += _remove_last(pack, value, left - removed)
            else:
                removed += _remove_first(pack, value, left - removed)
            if removed == left:
                break
        if removed:
            self.length -= removed
            self._fold(self._merged(nodes))
            self._settle()
        return removed

    def trim(self, start: int, stop: int) -> None:
        """Keep only the elements from *start* to *stop*, both included. O(N)."""
        first, count = self.bounds(start, stop)
        nodes = self._unfold()
        if count == 0:
            _discard(nodes)
            nodes.clear()
        else:
            i, before = self._locate(first)
            j, last = self._locate(first + count - 1)
            pack = pack_of(nodes[j])
            if pack is not None:
                pack.delete_range(last + 1, pack.count)
            pack = pack_of(nodes[i])
            if pack is not None:
                pack.delete_range(0, before)
            _discard(nodes[j + 1 :])
            del nodes[j + 1 :]
            _discard(nodes[:i])
            del nodes[:i]
        self.length = count
        self._fold(nodes)
        self._settle()

    def copy(self) -> QuickList:
        """Another list of the same elements. O(bytes)."""
        made = new_quicklist(self.fill)
        for node in self.nodes():
            made.add_node(node.copy() if isinstance(node, Listpack) else node)
        made._outgrown = self._outgrown  # noqa: SLF001 - it is one of its own kind
        return made

    # ------------------------------------------------------------------ nodes, for the RDB

    @property
    def encoding(self) -> bytes:
        """The answer of OBJECT ENCODING: ``listpack`` as long as one listpack holds all elements.

        From then on it is ``quicklist``, until all elements fit into half a listpack: otherwise the
        encoding of a list near the limit would change with every push and pop.
        """
        return b"quicklist" if self._outgrown else b"listpack"

    def only_listpack(self) -> Listpack | None:
        """The listpack that the list consists of; None if it is more, or counts as a quicklist."""
        return None if self._outgrown else pack_of(self._head)

    def nodes(self) -> list[Node]:
        """All nodes. They belong to this list: nothing may be changed in them."""
        return list(self._unfold())

    def add_node(self, node: Node) -> None:
        """Add a node after the last; the list owns it from now on. Raises Corrupt if it is empty.

        A listpack from outside must have been checked before.
        """
        if isinstance(node, Listpack) and node.length() == 0:
            raise Corrupt("a list has an empty node")
        pack = pack_of(node)
        if pack is None or not self._may_grow(pack, 0, 0):
            self._outgrown = True
        if not isinstance(node, Listpack):
            allocation.used += allocation.of_bytes(node)
        self._push_node_right(node)
        self.length += count_of(node)

    # ------------------------------------------------------------------ what fits where

    def _node_limit(self) -> int:
        """How many bytes a listpack may have."""
        return SAFE_LIMIT if self.fill >= 0 else SMALLEST_LIMIT << (-self.fill - 1)

    def _is_large(self, size: int) -> bool:
        """Whether an element of *size* bytes is a node of its own.

        The packed threshold is for lists of several nodes: what fits into the only one stays there.
        """
        if packed_threshold and self._outgrown:
            return size >= packed_threshold
        return size > self._node_limit()

    def _may_grow(self, pack: Listpack, size: int, elements: int) -> bool:
        """Whether *pack* may have *size* bytes and so many elements more."""
        if pack.size + size > self._node_limit():
            return False
        return self.fill < 0 or pack.count + elements <= self.fill

    def _has_room(self, pack: Listpack, size: int) -> bool:
        """Whether one more element of *size* bytes may be in *pack*."""
        return self._may_grow(pack, size + OVERHEAD, 1) and not self._is_large(size)

    def _settle(self) -> None:
        """After a removal: become a listpack again if half a listpack has room for all."""
        pack = pack_of(self._head)
        if self._outgrown and self._nodes is None and pack is not None:
            if self.fill < 0:
                self._outgrown = pack.size > self._node_limit() >> 1
            else:
                self._outgrown = pack.count > self.fill >> 1

    def _new_node(self, value: bytes) -> Node:
        """A node for *value* alone."""
        if packed_threshold and self.length:
            self._outgrown = True  # there are other nodes already
        if self._is_large(len(value)):
            self._outgrown = True
            allocation.used += allocation.of_bytes(value)
            return value
        if self.length == 0 and EMPTY_SIZE + len(value) > self._node_limit():
            self._outgrown = True  # a listpack of it would be larger than one may be
        return listpack.of_one(value)

    def _insert_at(self, nodes: list[Node], i: int, at: int, value: bytes) -> None:
        """Add *value* at position *at* of the listpack *nodes[i]*; *at* may be its end."""
        pack = pack_of(nodes[i])
        assert pack is not None
        if self._has_room(pack, len(value)):
            pack.insert(at, value)
            pack.shrink()  # another insertion here is unlikely
        elif at == pack.first():
            self._insert_between(nodes, i, value)
        else:
            if at != pack.size - 1:
                nodes.insert(i + 1, pack.split(at))
            self._insert_between(nodes, i + 1, value)

    def _insert_between(self, nodes: list[Node], i: int, value: bytes) -> None:
        """Add *value* between the nodes i - 1 and *i*, or to one of them."""
        left = pack_of(nodes[i - 1]) if i > 0 else None
        right = pack_of(nodes[i]) if i < len(nodes) else None
        if left is not None and self._has_room(left, len(value)):
            left.append(value)
        elif right is not None and self._has_room(right, len(value)):
            right.prepend(value)
        else:
            nodes.insert(i, self._new_node(value))

    def _merged(self, nodes: list[Node]) -> list[Node]:
        """*nodes* without empty ones, with neighbours merged where one node has room for both."""
        kept: list[Node] = []
        left: Listpack | None = None
        for node in nodes:
            pack = pack_of(node)
            if pack is not None and pack.count == 0:
                continue
            if (
                left is not None
                and pack is not None
                and self._may_grow(left, pack.size - EMPTY_SIZE, pack.count)
            ):
                left.extend(pack)
                left.shrink()
            else:
                kept.append(node)
                left = pack
        return kept


def new_quicklist(fill: int) -> QuickList:
    """QuickList(fill); compiled, it is faster than calling the class."""
    made = QuickList.__new__(QuickList)
    made._begin(fill)  # noqa: SLF001 - this is its constructor
    return made


def _discard(nodes: list[Node]) -> None:
    """Subtract the plain ones of *nodes*, which are dropped, from the memory count."""
    for node in nodes:
        plain = plain_of(node)
        if plain is not None:
            allocation.used -= allocation.of_bytes(plain)


def _remove_first(pack: Listpack, value: bytes, limit: int) -> int:
    """Remove the first *limit* elements equal to *value*; return how many there were."""
    removed = 0
    at = pack.first()
    while at != NONE and removed < limit:
        if pack.matches(at, value):
            at = pack.delete(at)
            removed += 1
        else:
            at = pack.next(at)
    return removed


def _remove_last(pack: Listpack, value: bytes, limit: int) -> int:
    """Remove the last *limit* elements equal to *value*; return how many there were."""
    removed = 0
    at = pack.last()
    while at != NONE and removed < limit:
        before = pack.prev(at)
        if pack.matches(at, value):
            pack.delete(at)
            removed += 1
        at = before
    return removed
