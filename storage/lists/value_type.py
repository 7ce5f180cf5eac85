"""The row of the type "list"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from storage.listpack.listpack import Listpack, of_dump
from storage.lists import borrowed_list, rdb_list
from storage.lists.quicklist import QuickList
from storage.rdb import borrowed
from storage.rdb.options import ReadOptions
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.value_type import PACKED_UP_TO, ValueType, Words, measured

ELEMENTS_A_COMMAND = 64  # in an RPUSH of a rewritten log, as in Redis


class ListType(ValueType):
    """Lists. No key holds an empty one, but an RDB may contain one."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(
            b"list", 1, (QuickList,), rdb_list.QUICKLIST_2,
            (rdb_list.PLAIN, rdb_list.ZIPLIST, rdb_list.QUICKLIST, rdb_list.QUICKLIST_2),
            packs=True,
        )  # fmt: skip

    def encoding(self, value: QuickList) -> bytes:
        return value.encoding

    def copy(self, value: QuickList) -> QuickList:
        return value.copy()

    def length(self, value: QuickList) -> int:
        return len(value)

    def memory(self, value: QuickList, samples: int) -> int:
        nodes = value.nodes()
        if not 0 < samples < len(nodes):
            return super().memory(value, samples)
        some = nodes[:: -(-len(nodes) // samples)]
        return measured(lambda: list_of(some)) * len(nodes) // len(some)

    def parts(self, value: QuickList) -> int:
        return len(value.nodes())

    def packed(self, value: QuickList) -> bytes | None:
        """The only listpack. The fill is not kept: each change of a list sets it again."""
        pack = value.only_listpack()
        return None if pack is None or pack.size > PACKED_UP_TO else pack.dump()

    def unpacked(self, text: bytes) -> QuickList:
        made = QuickList()
        made.add_node(of_dump(text))
        return made

    def is_empty(self, value: QuickList) -> bool:
        return len(value) == 0

    def digest_parts(self, value: QuickList) -> Iterable[bytes]:
        return value

    def debug_facts(self, value: QuickList, compress_depth: int) -> str:
        nodes = value.nodes()
        size = sum(node.size if isinstance(node, Listpack) else len(node) for node in nodes)
        return (
            f" ql_nodes:{len(nodes)} ql_avg_node:{len(value) / len(nodes):.2f}"
            f" ql_listpack_max:{value.fill} ql_compressed:{int(compress_depth > 0)}"
            f" ql_uncompressed_size:{size}"
        )

    def only_listpack(self, value: QuickList) -> Listpack | None:
        nodes = value.nodes()
        return nodes[0] if len(nodes) == 1 and isinstance(nodes[0], Listpack) else None

    def commands(self, key: bytes, value: QuickList) -> Iterator[Words]:
        elements = iter(value)
        while some := list(islice(elements, ELEMENTS_A_COMMAND)):
            yield [b"RPUSH", key, *some]

    def write_value(self, writer: RdbWriter, value: QuickList) -> Iterator[None]:
        return rdb_list.write_list(writer, value)

    def write_at_once(
        self, writer: RdbWriter, key: borrowed.Borrowed, value: borrowed.Borrowed
    ) -> bool:
        pack = borrowed_list.only_listpack(value)
        if borrowed.is_nothing(pack):
            return False
        self.write_head(writer, key, self.rdb_code)
        rdb_list.write_only_listpack(writer, pack)
        return True

    def read(self, reader: RdbReader, code: int, options: ReadOptions) -> Any:
        return rdb_list.read(reader, code, options.list_fill)


def list_of(nodes: list[Listpack | bytes]) -> QuickList:
    """A list of copies of *nodes*."""
    made = QuickList()
    for node in nodes:
        made.add_node(node.copy() if isinstance(node, Listpack) else node)
    return made


LIST = ListType()
