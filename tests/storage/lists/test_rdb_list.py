"""Lists in an RDB."""

from __future__ import annotations

import pytest

from storage.errors import Corrupt
from storage.listpack.listpack import Listpack
from storage.lists import rdb_list
from storage.lists.quicklist import QuickList
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter

ELEMENTS = [b"a", b"12", b"", b"x" * 3000, b"-7"]


def reader_of(*parts: int | bytes) -> RdbReader:
    """A reader of *parts*, where an int is a length and bytes are a string."""
    writer = RdbWriter()
    for part in parts:
        if isinstance(part, int):
            writer.length(part)
        else:
            writer.string(part)
    return RdbReader(writer.take())


def listpack_of(*elements: bytes) -> bytes:
    pack = Listpack()
    for element in elements:
        pack.append(element)
    return pack.dump()


def ziplist_of(element: bytes) -> bytes:
    size = len(element)
    return (
        (13 + size).to_bytes(4, "little")
        + b"\x0a\0\0\0\x01\0\0"
        + bytes([size])
        + element
        + b"\xff"
    )


@pytest.mark.parametrize("fill", [1, 2, -1, -2])
def test_a_list_is_read_back_node_by_node(fill: int) -> None:
    made = QuickList(fill)
    for element in ELEMENTS:
        made.push_right(element)
    writer = RdbWriter()
    steps = sum(1 for _ in rdb_list.write_list(writer, made))
    assert steps == made.node_count
    back = rdb_list.read(RdbReader(writer.take()), rdb_list.QUICKLIST_2, fill)
    assert list(back) == ELEMENTS
    assert len(back) == len(ELEMENTS)
    assert back.node_count == made.node_count
    assert back.encoding == made.encoding


def test_every_rdb_type_of_a_list_is_read() -> None:
    old = reader_of(2, b"a", b"12")
    assert list(rdb_list.read(old, rdb_list.PLAIN, -2)) == [b"a", b"12"]
    one = reader_of(ziplist_of(b"a"))
    assert list(rdb_list.read(one, rdb_list.ZIPLIST, -2)) == [b"a"]
    many = reader_of(2, ziplist_of(b"a"), ziplist_of(b"b"))
    assert list(rdb_list.read(many, rdb_list.QUICKLIST, -2)) == [b"a", b"b"]
    new = reader_of(3, 2, listpack_of(b"a", b"1"), 1, b"plain", 2, listpack_of(b"b"))
    assert list(rdb_list.read(new, rdb_list.QUICKLIST_2, -2)) == [b"a", b"1", b"plain", b"b"]


def test_empty_nodes_are_skipped() -> None:
    reader = reader_of(3, 2, listpack_of(), 2, listpack_of(b"a"), 2, listpack_of())
    back = rdb_list.read(reader, rdb_list.QUICKLIST_2, -2)
    assert list(back) == [b"a"]
    assert back.node_count == 1
    assert len(rdb_list.read(reader_of(1, 2, listpack_of()), rdb_list.QUICKLIST_2, -2)) == 0


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ((1, 3, b"a"), "unknown container"),
        ((1, 2**64 - 1, b"a"), "unknown container"),
        ((1, 2**32 + 1, b"a"), "unknown container"),
        ((1, 2**32 + 2, listpack_of(b"a")), "unknown container"),
        ((1, 1, b""), "no bytes"),
        ((1, 2, b""), "listpack"),
        ((1, 2, b"no listpack"), "listpack"),
        ((1, 2, b"12"), "listpack"),
        ((2, 2, listpack_of(b"a")), "end too soon"),
        ((2**40, 2, listpack_of(b"a")), "more is announced"),
    ],
)
def test_an_invalid_node_is_refused(parts: tuple[int | bytes, ...], reason: str) -> None:
    with pytest.raises(Corrupt, match=reason):
        rdb_list.read(reader_of(*parts), rdb_list.QUICKLIST_2, -2)
