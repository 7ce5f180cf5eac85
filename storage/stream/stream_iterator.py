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
from storage.listpack.listpack import Listpack
from storage.rax import rax_iterator
from storage.rax.rax import Rax
from storage.rax.rax_iterator import RaxIterator
from storage.stream import stream_id, stream_node
from storage.stream.stream_id import MAX, ZERO, StreamId

_UNKNOWN = 0  # no element is at 0: that is the listpack's header
_NONE = -1
_END = 0xFF  # the byte after the last element of a listpack


class StreamIterator:
    """The entries from *start* to *end*, both included, of the nodes in *nodes*; deleted ones not.

    ``next`` goes to the first and to each further entry. Entries may be appended or marked as
    deleted meanwhile, the current one through Stream.delete_current. A step is O(1); the first
    one is O(log N) and passes the entries of its node that lie outside of the range.
    """

    __slots__ = (
        "_after",
        "_end_ms",
        "_end_seq",
        "_name",
        "_name_index",
        "_node_ms",
        "_node_seq",
        "_nodes",
        "_over",
        "_reverse",
        "_start_ms",
        "_start_seq",
        "_steps_back",
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
        self._stand_nowhere(nodes, start, end, reverse)
        if not self._nodes.seek("<=", (end if reverse else start).key()) and not reverse:
            self._nodes.seek("^", b"")

    def _stand_nowhere(self, nodes: Rax, start: StreamId, end: StreamId, reverse: bool) -> None:
        self._start_ms, self._start_seq = start.ms, start.seq
        self._end_ms, self._end_seq = end.ms, end.seq
        self._reverse = reverse
        self._over = False
        self._steps_back = 0  # how many entries to go back at most, from the end of the first node
        self._nodes: RaxIterator = rax_iterator.new_iterator(nodes)
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
        self._name: bytes | None = None  # what place_of() has sought among the master's names
        self._name_index = _NONE  # which of them it is

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
            node = self.node
            if node is None:
                at = _NONE
            elif self._reverse:
                at = stream_node.entry_before(node, node.prev(self.entry_at))
            else:
                at = self._after if self._after != _UNKNOWN else node.next(self.end())
            while at == _NONE:
                at = self._enter_node()
                if self._over:
                    return False
            # 2. It does not count if it is deleted. Its id may be greater than those after it, in
            #    files from before Redis 7.0, so it does not end the walk either.
            if self._read_head(at) & stream_node.DELETED:
                continue
            # 3. Past the far bound of the range the walk is over; before the near one it goes on.
            is_early = self.ms < self._start_ms or (
                self.ms == self._start_ms and self.seq < self._start_seq
            )
            is_late = self.ms > self._end_ms or (
                self.ms == self._end_ms and self.seq > self._end_seq
            )
            if not is_early and not is_late:
                return True
            self._over = is_early if self._reverse else is_late
        return False

    def find(self, entry_id: StreamId) -> bool:
        """Go to the entry of that id, of a walk by new_finder(). False if there is none.

        O(log N + E); or O(the entries between) if the id before was less, and is in its node.
        """
        node = self.node
        is_on = node is not None and (
            entry_id.ms > self._start_ms
            or (entry_id.ms == self._start_ms and entry_id.seq > self._start_seq)
        )
        self._start_ms, self._start_seq = entry_id.ms, entry_id.seq
        at = self._past_current() if is_on else _NONE
        if at == _NONE and self._nodes.seek("<=", entry_id.key()):
            at = self._enter_node()
        while at != _NONE:
            is_deleted = self._read_head(at) & stream_node.DELETED
            if not is_deleted and self.ms == entry_id.ms and self.seq == entry_id.seq:
                return True
            if not is_deleted:
                self._after = at  # of a greater id, which may be sought next
                return False
            at = self._past_current()  # see next()
        self.node = None
        return False

    def _past_current(self) -> int:
        """Where the first entry after the current one is that does not come before the range.

        _NONE if its node has no such entry.
        """
        node = self.node
        assert node is not None
        if self._after == _UNKNOWN:
            self._after = node.next(self.end())
        return _NONE if self._after == _NONE else self._pass_by(node.data, self._after)

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

    def place_of(self, name: bytes) -> int:
        """Where the value of the current entry's first field *name* is; -1 without one. O(fields).

        Who goes on asking for that very object has the master's names compared once a node.
        """
        node = self.node
        assert node is not None
        data = node.data
        if self.same_fields:
            if self._name is not name:
                self._name = name
                self._name_index = stream_node.index_of_name(node, name)
            index = self._name_index
            return _NONE if index < 0 else _skip(data, self.fields_at, index)
        at = self.fields_at
        left = self.num_fields
        while left > 0:
            value_at = element_octets.after(data, at)
            if node.matches(at, name):
                return value_at
            at = element_octets.after(data, value_at)
            left -= 1
        return _NONE

    def value_of(self, name: bytes) -> bytes | None:
        """That value; None without one."""
        node = self.node
        at = self.place_of(name)
        return None if node is None or at < 0 else node.get_bytes(at)

    def key(self) -> bytes:
        """The rax key of the current entry's node."""
        return octets.id_key(self._node_ms, self._node_seq)

    def end(self) -> int:
        """Where the current entry's fields end: the position of its lp-count. O(fields)."""
        node = self.node
        assert node is not None
        values = self.num_fields if self.same_fields else 2 * self.num_fields
        return _skip(node.data, self.fields_at, values)

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

    def _enter_node(self) -> int:
        """Go to the next node of the walk; return where its first entry of the walk begins.

        _NONE if it has none, or if there are no more nodes: then the walk is over.
        """
        nodes = self._nodes
        if not (nodes.prev() if self._reverse else nodes.next()):
            self._over = True
            return _NONE
        node: Listpack = nodes.value
        self.node = node
        self._name = None
        key = nodes.current_key()
        self._node_ms, self._node_seq = octets.u64_be(key, 0), octets.u64_be(key, 8)
        at = _skip(node.data, stream_node.COUNT_AT, 2)
        self.master_fields = node.get_int(at)
        self.names_at = element_octets.after(node.data, at)
        if self._reverse:
            return stream_node.entry_before(node, node.last())
        if self._steps_back:
            at = self._step_back(node)
            if at != _UNKNOWN:
                return at
        return self._pass_by(node.data, _skip(node.data, self.names_at, self.master_fields + 1))

    def _step_back(self, node: Listpack) -> int:
        """As _pass_by() from the node's first entry on; _UNKNOWN if it is too far from the end."""
        at, steps = _NONE, self._steps_back
        self._steps_back = 0
        # A step back takes as long as to pass four entries.
        if element_octets.number_at(node.data, stream_node.COUNT_AT) <= 4 * steps:
            return _UNKNOWN
        before = stream_node.entry_before(node, node.last())
        while before != _NONE:
            if self._is_early(node.data, before):
                return at
            if steps == 0:
                break
            steps -= 1
            at = before
            before = stream_node.entry_before(node, node.prev(at))
        return _UNKNOWN

    def _is_early(self, data: bytearray, at: int) -> bool:
        """Whether the entry at *at* comes before the range."""
        ms_at = element_octets.after(data, at)
        seq_at = element_octets.after(data, ms_at)
        ms = octets.id_plus(self._node_ms, element_octets.number_at(data, ms_at))
        seq = octets.id_plus(self._node_seq, element_octets.number_at(data, seq_at))
        return ms < self._start_ms or (ms == self._start_ms and seq < self._start_seq)

    def _pass_by(self, data: bytearray, at: int) -> int:
        """Pass the entries from *at* on that come before the range; where the next one begins.

        _NONE if the node has no more. This looks at nothing but ids and sizes, because a walk that
        begins inside a node passes half of its entries on average.
        """
        while data[at] != _END:
            ms_at = element_octets.after(data, at)
            seq_at = element_octets.after(data, ms_at)
            ms = octets.id_plus(self._node_ms, element_octets.number_at(data, ms_at))
            seq = octets.id_plus(self._node_seq, element_octets.number_at(data, seq_at))
            if ms > self._start_ms or (ms == self._start_ms and seq >= self._start_seq):
                return at
            flags = element_octets.number_at(data, at)
            at = element_octets.after(data, seq_at)
            left = self.master_fields + 1  # elements up to the lp-count, which is one of them
            if not flags & stream_node.SAME_FIELDS:
                left = 2 * element_octets.number_at(data, at) + 2
            at = _skip(data, at, left)
        return _NONE

    def _read_head(self, at: int) -> int:
        """Read the entry at *at* up to its fields; return its flags."""
        node = self.node
        assert node is not None
        data = node.data
        self.entry_at = at
        flags = element_octets.number_at(data, at)
        at = element_octets.after(data, at)
        self.ms = octets.id_plus(self._node_ms, element_octets.number_at(data, at))
        at = element_octets.after(data, at)
        self.seq = octets.id_plus(self._node_seq, element_octets.number_at(data, at))
        at = element_octets.after(data, at)
        self.same_fields = flags & stream_node.SAME_FIELDS != 0
        if self.same_fields:
            self.num_fields = self.master_fields
        else:
            self.num_fields = element_octets.number_at(data, at)
            at = element_octets.after(data, at)
        self.fields_at = at
        self._after = _UNKNOWN
        return flags


def new_iterator(
    nodes: Rax, start: StreamId, end: StreamId, reverse: bool = False
) -> StreamIterator:
    """StreamIterator(...); compiled, it is faster than calling the class."""
    made = StreamIterator.__new__(StreamIterator)
    made._begin(nodes, start, end, reverse)  # noqa: SLF001 - this is its constructor
    return made


def new_follower(nodes: Rax, start: StreamId, few: int) -> StreamIterator:
    """A walk from *start* on, which is most often among the last *few* entries: O(few) to start.

    If it is not, that takes O(log N + E), as of other walks.
    """
    made = StreamIterator.__new__(StreamIterator)
    made._begin(nodes, start, MAX, False)  # noqa: SLF001 - as above
    made._steps_back = few  # noqa: SLF001
    return made


def new_finder(nodes: Rax) -> StreamIterator:
    """A walk for find() alone."""
    made = StreamIterator.__new__(StreamIterator)
    made._stand_nowhere(nodes, ZERO, ZERO, False)  # noqa: SLF001 - as above
    return made


def _skip(data: bytearray, at: int, elements: int) -> int:
    """The position of the element *elements* after the one at *at*."""
    while elements > 0:
        at = element_octets.after(data, at)
        elements -= 1
    return at
