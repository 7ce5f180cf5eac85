"""The row of the type "zset"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from storage import digest_sums
from storage.limits import ListpackLimits
from storage.listpack.listpack import Listpack, of_dump
from storage.rdb import borrowed
from storage.rdb.options import ReadOptions
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.sorted_sets import borrowed_sorted_set, rdb_sorted_set, score_text
from storage.sorted_sets.sorted_set import SortedSet, of_pack
from storage.value_type import PACKED_UP_TO, ValueType, Words, measured

MEMBERS_A_SAMPLE = 64  # about a leaf of the tree
AS_TREE = ListpackLimits(0, 0)
MEMBERS_A_COMMAND = 64  # in a ZADD of a rewritten log, as in Redis
SHORT_TREE = 1000  # members; a tree of no more is written in one step


class SortedSetType(ValueType):
    """Sorted sets. No key holds an empty one, but an RDB may contain one."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(
            b"zset", 3, (SortedSet,), rdb_sorted_set.LISTPACK,
            (rdb_sorted_set.TEXTS, rdb_sorted_set.TREE, rdb_sorted_set.ZIPLIST,
             rdb_sorted_set.LISTPACK),
            packs=True,
        )  # fmt: skip

    def encoding(self, value: SortedSet) -> bytes:
        return value.encoding

    def copy(self, value: SortedSet) -> SortedSet:
        return value.copy()

    def length(self, value: SortedSet) -> int:
        return len(value)

    def memory(self, value: SortedSet, samples: int) -> int:
        members, size = samples * MEMBERS_A_SAMPLE, len(value)
        if value.pack is not None or not 0 < members < size:
            return super().memory(value, samples)
        ranks = range(0, size, -(-size // members))
        return measured(lambda: some_of(value, ranks)) * size // len(ranks)

    def packed(self, value: SortedSet) -> bytes | None:
        pack = value.pack
        return None if pack is None or pack.size > PACKED_UP_TO else pack.dump()

    def unpacked(self, text: bytes) -> SortedSet:
        return of_pack(of_dump(text))

    def shrink(self, value: SortedSet) -> None:
        value.shrink()

    def is_empty(self, value: SortedSet) -> bool:
        return len(value) == 0

    def digest_parts(self, value: SortedSet) -> Iterable[bytes]:
        return ()

    def digest_members(self, value: SortedSet) -> Iterable[bytes]:
        for member, score in value:
            mixed = digest_sums.mixed(digest_sums.NOTHING, member)
            yield digest_sums.mixed(mixed, score_text.digest_text_of(score))

    def only_listpack(self, value: SortedSet) -> Listpack | None:
        return value.pack

    def commands(self, key: bytes, value: SortedSet) -> Iterator[Words]:
        pairs = iter(value)
        while some := list(islice(pairs, MEMBERS_A_COMMAND)):
            words = [word for member, score in some for word in (score_text.text_of(score), member)]
            yield [b"ZADD", key, *words]

    def rdb_code_of(self, value: SortedSet) -> int:
        return rdb_sorted_set.TREE if value.pack is None else rdb_sorted_set.LISTPACK

    def write_value(self, writer: RdbWriter, value: SortedSet) -> Iterator[None]:
        return rdb_sorted_set.write_sorted_set(writer, value)

    def write_at_once(
        self, writer: RdbWriter, key: borrowed.Borrowed, value: borrowed.Borrowed
    ) -> bool:
        pack = borrowed_sorted_set.pack_of(value)
        if not borrowed.is_nothing(pack):
            self.write_head(writer, key, self.rdb_code)
            rdb_sorted_set.write_borrowed_pack(writer, pack)
            return True
        tree = borrowed_sorted_set.tree_of(value)
        if borrowed_sorted_set.size(tree) > SHORT_TREE:
            return False
        self.write_head(writer, key, rdb_sorted_set.TREE)
        rdb_sorted_set.write_borrowed_tree(writer, tree)
        return True

    def read(self, reader: RdbReader, code: int, options: ReadOptions) -> Any:
        return rdb_sorted_set.read(reader, code, options.sorted_set_limits)


def some_of(value: SortedSet, ranks: range) -> SortedSet:
    """A tree of the members at *ranks*. O(log N) each."""
    some = SortedSet()
    for rank in ranks:
        member, score = value.pair_at(rank)
        some.put(member, score, AS_TREE)
    return some


SORTED_SET = SortedSetType()
