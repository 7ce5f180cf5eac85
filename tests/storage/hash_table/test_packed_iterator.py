"""PackedIterator: near texts are bytes of the data, far ones objects."""

from __future__ import annotations

import pytest

from storage.hash_table.packed_table import PackedTable

TEXTS = [b"", b"t", b"t" * 127, b"t" * 128, b"t" * 511, b"t" * 512, b"t" * 5000]


@pytest.mark.parametrize("key", TEXTS)
@pytest.mark.parametrize("value", TEXTS)
def test_an_item_is_given_without_an_object_unless_it_is_far(key: bytes, value: bytes) -> None:
    table = PackedTable()
    table.set(key, value)
    walk = table.iterate()
    assert walk.next()
    assert walk.data is not None
    if len(key) < 512:
        assert walk.far_key is None
        assert walk.data[walk.key_start : walk.key_start + walk.key_size] == key
    else:
        assert walk.far_key is key
    if len(value) < 512:
        assert walk.far_value is None
        assert walk.data[walk.value_start : walk.value_start + walk.value_size] == value
    else:
        assert walk.far_value is value
    assert (walk.key(), walk.value()) == (key, value)
    assert not walk.next()
    assert not walk.next()


@pytest.mark.parametrize("items", [0, 1, 170, 171, 5000])
def test_every_item_is_visited_once(items: int) -> None:
    table = PackedTable()
    for n in range(items):
        table.set(b"%d" % n, b"%d" % (n * n))
    walk = table.iterate()
    found = []
    while walk.next():
        found.append((int(walk.key()), int(walk.value())))
    assert sorted(found) == [(n, n * n) for n in range(items)]
