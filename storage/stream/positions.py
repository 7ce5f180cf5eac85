# cython: boundscheck=False, wraparound=False
"""How many living entries of a stream lie before an id, and which entry is the n-th one.

A radix tree of nodes cannot count what lies before a key. So this keeps the counts of blocks of up
to NODES consecutive nodes each, one row a block:

    row     ms  seq    8 + 8  the key of the block's first node, when it was made
            count      8      living entries of the block's nodes
            sum        8      the counts of this row and of those before it, as many in all as the
                              lowest bit of the row's number says: a Fenwick tree

    nodes   [n n n n] [n n n .]                     number, from 1   1    2    3    4    5    6
    rows     k  312    k  207       sums of counts                   1   1-2   3   1-4   5   5-6

The entries before an id are the sum of the blocks before its block, O(log blocks), then the header
of each node of its block before its node, then the entries of that node before it. The n-th entry
is found the same way. A stream adds only after its last entry, so only the last block ever gets
nodes; a block ends where the next one begins, whatever nodes are left in it. A rewritten node keeps
its key and its living entries: nothing changes here. Rows without entries stay until they are more
than half of all, or until entries are added to a node before them.

This is made when a command first asks, from the headers of all nodes; from then on the stream tells
it of each entry that comes or goes. A stream that is never asked has none. It is neither stored in
an RDB nor copied.

    Positions    64 bytes
    rows         64, and 32 bytes for each block
"""

from __future__ import annotations

from typing import Final

from octets import buffers
from storage import allocation, octets
from storage.listpack import element_octets
from storage.listpack.listpack import Listpack
from storage.rax.rax import Rax
from storage.rax.rax_iterator import RaxIterator
from storage.stream import stream_id, stream_node
from storage.stream.stream_id import StreamId

NODES: Final = 16  # of a block, at most
FEW: Final = 16  # rows; so many are not made fewer
OBJECT: Final = 128  # bytes, compiled, with the empty rows
_NODES: Final = NODES  # the same as C numbers
_FEW: Final = FEW
_OBJECT: Final = OBJECT
_ROW = 32
_SEQ = 8
_COUNT = 16
_SUM = 24
_MIDDLE = 2**63  # less this, unsigned numbers sort as signed ones do


