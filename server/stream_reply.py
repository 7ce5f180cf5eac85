"""Stream entries as RESP, written straight from the bytes of the listpacks that hold them.

    *2  $id  *6  $name $value $name $value $name $value

What is the same for all entries of a node is rendered once for each node: the field names of its
master entry, the first of them with the head of the array before it.
"""

from __future__ import annotations

from protocol.encoder import Encoder
from storage import stream_id
from storage.listpack import Element, Listpack
from storage.stream import Stream
from storage.stream_id import StreamId
from storage.stream_iterator import StreamIterator

_PAIR = b"*2\r\n"  # an entry is an array of id and fields


class EntryWriter:
    """Writes the entries at which an iterator stands to *out*, one after the other."""

    __slots__ = ("_element", "_names", "_node", "_out")

    def __init__(self, out: Encoder) -> None:
        self._out = out
        self._element = Element()
        self._node: Listpack | None = None  # the node whose master fields are in _names
        self._names: list[bytes] = []

    def write(self, entry: StreamIterator) -> None:
        """Write the current entry of *entry*: its id and its fields."""
        self._out.raw(_PAIR)
        self._out.bulk_id(entry.ms, entry.seq)
        node = entry.node
        assert node is not None
        if entry.same_fields:
            if node is not self._node:
                self._render_names(entry, node)
            end = self._write_values(node, entry.fields_at)
        else:
            self._out.array(2 * entry.num_fields)
            end = self._write_elements(node, entry.fields_at, 2 * entry.num_fields)
        entry.passed(end)

    def _render_names(self, entry: StreamIterator, node: Listpack) -> None:
        """Prepare what stands before each value of an entry with the master entry's fields."""
        names = []
        at = entry.names_at
        head = b"*%d\r\n" % (2 * entry.master_fields)
        for _ in range(entry.master_fields):
            name = node.get_bytes(at)
            names.append(head + b"$%d\r\n%b\r\n" % (len(name), name))
            head = b""
            at = node.behind(at)
        self._names = names
        self._node = node

    def _write_values(self, node: Listpack, at: int) -> int:
        """Write names and values, the first of which is at *at*; return where they end."""
        element = self._element
        for name in self._names:
            self._out.raw(name)
            at = node.read(at, element)
            if element.is_int:
                self._out.bulk_int(element.number)
            else:
                self._out.bulk_slice(node.data, element.start, element.size)
        return at

    def _write_elements(self, node: Listpack, at: int, count: int) -> int:
        """Write *count* elements, the first of which is at *at*; return where they end."""
        element = self._element
        while count > 0:
            at = node.read(at, element)
            if element.is_int:
                self._out.bulk_int(element.number)
            else:
                self._out.bulk_slice(node.data, element.start, element.size)
            count -= 1
        return at


def write_entries(out: Encoder, entry: StreamIterator, count: int) -> int:
    """Write the next *count* entries of a walk (0: all) as an array; return how many there were."""
    mark = out.open_array()
    writer = EntryWriter(out)
    written = 0
    while entry.next():
        writer.write(entry)
        written += 1
        if written == count:
            break
    out.close_array(mark, written)
    return written


def write_range(
    out: Encoder,
    stream: Stream,
    start: StreamId,
    end: StreamId,
    count: int = 0,
    reverse: bool = False,
) -> int:
    """Write the entries from *start* to *end*, *count* at most (0: all); return how many."""
    return write_entries(out, StreamIterator(stream.rax, start, end, reverse), count)


def write_entry(out: Encoder, stream: Stream, entry_id: StreamId) -> bool:
    """Write one entry. False, and nothing written, if it is not there."""
    entry = StreamIterator(stream.rax, entry_id, entry_id)
    if not entry.next():
        return False
    EntryWriter(out).write(entry)
    return True


def write_id(out: Encoder, entry_id: StreamId) -> None:
    """Write an id as a bulk string."""
    out.bulk(stream_id.StreamId.encode(entry_id))
