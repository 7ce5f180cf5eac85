# cython: boundscheck=False, wraparound=False
"""Checks a stream's node from an RDB in one walk that trusts none of its bytes.

It must be a valid listpack (see storage/listpack/listpack.py) in the form that
storage/stream/stream_node.py describes. The ids of its living entries must grow, and none may be
below the node's own. Entries that are marked as deleted may be out of order: in files of Redis
before 7.0, XSETID may have set the last id below a deleted entry.
"""

from __future__ import annotations

from storage import octets
from storage.errors import Corrupt
from storage.listpack import element_octets
from storage.rdb import raw
from storage.stream import stream_id, stream_node
from storage.stream.stream_id import StreamId

HEADER = 6  # bytes
END = 0xFF
SHORT_STRING, INT13, LONG_STRING = 0x80, 0xC0, 0xF0
MANY = 65535
DELETED = stream_node.DELETED
SAME_FIELDS = stream_node.SAME_FIELDS


class NodeCheck:
    """Checks the node whose listpack is *data* and whose rax key is *key*.

    Afterwards *alive* is the number of living entries, and ``top`` the greatest id of them.
    """

    __slots__ = ("_at", "_bytes", "_data", "_end", "_found", "_key", "_ms", "_seq", "alive")

    def __init__(self, data: bytearray, key: bytes) -> None:
        self._data = data
        self._bytes = raw.of_bytearray(data)
        self._key = key
        self._at = HEADER
        self._end = len(data) - 1
        self._found = 0  # elements
        self._ms = octets.u64_be(key, 0)  # of the last living entry
        self._seq = octets.u64_be(key, 8)
        self.alive = 0

    def top(self) -> StreamId:
        """The id of the last living entry; the key if there is none."""
        return stream_id.make_id(self._ms, self._seq)

    def run(self) -> None:
        """Raise Corrupt unless the node is valid. O(size)."""
        data = self._data
        if self._end < HEADER or octets.u32(data, 0) != self._end + 1 or data[self._end] != END:
            raise Corrupt("a stream node is not a listpack of its size")
        living = self._number()
        deleted = self._number()
        fields = self._fields()
        self._skip(fields)
        if self._number() != 0:
            raise Corrupt("a stream node's master entry does not end with 0")
        dead = 0
        while self._at < self._end:
            dead += self._entry(fields)
        if self.alive != living or dead != deleted or living + deleted == 0:
            raise Corrupt("a stream node does not have the entries that it counts")
        if octets.u16(data, 4) not in (self._found, MANY):
            raise Corrupt("a listpack that does not have the elements that it counts")

    def _entry(self, master_fields: int) -> int:
        """Check one entry; return 1 if it is marked as deleted, else 0."""
        flags = self._number()
        ms = stream_node.undelta(octets.u64_be(self._key, 0), self._number())
        seq = stream_node.undelta(octets.u64_be(self._key, 8), self._number())
        if flags & SAME_FIELDS:
            size = 3 + master_fields
            self._skip(master_fields)
        else:
            fields = self._fields()
            size = 4 + 2 * fields
            self._skip(2 * fields)
        if self._number() != size:
            raise Corrupt("a stream entry's lp-count is wrong")
        if flags & DELETED:
            return 1
        if ms < self._ms or (ms == self._ms and seq < self._seq):
            raise Corrupt("a stream's entries are out of order")
        if ms == self._ms and seq == self._seq and self.alive:
            raise Corrupt("a stream has two entries of one id")
        self._ms = ms
        self._seq = seq
        self.alive += 1
        return 0

    def _number(self) -> int:
        """Read one element, which must be an integer."""
        data = self._bytes
        at = self._at
        if at + 1 < self._end and data[at] < SHORT_STRING and data[at + 1] == 1:
            self._at = at + 2  # what most are: a byte that is the number, and its backlen
            self._found += 1
            return data[at]
        self._skip(1)
        if element_octets.is_string(self._data, at):
            raise Corrupt("a stream node has text where a number belongs")
        return element_octets.number_at(self._data, at)

    def _fields(self) -> int:
        """Read one integer, which must be a possible number of fields."""
        fields = self._number()
        if not 0 <= fields <= self._end:
            raise Corrupt("a stream node has an impossible number of fields")
        return fields

    def _skip(self, elements: int) -> None:
        """Skip elements of any kind."""
        data = self._bytes
        at = self._at
        end = self._end
        for _ in range(elements):
            head = data[at] if at < end else END
            if head < INT13:  # a small number or a short string: what most are
                after = at + 2 + (head & 0x3F if head >= SHORT_STRING else 0)
                if after <= end and data[after - 1] == after - at - 1:
                    at = after
                    continue
            at = self._behind(at)
        self._at = at
        self._found += elements

    def _behind(self, at: int) -> int:
        """The offset behind the element of any kind at *at*."""
        data = self._data
        end = self._end
        if at >= end or (data[at] == LONG_STRING and end - at < 5):
            raise Corrupt("a stream node ends in the middle of an entry")
        size = element_octets.encoded_size(data, at)
        after = at + size + element_octets.backlen_size(size)
        if size == 0 or after > end:
            raise Corrupt("a stream node has an element that is none or goes beyond the end")
        if element_octets.backlen_before(data, after) != size:
            raise Corrupt("a stream node's element has another backlen than size")
        return after
