"""A hash in an RDB.

    16  string                      a listpack: field, value, ...
     4  length  {string string}...  fields and their values
    13  string                      a ziplist: field, value, ...    of Redis 2.6 to 6.2
     9  string                      a zipmap                        of Redis before 2.6

Some fields expire:
    25  first  string               a listpack: field, value, time, ...
    24  first  length  {length string string}...   times, fields and their values
    22  length  {string string time}...            fields, values and times      of Valkey 9

*first* is 8 bytes: when the first field expires, in unix ms. In 24 a time is a length: so many ms
later, plus one; 0: never. In 22 it is 8 bytes, in unix ms; -1: never. How the listpack is ordered:
storage/hashes/triplets.py. (Release candidates of Redis 7.4 had other types, 22 and 23.)

16 is written for a listpack, and 4 for a table, 25 and 24 if some fields expire; all are read.
Whatever the form, a hash that is read is a listpack or a table as the limits say.
"""

from __future__ import annotations

from collections.abc import Iterator

from storage import borrowed_listpack
from storage.errors import Corrupt
from storage.hash_table import borrowed_packed
from storage.hashes import zipmap
from storage.hashes.hash import Hash
from storage.hashes.timed_fields import NO_EXPIRY
from storage.hashes.timed_table import TimedTable
from storage.hashes.triplets import Triplets
from storage.limits import ListpackLimits
from storage.listpack import ziplist
from storage.listpack.listpack import Listpack
from storage.rdb import borrowed, raw
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter

# RDB types
TABLE, ZIPMAP, ZIPLIST, LISTPACK = 4, 9, 13, 16
VALKEY_TABLE, TIMED_TABLE, TRIPLETS = 22, 24, 25
CODES = (TABLE, ZIPMAP, ZIPLIST, LISTPACK, VALKEY_TABLE, TIMED_TABLE, TRIPLETS)

PAIRS_A_STEP = 1000  # of a table
NONE = -1
LAST_TIME = 2**48 - 2  # unix ms; Redis refuses later ones


def code_of(value: Hash) -> int:
    """The RDB type that *value* is written as."""
    if isinstance(value.timed, Triplets):
        return TRIPLETS
    if value.next_expiry() != NO_EXPIRY:
        return TIMED_TABLE
    return TABLE if value.pack is None else LISTPACK


def write_hash(writer: RdbWriter, value: Hash) -> Iterator[None]:
    """Write a hash; at each step the caller may take what has been written."""
    timed = value.timed
    if value.pack is not None:
        write_pack(writer, value.pack)
    elif isinstance(timed, Triplets):
        writer.i64(max(timed.next_expiry(), 0))
        write_pack(writer, timed.pack)
    elif isinstance(timed, TimedTable) and timed.next_expiry() != NO_EXPIRY:
        yield from _write_timed_table(writer, timed)
    else:
        writer.length(len(value))
        for number, (field, text) in enumerate(value):
            writer.string(field)
            writer.string(text)
            if number % PAIRS_A_STEP == 0:
                yield


def _write_timed_table(writer: RdbWriter, timed: TimedTable) -> Iterator[None]:
    first_ms = timed.next_expiry()
    writer.i64(first_ms)
    writer.length(len(timed))
    for number, (field, text, when_ms) in enumerate(timed.items()):
        writer.length(0 if when_ms == NO_EXPIRY else when_ms - first_ms + 1)
        writer.string(field)
        writer.string(text)
        if number % PAIRS_A_STEP == 0:
            yield


def write_pack(writer: RdbWriter, pack: Listpack) -> None:
    """Write a hash that is this listpack."""
    writer.text(raw.of_bytearray(pack.data), pack.size)


def write_borrowed_pack(writer: RdbWriter, pack: borrowed.Borrowed) -> None:
    """Write a hash that is this listpack."""
    writer.text(borrowed_listpack.octets(pack), borrowed_listpack.size(pack))


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
        pack = Listpack.adopt(reader.owned_string())
        pack.check()
        return _of_pack(pack, limits)
    if code == ZIPLIST:
        return _of_pack(ziplist.to_listpack(reader.string()), limits)
    if code == ZIPMAP:
        return _of_zipmap(reader.string(), limits)
    if code == TRIPLETS:
        reader.i64()
        return _of_triplets(reader.string(), limits)
    if code == TIMED_TABLE:
        return _of_timed_pairs(reader, limits)
    if code == VALKEY_TABLE:
        return _of_pairs_of_valkey(reader, limits)
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


def _of_triplets(data: bytes, limits: ListpackLimits) -> Hash:
    pack = Listpack.load(data)
    pack.check()
    triplets = Triplets(pack)
    triplets.check()
    return Hash.of_timed(triplets, limits)


def _of_timed_pairs(reader: RdbReader, limits: ListpackLimits) -> Hash:
    first_ms = reader.i64()
    if first_ms < 0:
        raise Corrupt("a hash has fields that expire before 1970")
    made, count = _timed(reader, limits)
    for _ in range(count):
        later_ms = reader.length()
        field = reader.string()
        _add(made, field, reader.string(), limits)
        _expire(made, field, first_ms + later_ms - 1 if later_ms else NO_EXPIRY)
    return made


def _of_pairs_of_valkey(reader: RdbReader, limits: ListpackLimits) -> Hash:
    made, count = _timed(reader, limits)
    for _ in range(count):
        field = reader.string()
        _add(made, field, reader.string(), limits)
        _expire(made, field, reader.i64())
    return made


def _timed(reader: RdbReader, limits: ListpackLimits) -> tuple[Hash, int]:
    """A hash for as many fields as are announced, some of which will expire; and their number."""
    made = Hash()
    count = reader.count(3)
    if count > limits.entries:
        made.as_table()
    made.as_timed()
    return made, count


def _expire(made: Hash, field: bytes, when_ms: int) -> None:
    if when_ms == NO_EXPIRY:
        return
    if not 0 < when_ms <= LAST_TIME:
        raise Corrupt("a hash has a field that expires at an impossible time")
    made.expire_at(field, when_ms)


def _add(made: Hash, field: bytes, text: bytes, limits: ListpackLimits) -> None:
    if not made.set(field, text, limits):
        raise Corrupt("a hash has a field twice")
