"""A hash in an RDB.

    16  string                      a listpack: field, value, ...
     4  length  {string string}...  fields and their values
    13  string                      a ziplist: field, value, ...    of Redis 2.6 to 6.2
     9  string                      a zipmap                        of Redis before 2.6

16 is written for a listpack, and 4 for a table; all are read. Whatever the form, a hash that is
read is a listpack or a table as the limits say.
"""

from __future__ import annotations

from collections.abc import Iterator

from storage.errors import Corrupt
from storage.hash_table import borrowed_packed
from storage.hashes import borrowed_hash, zipmap
from storage.hashes.hash import Hash
from storage.listpack import ziplist
from storage.listpack.listpack import Listpack
from storage.listpack_limits import ListpackLimits
from storage.rdb import borrowed, raw
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter

# RDB types
TABLE, ZIPMAP, ZIPLIST, LISTPACK = 4, 9, 13, 16

PAIRS_A_STEP = 1000  # of a table
NONE = -1


def write(writer: RdbWriter, value: Hash) -> Iterator[None]:
    """Write a hash; at each step the caller may take what has been written."""
    if value.pack is not None:
        write_pack(writer, value.pack)
    else:
        writer.length(len(value))
        for number, (field, text) in enumerate(value):
            writer.string(field)
            writer.string(text)
            if number % PAIRS_A_STEP == 0:
                yield


def write_pack(writer: RdbWriter, pack: Listpack) -> None:
    """Write a hash that is this listpack."""
    writer.text(raw.of_bytearray(pack.data), pack.size)


def write_borrowed_pack(writer: RdbWriter, pack: borrowed.Borrowed) -> None:
    """Write a hash that is this listpack."""
    writer.text(borrowed_hash.listpack_octets(pack), borrowed_hash.listpack_size(pack))


def write_borrowed_table(writer: RdbWriter, table: borrowed.Borrowed) -> None:
    """Write a hash that is this table."""
    writer.length(borrowed_packed.size(table))
    for slot in range(borrowed_packed.slots(table)):
        segment = borrowed_packed.segment_at(table, slot)
        if not borrowed.is_nothing(segment):
            _write_segment(writer, segment)


def _write_segment(writer: RdbWriter, segment: borrowed.Borrowed) -> None:
    for at in range(borrowed_packed.count(segment)):
        text = borrowed_packed.key_at(segment, at)
        writer.text(text.octets, text.size)
        text = borrowed_packed.value_at(segment, at)
        writer.text(text.octets, text.size)


def read(reader: RdbReader, code: int, limits: ListpackLimits) -> Hash:
    """Read a hash of the RDB type *code*; it may be empty. Raises Corrupt."""
    if code == LISTPACK:
        pack = Listpack.load(reader.string())
        pack.check()
        return _of_pack(pack, limits)
    if code == ZIPLIST:
        return _of_pack(ziplist.to_listpack(reader.string()), limits)
    if code == ZIPMAP:
        return _of_zipmap(reader.string(), limits)
    return _of_pairs(reader, limits)


def _of_pack(pack: Listpack, limits: ListpackLimits) -> Hash:
    """The hash whose fields and values are in *pack*, which was checked as a listpack."""
    if pack.length() & 1:
        raise Corrupt("a hash has a field without a value")
    if _repeats(pack):
        raise Corrupt("a hash has a field twice")
    made = Hash(pack)
    if made.length() > limits.entries:
        made.as_table()
    return made


def _repeats(pack: Listpack) -> bool:
    """Whether a field is in *pack* more than once."""
    fields = set()
    at = pack.first()
    while at != NONE:
        fields.add(pack.get_bytes(at))
        at = pack.next(pack.behind(at))
    return 2 * len(fields) < pack.length()


def _of_zipmap(data: bytes, limits: ListpackLimits) -> Hash:
    made = Hash()
    for field, text in zipmap.pairs_of(data):
        _add(made, field, text, limits)
    return made


def _of_pairs(reader: RdbReader, limits: ListpackLimits) -> Hash:
    made = Hash()
    count = reader.count(2)
    if count > limits.entries:
        made.as_table()
    for _ in range(count):
        field = reader.string()
        _add(made, field, reader.string(), limits)
    made.shrink()
    return made


def _add(made: Hash, field: bytes, text: bytes, limits: ListpackLimits) -> None:
    if not made.set(field, text, limits):
        raise Corrupt("a hash has a field twice")
