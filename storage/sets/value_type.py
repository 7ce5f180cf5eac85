"""The row of the type "set"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from storage import octets
from storage.hash_table import sampling
from storage.hash_table.packed_table import PackedTable
from storage.limits import SetLimits
from storage.listpack import small_listpack
from storage.listpack.listpack import Listpack, of_dump
from storage.rdb import borrowed
from storage.rdb.options import ReadOptions
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.sets import borrowed_set, intset, rdb_set
from storage.sets.member_set import MemberSet, of_members
from storage.value_type import PACKED_UP_TO, ValueType, Words

MEMBERS_A_COMMAND = 64  # in an SADD of a rewritten log, as in Redis


class SetType(ValueType):
    """Sets. No key holds an empty one, but an RDB may contain one."""

    __slots__ = ()

    def __init__(self) -> None:
        codes = (rdb_set.PLAIN, rdb_set.INTSET, rdb_set.LISTPACK)
        super().__init__(b"set", 2, (MemberSet,), rdb_set.PLAIN, codes, packs=True)

    def encoding(self, value: MemberSet) -> bytes:
        return value.encoding

    def copy(self, value: MemberSet) -> MemberSet:
        return value.copy()

    def memory(self, value: MemberSet, samples: int) -> int:
        if not isinstance(value.members, PackedTable):
            return super().memory(value, samples)
        return sampling.table_bytes(value.members, samples)

    def length(self, value: MemberSet) -> int:
        return value.size()

    def parts(self, value: MemberSet) -> int:
        return value.size() if isinstance(value.members, PackedTable) else 1

    def packed(self, value: MemberSet) -> bytes | None:
        """The bytes of the intset, or of the listpack: each shows which one it is."""
        members = value.members
        if isinstance(members, PackedTable):
            return None
        if isinstance(members, Listpack):
            return None if members.size > PACKED_UP_TO else members.dump()
        return None if len(members) > PACKED_UP_TO else members

    def packed_words(self, words: list[bytes], first: int, limits: SetLimits) -> bytes | None:
        """What a new set of the members ``words[first:]`` is packed as.

        None if it is not small, if one is an integer, or if a member comes twice.
        """
        if len(words) - first > limits.listpack_entries:
            return None
        for at in range(first, len(words)):
            word = words[at]
            if octets.is_int64(word):
                return None
        return small_listpack.of_words(words, first, 1, limits.listpack_value, PACKED_UP_TO)

    def unpacked(self, text: bytes) -> MemberSet:
        if intset.is_one(text):
            return of_members(text)
        return of_members(of_dump(text))

    def is_empty(self, value: MemberSet) -> bool:
        return value.size() == 0

    def digest_parts(self, value: MemberSet) -> Iterable[bytes]:
        return ()

    def digest_members(self, value: MemberSet) -> Iterable[bytes]:
        return value

    def only_listpack(self, value: MemberSet) -> Listpack | None:
        return value.members if isinstance(value.members, Listpack) else None

    def commands(self, key: bytes, value: MemberSet) -> Iterator[Words]:
        members = iter(value)
        while some := list(islice(members, MEMBERS_A_COMMAND)):
            yield [b"SADD", key, *some]

    def rdb_code_of(self, value: MemberSet) -> int:
        return rdb_set.code_of(value)

    def write_value(self, writer: RdbWriter, value: MemberSet) -> Iterator[None]:
        return rdb_set.write_set(writer, value)

    def write_at_once(
        self, writer: RdbWriter, key: borrowed.Borrowed, value: borrowed.Borrowed
    ) -> bool:
        members = borrowed_set.members(value)
        if borrowed.is_bytes(members):
            self.write_head(writer, key, rdb_set.INTSET)
            writer.text(borrowed.octets(members), borrowed.size(members))
            return True
        if borrowed_set.is_listpack(members):
            self.write_head(writer, key, rdb_set.PLAIN)
            rdb_set.write_listpack(writer, members)
            return True
        return False

    def read(self, reader: RdbReader, code: int, options: ReadOptions) -> Any:
        return rdb_set.read(reader, code, options.set_limits)


SET = SetType()