class Positions:
    """The counts of the nodes of *rax*. N is the number of nodes, E that of a node's entries."""

    __slots__ = ("_empty", "_nodes", "_rax", "_rows", "blocks")

    def __init__(self, rax: Rax) -> None:
        """Count what is there. O(N)."""
        self._rax = rax
        self._rows = bytearray()
        self._nodes = 0  # that the last block was given
        self._empty = 0  # blocks without entries
        self.blocks = 0
        allocation.used += _OBJECT + octets.capacity(self._rows)
        place = rax.seek("^", b"")
        while place.next():
            node: Listpack = place.value
            key = place.current_key()
            ms, seq = octets.u64_be(key, 0), octets.u64_be(key, 8)
            self.node_added(ms, seq)
            self.changed(ms, seq, stream_node.alive(node))

    def __del__(self) -> None:
        allocation.used -= _OBJECT + octets.capacity(self._rows)

    # ------------------------------------------------------------------ what the stream tells

    def node_added(self, ms: int, seq: int) -> None:
        """A node without entries has been put after all others, at the key *ms*, *seq*.

        O(1), and O(log blocks) for one node in NODES.
        """
        if self.blocks == 0 or self._nodes >= _NODES:
            self._add_block(ms, seq)
            self._nodes = 0
        self._nodes += 1

    def _add_block(self, ms: int, seq: int) -> None:
        number = self.blocks + 1
        at = self.blocks * _ROW
        self._resize(at + _ROW)
        octets.put_i64(self._rows, at, octets.id_delta(ms, _MIDDLE))
        octets.put_i64(self._rows, at + _SEQ, octets.id_delta(seq, _MIDDLE))
        octets.put_i64(self._rows, at + _COUNT, 0)
        total = 0
        other = number - 1
        first = number - (number & -number)  # the sum begins after this row
        while other > first:
            total += octets.i64(self._rows, (other - 1) * _ROW + _SUM)
            other -= other & -other
        octets.put_i64(self._rows, at + _SUM, total)
        self.blocks = number
        self._empty += 1

    def tail_found(self, ms: int, seq: int) -> None:
        """The node at the key *ms*, *seq* is the last one: those after it, if any, are gone.

        It may get entries with ids that belonged to their blocks. O(blocks that end).
        """
        kept = self.blocks
        while kept > 0 and octets.id_key(ms, seq) < self._key_of(kept - 1):
            kept -= 1
        if kept < self.blocks:
            self._empty -= self.blocks - kept
            self.blocks = kept
            self._resize(kept * _ROW)
            self._nodes = _NODES  # or fewer
            if kept == 0:
                self.node_added(ms, seq)

    def changed(self, ms: int, seq: int, by: int) -> None:
        """The node that has the id *ms*, *seq*, or that key, has *by* more entries, or fewer.

        There is such a node, or was. O(log blocks), and O(1) in the last block.
        """
        index = self._block_of(octets.id_delta(ms, _MIDDLE), octets.id_delta(seq, _MIDDLE))
        before = octets.i64(self._rows, index * _ROW + _COUNT)
        octets.put_i64(self._rows, index * _ROW + _COUNT, before + by)
        number = index + 1
        while number <= self.blocks:
            at = (number - 1) * _ROW + _SUM
            octets.put_i64(self._rows, at, octets.i64(self._rows, at) + by)
            number += number & -number
        if before == 0:
            self._empty -= 1
        if before + by == 0:
            self._empty += 1
            if self.blocks > _FEW and 2 * self._empty > self.blocks:
                self._drop_empty()

    # ------------------------------------------------------------------ what is asked

    def before(self, entry_id: StreamId) -> int:
        """How many entries have smaller ids. O(log N + E)."""
        if self.blocks == 0:
            return 0
        ms = octets.id_delta(entry_id.ms, _MIDDLE)
        seq = octets.id_delta(entry_id.seq, _MIDDLE)
        index = self._block_of(ms, seq)
        found = self._before_block(index)
        if octets.i64(self._rows, index * _ROW + _COUNT) == 0:
            return found
        # 1. The last node that may have such entries; it must be one of this block.
        last = self._rax.seek("<", entry_id.key())
        if not last.valid:
            return found
        key = last.current_key()
        first_key = self._key_of(index)
        if key < first_key:
            return found
        # 2. The nodes of the block before it, and then its entries.
        node: Listpack = last.value
        place = self._rax.seek(">=", first_key)
        while place.next():
            if place.value is node:
                return found + _alive_before(node, key, entry_id)
            found += stream_node.alive(place.value)
        return found

    def neighbours(self, number: int) -> tuple[StreamId, StreamId] | None:
        """The id of the entry *number*, from 0 on, and of the next one; twice the last one's.

        None if there are not so many. O(log N + E).
        """
        if number < 0:
            return None
        # 1. The block: the sums of more and more rows that have not more than *number* in all.
        index = 0
        step = 1 << octets.bit_length(self.blocks)
        left = number
        while step > 0:
            if index + step <= self.blocks:
                total = octets.i64(self._rows, (index + step - 1) * _ROW + _SUM)
                if total <= left:
                    left -= total
                    index += step
            step >>= 1
        if index >= self.blocks:
            return None
        # 2. The node of the block.
        place = self._rax.seek(">=", self._key_of(index))
        while place.next():
            node: Listpack = place.value
            count = stream_node.alive(node)
            if left < count:
                return _neighbours(place, node, left)
            left -= count
        return None

    # ------------------------------------------------------------------ rows

    def _key_of(self, index: int) -> bytes:
        """The key of a block's first node, when it was made."""
        return octets.id_key(
            octets.id_plus(_MIDDLE, octets.i64(self._rows, index * _ROW)),
            octets.id_plus(_MIDDLE, octets.i64(self._rows, index * _ROW + _SEQ)),
        )

    def _block_of(self, ms: int, seq: int) -> int:
        """The last block that begins at or before an id; the first one if none does.

        The id's halves are less _MIDDLE. So the answer is a row, if there is one.
        """
        low = 0
        high = self.blocks
        middle = high - 1  # most often it is the last one
        while high - low > 1:
            first_ms = octets.i64(self._rows, middle * _ROW)
            if first_ms < ms or (
                first_ms == ms and octets.i64(self._rows, middle * _ROW + _SEQ) <= seq
            ):
                low = middle
            else:
                high = middle
            middle = (low + high) >> 1
        return low

    def _before_block(self, index: int) -> int:
        """How many entries the blocks before *index* have."""
        total = 0
        number = index
        while number > 0:
            total += octets.i64(self._rows, (number - 1) * _ROW + _SUM)
            number -= number & -number
        return total

    def _drop_empty(self) -> None:
        """Remove the rows without entries, but for the last, and sum up anew. O(blocks)."""
        rows = self._rows
        kept = 0
        for index in range(self.blocks):
            at = index * _ROW
            count = octets.i64(rows, at + _COUNT)
            if count or index == self.blocks - 1:
                buffers.move(rows, kept * _ROW, at, _SUM)
                octets.put_i64(rows, kept * _ROW + _SUM, count)
                kept += 1
        self._empty = 1 if count == 0 else 0
        self.blocks = kept
        self._resize(kept * _ROW)
        for number in range(1, kept + 1):
            above = number + (number & -number)
            if above <= kept:
                at = (above - 1) * _ROW + _SUM
                total = octets.i64(self._rows, (number - 1) * _ROW + _SUM)
                octets.put_i64(self._rows, at, octets.i64(self._rows, at) + total)

    def _resize(self, size: int) -> None:
        before = octets.capacity(self._rows)
        buffers.resize(self._rows, size)
        allocation.used += octets.capacity(self._rows) - before


