"""Elements of listpacks and items of packed tables as RESP: in runs, and too long for one run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.encoder import Encoder
from server.commands.shared import packed_reply
from storage.hash_table.packed_table import PackedTable
from storage.listpack.listpack import Listpack

ELEMENTS = st.lists(
    st.binary(max_size=70)
    | st.integers(-(2**63), 2**63 - 1).map(lambda n: b"%d" % n)
    | st.sampled_from([b"x" * 63, b"x" * 64, b"x" * 4095, b"x" * 4096]),
    min_size=1,
    max_size=30,
)


def pack_of(elements: list[bytes]) -> Listpack:
    pack = Listpack()
    for element in elements:
        pack.append(element)
    return pack


def bulks(elements: list[bytes]) -> bytes:
    return b"".join(b"$%d\r\n%b\r\n" % (len(element), element) for element in elements)


@given(ELEMENTS, st.data(), st.integers(0, 40))
def test_so_many_elements_are_written_or_as_many_as_there_are(
    elements: list[bytes], data: st.DataObject, most: int
) -> None:
    pack = pack_of(elements)
    first = data.draw(st.integers(0, len(elements) - 1))
    expected = elements[first : first + most]
    out = Encoder()
    out.raw(b"+before\r\n")
    assert packed_reply.write_elements(out, pack, pack.seek(first), most) == len(expected)
    assert out.take() == b"+before\r\n" + bulks(expected)


def test_a_long_listpack_takes_no_more_room_than_its_elements_need() -> None:
    elements = [b"%d" % number for number in range(20_000)]
    pack = pack_of(elements)
    out = Encoder()
    out.limit = 200_000
    assert packed_reply.write_elements(out, pack, pack.first(), 10_000) == 10_000
    assert not out.overflown
    assert out.take() == bulks(elements[:10_000])


SIZES = [0, 1, 9, 10, 99, 100, 127, 128, 511]  # the head of a text or its length changes
FAR_SIZES = [512, 70_000]


@pytest.mark.parametrize("sizes", [SIZES, SIZES + FAR_SIZES])
@pytest.mark.parametrize(("keys", "values"), [(True, True), (True, False), (False, True)])
def test_all_items_are_written_in_the_order_of_the_table(
    sizes: list[int], keys: bool, values: bool
) -> None:
    table = PackedTable()
    for number in range(1000):
        size = sizes[number % len(sizes)]
        table.set(b"%d:" % number + b"k" * sizes[number % 7], b"v" * size)
    out = Encoder()
    packed_reply.write_items(out, table, keys, values)
    expected = Encoder()
    item = table.iterate()
    while item.next():
        if keys:
            expected.bulk(item.key())
        if values:
            expected.bulk(item.value())
    assert out.take() == expected.take()


def test_an_empty_table_writes_nothing() -> None:
    out = Encoder()
    packed_reply.write_items(out, PackedTable(), True, True)
    assert out.take() == b""
