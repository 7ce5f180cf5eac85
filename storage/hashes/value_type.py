"""The row of the type "hash"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from storage import digest_sums
from storage.hash_table import borrowed_packed, sampling
from storage.hashes import borrowed_hash, rdb_hash
from storage.hashes.hash import Hash, of_pack
from storage.hashes.timed_fields import NO_EXPIRY
from storage.hashes.timed_table import TimedTable
from storage.hashes.triplets import Triplets
from storage.limits import ListpackLimits
from storage.listpack import small_listpack
from storage.listpack.listpack import Listpack, of_dump
from storage.rdb import borrowed
from storage.rdb.options import ReadOptions
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.value_type import PACKED_UP_TO, ValueType, Words

FIELDS_A_COMMAND = 64  # in an HMSET of a rewritten log, as in Redis
FIELD_EXPIRES = b"!!hexpire!!"
SHORT_TABLE = 1000  # fields; a table of no more is written in one step


class HashType(ValueType):
    """Hashes. No key holds an empty one, but an RDB may contain one."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(
            b"hash", 4, (Hash,), rdb_hash.LISTPACK, rdb_hash.CODES, fields_expire=True, packs=True
        )

    def encoding(self, value: Hash) -> bytes:
        return value.encoding

    def copy(self, value: Hash) -> Hash:
        return value.copy()

    def memory(self, value: Hash, samples: int) -> int:
        if isinstance(value.timed, TimedTable):  # the tree of times is as large as their table
            times = sampling.table_bytes(value.timed.times, samples)
            return sampling.table_bytes(value.timed.table, samples) + 2 * times
        if value.table is None:
            return super().memory(value, samples)
        return sampling.table_bytes(value.table, samples)

    def length(self, value: Hash) -> int:
        return len(value)

    def packed(self, value: Hash) -> bytes | None:
        pack = value.pack
        return None if pack is None or pack.size > PACKED_UP_TO else pack.dump()

    def packed_words(self, words: list[bytes], first: int, limits: ListpackLimits) -> bytes | None:
        """What a new hash of the fields and values ``words[first:]`` is packed as.

        None if it is not small, or if a field comes twice.
        """
        if (len(words) - first) >> 1 > limits.entries:
            return None
        return small_listpack.of_words(words, first, 2, limits.value, PACKED_UP_TO)

    def unpacked(self, text: bytes) -> Hash:
        return of_pack(of_dump(text))

    def shrink(self, value: Hash) -> None:
        value.shrink()

    def is_empty(self, value: Hash) -> bool:
        return len(value) == 0

    def digest_members(self, value: Hash) -> Iterable[bytes]:
        for field, text in value:
            digest = digest_sums.mixed(digest_sums.mixed(digest_sums.NOTHING, field), text)
            expires = value.expiry(field) != NO_EXPIRY
            yield digest_sums.added(digest, FIELD_EXPIRES) if expires else digest

    def only_listpack(self, value: Hash) -> Listpack | None:
        return value.timed.pack if isinstance(value.timed, Triplets) else value.pack

    def first_field_expiry(self, value: Hash) -> int:
        return value.next_expiry()

    def commands(self, key: bytes, value: Hash) -> Iterator[Words]:
        pairs = iter(value)
        while some := list(islice(pairs, FIELDS_A_COMMAND)):
            yield [b"HMSET", key, *(word for pair in some for word in pair)]
        if value.timed is not None:
            for field, _, when_ms in value.timed.items():
                if when_ms != NO_EXPIRY:
                    yield [b"HPEXPIREAT", key, b"%d" % when_ms, b"FIELDS", b"1", field]

    def digest_parts(self, value: Hash) -> Iterable[bytes]:
        return ()

    def rdb_code_of(self, value: Hash) -> int:
        return rdb_hash.code_of(value)

    def write_value(self, writer: RdbWriter, value: Hash) -> Iterator[None]:
        return rdb_hash.write_hash(writer, value)

    def write_at_once(
        self, writer: RdbWriter, key: borrowed.Borrowed, value: borrowed.Borrowed
    ) -> bool:
        pack = borrowed_hash.pack_of(value)
        if not borrowed.is_nothing(pack):
            self.write_head(writer, key, self.rdb_code)
            rdb_hash.write_borrowed_pack(writer, pack)
            return True
        table = borrowed_hash.table_of(value)
        if borrowed.is_nothing(table) or borrowed_packed.size(table) > SHORT_TABLE:
            return False
        self.write_head(writer, key, rdb_hash.TABLE)
        rdb_hash.write_borrowed_table(writer, table)
        return True

    def read(self, reader: RdbReader, code: int, options: ReadOptions) -> Any:
        return rdb_hash.read(reader, code, options.hash_limits)


HASH = HashType()
