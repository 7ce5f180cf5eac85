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


def written(*parts: int | bytes) -> RdbReader:
    """A reader of lengths and strings."""
    writer = RdbWriter()
    for part in parts:
        if isinstance(part, int):
            writer.length(part)
        else:
            writer.string(part)
    return RdbReader(writer.take())


def pack_of(*elements: bytes) -> bytes:
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
def test_a_list_comes_back_node_by_node(fill: int) -> None:
    made = QuickList(fill)
    for element in ELEMENTS:
        made.push_right(element)
    writer = RdbWriter()
    steps = sum(1 for _ in rdb_list.write(writer, made))
    assert steps == made.node_count
    back = rdb_list.read(RdbReader(writer.take()), rdb_list.QUICKLIST_2, fill)
    assert list(back) == ELEMENTS
    assert len(back) == len(ELEMENTS)
    assert back.node_count == made.node_count
    assert back.encoding == made.encoding


def test_every_form_that_lists_have_had_is_read() -> None:
    old = written(2, b"a", b"12")
    assert list(rdb_list.read(old, rdb_list.PLAIN, -2)) == [b"a", b"12"]
    one = written(ziplist_of(b"a"))
    assert list(rdb_list.read(one, rdb_list.ZIPLIST, -2)) == [b"a"]
    many = written(2, ziplist_of(b"a"), ziplist_of(b"b"))
    assert list(rdb_list.read(many, rdb_list.QUICKLIST, -2)) == [b"a", b"b"]
    new = written(3, 2, pack_of(b"a", b"1"), 1, b"plain", 2, pack_of(b"b"))
    assert list(rdb_list.read(new, rdb_list.QUICKLIST_2, -2)) == [b"a", b"1", b"plain", b"b"]


def test_empty_nodes_are_passed_over() -> None:
    reader = written(3, 2, pack_of(), 2, pack_of(b"a"), 2, pack_of())
    back = rdb_list.read(reader, rdb_list.QUICKLIST_2, -2)
    assert list(back) == [b"a"]
    assert back.node_count == 1
    assert len(rdb_list.read(written(1, 2, pack_of()), rdb_list.QUICKLIST_2, -2)) == 0


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ((1, 3, b"a"), "unknown container"),
        ((1, 2**64 - 1, b"a"), "unknown container"),
        ((1, 2, b"no listpack"), "listpack"),
        ((1, 2, b"12"), "listpack"),
        ((2, 2, pack_of(b"a")), "end too soon"),
        ((2**40, 2, pack_of(b"a")), "more is announced"),
    ],
)
def test_what_is_no_node_is_refused(parts: tuple[int | bytes, ...], reason: str) -> None:
    with pytest.raises(Corrupt, match=reason):
        rdb_list.read(written(*parts), rdb_list.QUICKLIST_2, -2)
