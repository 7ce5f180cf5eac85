"""borrowed_packed: what a snapshot reads, segment by segment."""

from __future__ import annotations

import pytest

from storage.hash_table import borrowed_packed
from storage.hash_table.packed_table import PackedTable


@pytest.mark.parametrize("items", [0, 1, 170, 171, 5000])
def test_every_item_is_visited_once(items: int) -> None:
    table = PackedTable()
    for n in range(items):
        table.set(b"%d" % n, b"v" * (n % 700))
    found = {}
    for segment in table.segments():
        for at in range(borrowed_packed.count(segment)):
            key = borrowed_packed.key_at(segment, at)
            assert key.size == len(key.octets)
            found[bytes(key.octets)] = borrowed_packed.value_at(segment, at)
    assert len(found) == borrowed_packed.size(table) == items
    for name, value in found.items():
        size = int(name) % 700
        assert value == (b"v" * size, size)
