"""Stream entries as RESP, written straight from the bytes of the listpacks that hold them.

    *2  $id  *6  $name $value $name $value $name $value

With NOFIELDS an entry is its id alone:

    $id

The field names of a master entry are rendered when a second entry of its node is written, the first
of them with the head of the array before it. For each entry, room is made once in the encoder's own
buffer; then every element is copied from buffer to buffer.
"""

from __future__ import annotations

from octets import buffers
from protocol import wire
from protocol.encoder import Encoder
from storage.listpack import element_octets
from storage.listpack.listpack import Element, Listpack
from storage.stream.entry_filter import EntryFilter
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId
from storage.stream.stream_iterator import StreamIterator

_PAIR = b"*2\r\n"  # an entry is an array of id and fields
_ID_ALONE = b""
_ID_SIZE = 41  # bytes: two 64-bit numbers and the dash between them
_DASH = 0x2D
_ARRAY = 0x2A
_NO_NAMES: list[bytes] = []  # it stays empty
_HEADS = 96  # bytes: more than id and heads of an entry take
_PER_ELEMENT = 28  # bytes: more than a bulk string takes besides its text, or with a number
_MUCH = 1 << 16  # bytes: larger entries are measured before room is taken


class EntryWriter:
    """Writes the entries at which an iterator stands. new_writer() makes one."""

    __slots__ = (
        "_element", "_id", "_ids_only", "_ms", "_names", "_names_size", "_node", "_out", "_seen",
        "_seq_at", "head",
    )  # fmt: skip

    _out: Encoder
    _ids_only: bool
    head: bytes  # what stands before the id
    _element: Element
    _seen: Listpack | None  # the node of the last entry
    _node: Listpack | None  # the node whose master fields are in _names
    _names: list[bytes]
    _names_size: int
    _id: bytearray  # the text of the last id
    _ms: int
    _seq_at: int  # where its seq begins; 0: there is none yet

    def begin(self, out: Encoder, ids_only: bool) -> None:
        """Write to *out* from now on: see new_writer()."""
        self._out = out
        self._ids_only = ids_only
        self.head = _ID_ALONE if ids_only else _PAIR
        self._element = Element.__new__(Element)
        self._seen = None
        self._node = None
        self._names = _NO_NAMES
        self._names_size = 0
        self._id = buffers.make(_ID_SIZE)
        self._ms = 0
        self._seq_at = 0

    def write(self, entry: StreamIterator) -> None:
        """Write the current entry of *entry*: its id and its fields."""
        if self._ids_only:
            self._write_id(entry)
        else:
            self._write_whole(entry)

    def _write_whole(self, entry: StreamIterator) -> None:
        node = entry.node
        assert node is not None
        is_alone = node is not self._seen and node.size <= _MUCH  # so far
        self._seen = node
        if entry.same_fields and node is not self._node and not is_alone:
            self._render_names(entry, node)
        out = self._out
        size = node.size if is_alone else node.size - entry.fields_at
        if size > _MUCH:
            size = entry.end() - entry.fields_at
        out.reserve(_HEADS + self._names_size + size + 2 * _PER_ELEMENT * entry.num_fields)
        buffer = out.buffer
        at = buffers.put(buffer, out.end, self.head)
        at = self._put_id(buffer, at, entry.ms, entry.seq)
        if not entry.same_fields:
            at = self._put_all(buffer, at, entry, node)
        elif is_alone:
            at = self._put_pairs(buffer, at, entry, node)
        else:
            at = self._put_values(buffer, at, entry, node)
        out.end = at

    def _put_all(self, buffer: bytearray, at: int, entry: StreamIterator, node: Listpack) -> int:
        """Write the fields of an entry that has names of its own."""
        at = wire.put_head(buffer, at, _ARRAY, 2 * entry.num_fields)
        element_at = entry.fields_at
        for _ in range(2 * entry.num_fields):
            at = self._put_element(buffer, at, node, element_at)
            element_at = self._element.next
        entry.passed(element_at)
        return at

    def _put_pairs(self, buffer: bytearray, at: int, entry: StreamIterator, node: Listpack) -> int:
        """Write the names of the master entry, and the values of one that has only these."""
        at = wire.put_head(buffer, at, _ARRAY, 2 * entry.num_fields)
        name_at, value_at = entry.names_at, entry.fields_at
        for _ in range(entry.num_fields):
            at = self._put_element(buffer, at, node, name_at)
            name_at = self._element.next
            at = self._put_element(buffer, at, node, value_at)
            value_at = self._element.next
        entry.passed(value_at)
        return at

    def _write_id(self, entry: StreamIterator) -> None:
        out = self._out
        out.reserve(_HEADS)
        at = buffers.put(out.buffer, out.end, self.head)
        out.end = self._put_id(out.buffer, at, entry.ms, entry.seq)

    def _put_id(self, buffer: bytearray, at: int, ms: int, seq: int) -> int:
        """Write an id. Neighbours often have the same ms, so its digits are kept."""
        text = self._id
        if ms != self._ms or self._seq_at == 0:
            dash_at = wire.put_natural(text, 0, ms)
            text[dash_at] = _DASH
            self._ms = ms
            self._seq_at = dash_at + 1
        size = wire.put_natural(text, self._seq_at, seq)
        return wire.put_bulk_slice(buffer, at, text, 0, size)

    def _render_names(self, entry: StreamIterator, node: Listpack) -> None:
        """Prepare what stands before each value of an entry with the master entry's fields."""
        self._names = []
        self._names_size = 0
        self._node = node
        name_at = entry.names_at
        pen = Encoder()
        pen.array(2 * entry.master_fields)
        for _ in range(entry.master_fields):
            pen.bulk(node.get_bytes(name_at))
            name = pen.take()
            self._names.append(name)
            self._names_size += len(name)
            name_at = node.behind(name_at)

    def _put_values(self, buffer: bytearray, at: int, entry: StreamIterator, node: Listpack) -> int:
        """Write the fields of an entry that has only values."""
        data = node.data
        value_at = entry.fields_at
        for name in self._names:
            at = buffers.put(buffer, at, name)
            size = element_octets.short_size(data, value_at)
            if size >= 0:
                at = wire.put_bulk_slice(buffer, at, data, value_at + 1, size)
                value_at += size + 2
            else:
                at = self._put_element(buffer, at, node, value_at)
                value_at = self._element.next
        entry.passed(value_at)
        return at

    def _put_element(self, buffer: bytearray, at: int, node: Listpack, element_at: int) -> int:
        element = self._element
        node.read(element_at, element)
        if element.is_int:
            return wire.put_bulk_number(buffer, at, element.number)
        return wire.put_bulk_slice(buffer, at, node.data, element.start, element.size)


