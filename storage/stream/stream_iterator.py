# cython: boundscheck=False, wraparound=False
"""Walking over the entries of a stream, in either direction.

The walk stops at one entry at a time and says where its elements are, so that a reader takes them
straight from the bytes of the listpack:

    node                          fields_at                        (with the master's fields)
    [master: ... | name ...]  ..  [flags | ms | seq | value ...    | lp-count]  ..
                   names_at        entry_at

    entry with its own fields:    fields_at -> name, value, name, value, ...
"""

from __future__ import annotations

from storage import octets
from storage.listpack import element_octets
from storage.listpack.listpack import Element, Listpack
from storage.rax.rax import Rax
from storage.rax.rax_iterator import RaxIterator
from storage.stream import stream_id, stream_node
from storage.stream.stream_id import StreamId

_UNKNOWN = 0  # no element is at 0: that is the listpack's header
_NONE = -1
_SMALL = 0x80  # an element that begins with less is just that number, and a byte of backlen
_END = 0xFF  # the byte after the last element of a listpack


class StreamIterator:
    """The entries from *start* to *end*, both included, of the nodes in *nodes*; deleted ones not.

    ``next`` goes to the first and to each further entry. Entries may be appended or marked as
    deleted meanwhile, the current one through Stream.delete_current. A step is O(1); the first
    one is O(log N) and passes the entries of its node that lie outside of the range.
    """

    __slots__ = (
        "_after",
        "_element",
        "_end_ms",
        "_end_seq",
        "_node_ms",
        "_node_seq",
        "_nodes",
        "_number",
        "_over",
        "_reverse",
        "_start_ms",
        "_start_seq",
        "entry_at",
        "fields_at",
        "master_fields",
        "ms",
        "names_at",
        "node",
        "num_fields",
        "same_fields",
        "seq",
    )

    def __init__(self, nodes: Rax, start: StreamId, end: StreamId, reverse: bool = False) -> None:
        self._begin(nodes, start, end, reverse)

    def _begin(self, nodes: Rax, start: StreamId, end: StreamId, reverse: bool) -> None:
        self._start_ms, self._start_seq = start.ms, start.seq
        self._end_ms, self._end_seq = end.ms, end.seq
        self._reverse = reverse
        self._over = False
        self._nodes: RaxIterator = nodes.seek("<=", (end if reverse else start).key())
        if not self._nodes.valid and not reverse:
            self._nodes = nodes.seek("^", b"")
        self.node: Listpack | None = None  # the node of the current entry
        self._node_ms = self._node_seq = 0
        self.master_fields = 0  # how many names the node's master entry has
        self.names_at = _NONE  # where the first of them is
        self.ms = self.seq = 0  # the current entry's id
        self.entry_at = _NONE  # where its flags are
        self.same_fields = False  # whether its names are the master entry's
        self.num_fields = 0
        self.fields_at = _NONE  # where its first value is, or its first name if it has its own
        self._after = _UNKNOWN  # forward: where the next entry begins
        self._number = 0  # the integer that was read last
        self._element = Element()

    @property
    def id(self) -> StreamId:
        """The current entry's id."""
        return self.current_id()

    def current_id(self) -> StreamId:
        """*id* as a method, for compiled callers."""
        return stream_id.make_id(self.ms, self.seq)

    def next(self) -> bool:
        """Go to the next entry of the range. False if there is none."""
        while not self._over:
            # 1. To the entry after this one in the walk, over the bounds of nodes.
            at = _NONE if self.node is None else self._step()
            while at == _NONE:
                if not self._enter_node():
                    self._over = True
                    return False
                at = self._edge()
            # 2. It does not count if it is deleted. Its id may be greater than those after it, in
            #    files from before Redis 7.0, so it does not end the walk either.
            flags = self._read_head(at)
            if flags & stream_node.DELETED:
                continue
            # 3. Past the far bound of the range the walk is over; before the near one it goes on.
            if self._is_past():
                self._over = True
                break
            if not self._is_early():
                return True
        return False

    def read_fields(self) -> list[bytes]:
        """The current entry's fields: name, value, name, value, ..."""
        node = self.node
        if node is None:
            return []
        fields: list[bytes] = []
        name_at = self.names_at
        at = self.fields_at
        for _ in range(self.num_fields):
            if self.same_fields:
                fields.append(node.get_bytes(name_at))
                name_at = node.next(name_at)
            else:
                fields.append(node.get_bytes(at))
                at = node.next(at)
            fields.append(node.get_bytes(at))
            at = node.next(at)
        return fields

    def key(self) -> bytes:
        """The rax key of the current entry's node."""
        return octets.id_key(self._node_ms, self._node_seq)

    def end(self) -> int:
        """Where the current entry's fields end: the position of its lp-count. O(fields)."""
        node = self.node
        assert node is not None
        values = self.num_fields if self.same_fields else 2 * self.num_fields
        return skip(node, self.fields_at, values)

    def passed(self, lp_count_at: int) -> None:
        """Tell the walk that the current entry was read: its lp-count is at *lp_count_at*.

        So the walk does not have to skip over its fields again.
        """
        node = self.node
        assert node is not None
        self._after = node.next(lp_count_at)

    def shifted(self, by: int) -> None:
        """The node's bytes from the master entry's field names on have moved."""
        self.names_at += by
        self.entry_at += by
        self.fields_at += by
        if self._after > 0:
            self._after += by

    def leave_node(self) -> None:
        """Continue with the next node, because the current one was removed."""
        self.node = None

    # ------------------------------------------------------------------ steps

    def _enter_node(self) -> bool:
        """Go to the next node of the walk and read its master entry."""
        nodes = self._nodes
        if not (nodes.prev() if self._reverse else nodes.next()):
            return False
        node: Listpack = nodes.value
        self.node = node
        key = nodes.current_key()
        self._node_ms, self._node_seq = octets.u64_be(key, 0), octets.u64_be(key, 8)
        at = node.next(node.next(stream_node.COUNT_AT))
        self.master_fields = node.get_int(at)
        self.names_at = node.next(at)
        return True

    def _edge(self) -> int:
        """Where the node's first entry of the walk begins."""
        node = self.node
        assert node is not None
        if self._reverse:
            return stream_node.entry_before(node, node.last())
        at = skip(node, self.names_at, self.master_fields)  # the master entry's closing 0
        return self._pass_by(_behind(node.data, at))

    def _pass_by(self, at: int) -> int:
        """Pass the entries from *at* on that come before the range; where the next one begins.

        _NONE if the node has no more. This looks at nothing but ids and sizes, because a walk that
        begins inside a node passes half of its entries on average.
        """
        node = self.node
        assert node is not None
        data = node.data
        while data[at] != _END:
            ms_at = _behind(data, at)
            seq_at = _behind(data, ms_at)
            self.ms = stream_node.undelta(self._node_ms, element_octets.number_at(data, ms_at))
            self.seq = stream_node.undelta(self._node_seq, element_octets.number_at(data, seq_at))
            if not self._is_before_start():
                return at
            left = self.master_fields + 1  # elements up to the lp-count, which is one of them
            if not element_octets.number_at(data, at) & stream_node.SAME_FIELDS:
                left = 2 * element_octets.number_at(data, _behind(data, seq_at)) + 2
            at = _behind(data, seq_at)
            while left > 0:
                at = _behind(data, at)
                left -= 1
        return _NONE

    def _step(self) -> int:
        """Where the entry after the current one in the walk begins; _NONE at the node's end."""
        node = self.node
        assert node is not None
        if self._reverse:
            return stream_node.entry_before(node, node.prev(self.entry_at))
        if self._after == _UNKNOWN:
            self._after = node.next(self.end())
        return self._after

    def _read_head(self, at: int) -> int:
        """Read the entry at *at* up to its fields; return its flags."""
        node = self.node
        assert node is not None
        self.entry_at = at
        at = self._read_number(node, at)
        flags = self._number
        at = self._read_number(node, at)
        self.ms = stream_node.undelta(self._node_ms, self._number)
        at = self._read_number(node, at)
        self.seq = stream_node.undelta(self._node_seq, self._number)
        self.same_fields = flags & stream_node.SAME_FIELDS != 0
        if self.same_fields:
            self.num_fields = self.master_fields
        else:
            at = self._read_number(node, at)
            self.num_fields = self._number
        self.fields_at = at
        self._after = _UNKNOWN
        return flags

    def _read_number(self, node: Listpack, at: int) -> int:
        """Read the integer at *at* into _number; return the next element's position."""
        head = node.data[at]
        if head < _SMALL:
            self._number = head
            return at + 2
        at = node.read(at, self._element)
        self._number = self._element.number
        return at

    def _is_before_start(self) -> bool:
        return self.ms < self._start_ms or (
            self.ms == self._start_ms and self.seq < self._start_seq
        )

    def _is_after_end(self) -> bool:
        return self.ms > self._end_ms or (self.ms == self._end_ms and self.seq > self._end_seq)

    def _is_past(self) -> bool:
        return self._is_before_start() if self._reverse else self._is_after_end()

    def _is_early(self) -> bool:
        return self._is_after_end() if self._reverse else self._is_before_start()


def new_iterator(
    nodes: Rax, start: StreamId, end: StreamId, reverse: bool = False
) -> StreamIterator:
    """StreamIterator(...); compiled, it is faster than calling the class."""
    made = StreamIterator.__new__(StreamIterator)
    made._begin(nodes, start, end, reverse)  # noqa: SLF001 - this is its constructor
    return made


def _behind(data: bytearray, at: int) -> int:
    """The position of the element after the one at *at*."""
    size = element_octets.encoded_size(data, at)
    return at + size + element_octets.backlen_size(size)


def skip(node: Listpack, at: int, elements: int) -> int:
    """The position of the element *elements* after the one at *at*."""
    while elements > 0:
        at = node.behind(at)
        elements -= 1
    return at
