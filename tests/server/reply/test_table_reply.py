"""Items of packed tables as RESP."""

from __future__ import annotations

import pytest

from protocol.encoder import Encoder
from server.reply import table_reply
from storage.hash_table.packed_table import PackedTable

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
    table_reply.write_items(out, table, keys, values)
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
    table_reply.write_items(out, PackedTable(), True, True)
    assert out.take() == b""