def new_writer(out: Encoder, ids_only: bool = False) -> EntryWriter:
    """What writes entries to *out*; if *ids_only*, without fields."""
    made = EntryWriter.__new__(EntryWriter)
    made.begin(out, ids_only)
    return made


def write_entries(out: Encoder, entry: StreamIterator, count: int, ids_only: bool = False) -> int:
    """Write the next *count* entries of a walk (0: all) as an array; return how many there were."""
    mark = out.open_array()
    writer = new_writer(out, ids_only)
    written = 0
    while entry.next():
        writer.write(entry)
        written += 1
        if written == count:
            break
    out.close_array(mark, written)
    return written


def write_within(
    out: Encoder,
    entry: StreamIterator,
    where: EntryFilter | None,
    count: int,
    end: int,
    is_first: bool,
    ids_only: bool = False,
) -> tuple[int, bool]:
    """As write_entries, but stop before the entry that would make *out* larger than *end* bytes.

    If *is_first*, one entry is written, however large it is. With *where*, only what it finds, as
    far as it may look. Returns how many there were, and whether the size did not end it.
    """
    mark = out.open_array()
    writer = new_writer(out, ids_only)
    written = 0
    has_room = True
    while entry.next() if where is None else where.find(entry):
        size = out.size()
        writer.write(entry)
        if out.size() > end and (written or not is_first):
            out.truncate(size)
            has_room = False
            break
        written += 1
        if written == count:
            break
    out.close_array(mark, written)
    return written, has_room


def write_range(
    out: Encoder,
    stream: Stream,
    start: StreamId,
    end: StreamId,
    count: int = 0,
    reverse: bool = False,
    ids_only: bool = False,
) -> int:
    """Write the entries from *start* to *end*, *count* at most (0: all); return how many."""
    return write_entries(out, stream.range(start, end, reverse), count, ids_only)


def write_entry(out: Encoder, finder: StreamIterator, entry_id: StreamId) -> bool:
    """Write the entry of that id, which *finder* finds. False, and nothing written, without one."""
    if not finder.find(entry_id):
        return False
    new_writer(out).write(finder)
    return True
