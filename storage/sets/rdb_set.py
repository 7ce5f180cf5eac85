"""A set in an RDB.

    11  string                    an intset. Written and read
     2  length  {string}...       its members. Written and read
    20  string                    a listpack, of Redis 7.2. Read only: RDB version 10 has none

What is read gets the encoding that the parameters ask for now.
"""

from __future__ import annotations

from collections.abc import Iterator

from storage.errors import Corrupt
from storage.hash_table import borrowed_packed
from storage.hash_table.packed_table import PackedTable
from storage.limits import SetLimits
from storage.listpack.listpack import Listpack
from storage.rdb import borrowed
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.sets import borrowed_set, intset
from storage.sets.member_set import MemberSet, of_members

PLAIN, INTSET, LISTPACK = 2, 11, 20  # RDB types
FIRST = 6  # the position of a listpack's first element
NUMBER = borrowed_set.NUMBER


def code_of(value: MemberSet) -> int:
    """The RDB type that *value* is written as."""
    return INTSET if isinstance(value.members, bytes) else PLAIN


def write_set(writer: RdbWriter, value: MemberSet) -> Iterator[None]:
    """Write a set; after some members the caller may take what has been written."""
    members = value.members
    if isinstance(members, bytes):
        writer.string(members)
    elif isinstance(members, Listpack):
        write_pack(writer, members)
    else:
        writer.length(members.used)
        for slot in range(slots_of(members)):
            write_slot(writer, members, slot)
            yield


def write_pack(writer: RdbWriter, pack: Listpack) -> None:
    """Write the members of *pack*."""
    write_listpack(writer, borrowed_set.of(pack))


def write_listpack(writer: RdbWriter, pack: borrowed.Borrowed) -> None:
    """Write the members of a listpack, which has one at least."""
    writer.length(borrowed_set.length(pack))
    at = FIRST
    while at > 0:
        member = borrowed_set.member_at(pack, at)
        if member.size == NUMBER:
            writer.int_string(member.number)
        else:
            writer.text(member.octets, member.size)
        at = member.next


def slots_of(table: PackedTable) -> int:
    """How many slots there are to write."""
    return borrowed_packed.slots(borrowed_set.of(table))


def write_slot(writer: RdbWriter, table: PackedTable, slot: int) -> None:
    """Write the members in the segment that begins at *slot*, if one does."""
    segment = borrowed_packed.segment_at(borrowed_set.of(table), slot)
    members = 0 if borrowed.is_nothing(segment) else borrowed_packed.count(segment)
    for at in range(members):
        member = borrowed_packed.key_at(segment, at)
        writer.text(member.octets, member.size)


def read(reader: RdbReader, code: int, limits: SetLimits) -> MemberSet:
    """Read a set of the RDB type *code*; it may be empty. Raises Corrupt."""
    if code == INTSET:
        return _read_intset(reader, limits)
    if code == LISTPACK:
        return _read_listpack(reader, limits)
    count = reader.count(1)
    made = MemberSet()
    if count > limits.intset_entries:
        made.become_table()
    for _ in range(count):
        _add(made, reader.string(), limits)
    return made


def _add(made: MemberSet, member: bytes, limits: SetLimits) -> None:
    if not made.add(member, limits):
        raise Corrupt("a set has a member twice")


def _read_intset(reader: RdbReader, limits: SetLimits) -> MemberSet:
    numbers = reader.string()
    intset.check(numbers)
    made = of_members(numbers)
    if made.size() > limits.intset_entries:
        made.become_table()
    return made


def _read_listpack(reader: RdbReader, limits: SetLimits) -> MemberSet:
    pack = Listpack.adopt(reader.owned_string())
    pack.check()
    made = of_members(pack)
    if len(set(made)) != made.size():
        raise Corrupt("a set has a member twice")
    if made.size() > limits.listpack_entries:
        made.become_table()
    return made
