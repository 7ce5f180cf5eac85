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
MANY = 65535
DELETED = stream_node.DELETED
SAME_FIELDS = stream_node.SAME_FIELDS

# Three numbers of one byte, each with its backlen, as the last eight bytes of them are masked: what
# most entries begin with.
THREE_MASK = 0xFF80FF80FF80
THREE_SMALL = 0x010001000100


class NodeCheck:
    """Checks the node whose listpack is *data* and whose rax key is *key*.

    Afterwards *alive* is the number of living entries, and ``top`` the greatest id of them.

    The methods that read an element take its offset, which is at most that of the closing byte, and
    return such an offset, or raise Corrupt.
    """

    __slots__ = (
        "_bytes", "_data", "_end", "_found", "_key_ms", "_key_seq", "_ms", "_seq", "alive",
    )  # fmt: skip

    def __init__(self, data: bytearray, key: bytes) -> None:
        self._data = data
        self._bytes = raw.of_bytearray(data)
        self._key_ms = octets.u64_be(key, 0)
        self._key_seq = octets.u64_be(key, 8)
        self._end = len(data) - 1
        self._found = 0  # elements
        self._ms = self._key_ms  # of the last living entry
        self._seq = self._key_seq
        self.alive = 0

    def top(self) -> StreamId:
        """The id of the last living entry; the key if there is none."""
        return stream_id.make_id(self._ms, self._seq)

    def run(self) -> None:
        """Raise Corrupt unless the node is valid. O(size)."""
        data = self._data
        if self._end < HEADER or octets.u32(data, 0) != self._end + 1 or data[self._end] != END:
            raise Corrupt("a stream node is not a listpack of its size")
        at = HEADER
        living = self._number(at)
        at = self._past(at)
        deleted = self._number(at)
        at = self._past(at)
        fields = self._fields(at)
        at = self._skip(self._past(at), fields)
        if self._number(at) != 0:
            raise Corrupt("a stream node's master entry does not end with 0")
        at = self._past(at)
        self._found = 4 + fields
        entries = 0
        while at < self._end:
            at = self._entry(at, fields)
            entries += 1
        if self.alive != living or entries - living != deleted or entries == 0:
            raise Corrupt("a stream node does not have the entries that it counts")
        if octets.u16(data, 4) not in (self._found, MANY):
            raise Corrupt("a listpack that does not have the elements that it counts")

    def _entry(self, at: int, master_fields: int) -> int:
        """Check the entry at *at*; return where it ends."""
        three = raw.u64(self._bytes, at) if self._end - at >= 8 else 0
        if three & THREE_MASK == THREE_SMALL:
            flags = three & 0x7F
            ms = three >> 16 & 0x7F
            seq = three >> 32 & 0x7F
            at += 6
        else:
            flags = self._number(at)
            at = self._past(at)
            ms = self._number(at)
            at = self._past(at)
            seq = self._number(at)
            at = self._past(at)
        ms = octets.id_plus(self._key_ms, ms)
        seq = octets.id_plus(self._key_seq, seq)
        if flags & SAME_FIELDS:
            size = 3 + master_fields
            at = self._skip(at, master_fields)
        else:
            fields = self._fields(at)
            size = 4 + 2 * fields
            at = self._skip(self._past(at), 2 * fields)
        if self._number(at) != size:
            raise Corrupt("a stream entry's lp-count is wrong")
        at = self._past(at)
        self._found += size + 1
        if flags & DELETED:
            return at
        if ms < self._ms or (ms == self._ms and seq < self._seq):
            raise Corrupt("a stream's entries are out of order")
        if ms == self._ms and seq == self._seq and self.alive:
            raise Corrupt("a stream has two entries of one id")
        self._ms = ms
        self._seq = seq
        self.alive += 1
        return at

    def _number(self, at: int) -> int:
        """The element at *at*, which must be an integer."""
        data = self._bytes
        if data[at] < element_octets.STR6 and at + 1 < self._end and data[at + 1] == 1:
            return data[at]  # what most are
        self._behind(at)
        if element_octets.is_string(self._data, at):
            raise Corrupt("a stream node has text where a number belongs")
        return element_octets.number_at(self._data, at)

    def _past(self, at: int) -> int:
        """Where the integer at *at* ends, which has been read."""
        if self._bytes[at] < element_octets.STR6:
            return at + 2
        return at + element_octets.encoded_size(self._data, at) + 1

    def _fields(self, at: int) -> int:
        """The integer at *at*, which must be a possible number of fields."""
        fields = self._number(at)
        if not 0 <= fields <= self._end:
            raise Corrupt("a stream node has an impossible number of fields")
        return fields

    def _skip(self, at: int, elements: int) -> int:
        """Where *elements* elements of any kind end."""
        data = self._bytes
        end = self._end
        for _ in range(elements):
            head = data[at]
            if head < element_octets.INT13:  # a small number or a short string: what most are
                after = at + 2 + (head & 0x3F if head >= element_octets.STR6 else 0)
                if after <= end and data[after - 1] == after - at - 1:
                    at = after
                    continue
            at = self._behind(at)
        return at

    def _behind(self, at: int) -> int:
        """Where the element of any kind at *at* ends."""
        data = self._data
        end = self._end
        if at >= end or (data[at] == element_octets.STR32 and end - at < 5):
            raise Corrupt("a stream node ends in the middle of an entry")
        size = element_octets.encoded_size(data, at)
        after = at + size + element_octets.backlen_size(size)
        if size == 0 or after > end:
            raise Corrupt("a stream node has an element that is none or goes beyond the end")
        if element_octets.backlen_before(data, after) != size:
            raise Corrupt("a stream node's element has another backlen than size")
        return after
