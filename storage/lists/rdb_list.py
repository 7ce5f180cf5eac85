"""A list in an RDB.

    18  length  {container  string}...       of Redis 7.0: its nodes. Written and read.
                 1          an element of its own
                 2          a listpack
    14  length  {string}...                  its nodes, each a ziplist
    10  string                               one ziplist
     1  length  {string}...                  its elements

Empty nodes are skipped, as in Redis, so a list may turn out to be empty.
"""

from __future__ import annotations

from collections.abc import Iterator

from storage import borrowed_listpack
from storage.errors import Corrupt
from storage.listpack import ziplist
from storage.listpack.listpack import Listpack
from storage.lists.quicklist import QuickList
from storage.rdb import borrowed, raw
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter

# RDB types
PLAIN, ZIPLIST, QUICKLIST, QUICKLIST_2 = 1, 10, 14, 18

# Containers of a node
PLAIN_NODE, PACKED_NODE = 1, 2


def write_list(writer: RdbWriter, value: QuickList) -> Iterator[None]:
    """Write a list; after each node the caller may take what has been written."""
    writer.length(value.node_count)
    for node in value.nodes():
        if isinstance(node, Listpack):
            write_pack(writer, node)
        else:
            writer.length(PLAIN_NODE)
            writer.string(node)
        yield


def write_pack(writer: RdbWriter, pack: Listpack) -> None:
    """Write a node that is a listpack."""
    writer.length(PACKED_NODE)
    writer.text(raw.of_bytearray(pack.data), pack.size)


def write_only_listpack(writer: RdbWriter, pack: borrowed.Borrowed) -> None:
    """Write a list that has this one node."""
    writer.length(1)
    writer.length(PACKED_NODE)
    writer.text(borrowed_listpack.octets(pack), borrowed_listpack.size(pack))


def read(reader: RdbReader, code: int, fill: int) -> QuickList:
    """Read a list of the RDB type *code*; it may be empty. Raises Corrupt."""
    made = QuickList(fill)
    if code == ZIPLIST:
        _add_ziplist(made, reader)
        return made
    for _ in range(reader.count(1)):
        if code == QUICKLIST_2:
            _add_node(made, reader)
        elif code == QUICKLIST:
            _add_ziplist(made, reader)
        else:
            made.push_right(reader.string())
    return made


def _add_ziplist(made: QuickList, reader: RdbReader) -> None:
    pack = ziplist.to_listpack(reader.string())
    if pack.length():
        made.add_node(pack)


def _add_node(made: QuickList, reader: RdbReader) -> None:
    container = reader.length()
    if container == PLAIN_NODE:
        text = reader.string()
        if not text:
            raise Corrupt("a list's node has no bytes")
        made.add_node(text)
    elif container == PACKED_NODE:
        pack = Listpack.adopt(reader.owned_string())
        pack.check()
        if pack.length():
            made.add_node(pack)
    else:
        raise Corrupt("a list's node is in an unknown container")