def _alive_before(node: Listpack, key: bytes, entry_id: StreamId) -> int:
    """How many living entries of the node at *key* have smaller ids than *entry_id*. O(E)."""
    alive = stream_node.alive(node)
    has_deleted = alive < stream_node.entries(node)  # then the last one may be
    if not has_deleted and stream_id.compare(stream_node.last_id(node, key), entry_id) < 0:
        return alive
    data = node.data
    key_ms, key_seq = octets.u64_be(key, 0), octets.u64_be(key, 8)
    at = stream_node.alive_from(node, stream_node.first_entry(node))
    found = 0
    while at < node.size - 1:
        ms_at = element_octets.after(data, at)
        ms = octets.id_plus(key_ms, element_octets.number_at(data, ms_at))
        if ms >= entry_id.ms:
            seq_at = element_octets.after(data, ms_at)
            seq = octets.id_plus(key_seq, element_octets.number_at(data, seq_at))
            if ms > entry_id.ms or seq >= entry_id.seq:
                break
        found += 1
        at = stream_node.alive_from(node, stream_node.entry_after(node, at))
    return found


def _neighbours(place: RaxIterator, node: Listpack, number: int) -> tuple[StreamId, StreamId]:
    """The ids of a node's living entry *number*, which it has, and of the next one in any node.

    *place* stands at the node, and may go on.
    """
    at = stream_node.alive_from(node, stream_node.first_entry(node))
    while number > 0:
        at = stream_node.alive_from(node, stream_node.entry_after(node, at))
        number -= 1
    first = stream_node.id_at(node, place.current_key(), at)
    at = stream_node.alive_from(node, stream_node.entry_after(node, at))
    while at == node.size - 1:
        if not place.next():
            return first, first
        node = place.value
        at = stream_node.alive_from(node, stream_node.first_entry(node))
    return first, stream_node.id_at(node, place.current_key(), at)
