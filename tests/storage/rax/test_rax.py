"""Rax: keys of every shape, seeks, changes while iterating, Redis's node counts, deep trees."""

from __future__ import annotations

import gc
import random
import threading
import weakref

import pytest

from storage import allocation
from storage.rax.rax import Rax
from tests.used_memory import used_at_start

WORDS = [b"alien", b"all", b"ally", b"b", b"be", b"beer", b"zoo"]


def tree_of(keys: list[bytes]) -> Rax:
    rax = Rax()
    for key in keys:
        rax.insert(key, key.upper())
    rax.check()
    return rax


def id_key(ms: int, seq: int) -> bytes:
    return ms.to_bytes(8, "big") + seq.to_bytes(8, "big")


def ids(count: int, per_ms: int) -> list[bytes]:
    return [id_key(1_700_000_000_000 + n // per_ms, n % per_ms) for n in range(count)]


# ---------------------------------------------------------------------- the map


def test_an_empty_tree_has_one_node_and_finds_nothing() -> None:
    rax = Rax()
    assert (len(rax), rax.node_count, list(rax)) == (0, 1, [])
    assert (rax.first(), rax.last(), rax.find(b""), rax.remove(b"")) == (None, None, None, None)
    assert not any(rax.seek(op, b"x").next() for op in (">=", ">", "<=", "<", "=", "^", "$"))


@pytest.mark.parametrize("keys", [[b""], [b"a"], [b"a", b"b"], [b"ab", b"abc", b"b"]])
def test_trees_that_share_the_empty_root_stay_apart(keys: list[bytes]) -> None:
    emptied, cleared, never_used = tree_of(keys), tree_of(keys), Rax()
    for key in keys:
        emptied.remove(key)
    cleared.clear()
    filled = tree_of(keys)
    for rax in (emptied, cleared, never_used):
        assert (len(rax), rax.node_count, list(rax)) == (0, 1, [])
        rax.check()
    assert [key for key, _ in filled] == sorted(keys)
    for rax in (emptied, cleared):
        rax.insert(b"new", 1)
        assert list(rax) == [(b"new", 1)]
    assert list(never_used) == []


def test_a_tree_pays_for_its_nodes_only_while_it_has_keys() -> None:
    start = used_at_start()
    rax = Rax()
    empty = allocation.used_bytes()
    assert empty - start == 64
    rax.insert(b"key", 1)
    assert allocation.used_bytes() > empty
    rax.remove(b"key")
    assert allocation.used_bytes() == empty
    for key in WORDS:
        rax.insert(key, 1)
    rax.clear()
    rax.clear()
    assert allocation.used_bytes() == empty


def test_insert_returns_what_it_replaces() -> None:
    rax = Rax()
    assert rax.insert(b"k", 1) is None
    assert rax.insert(b"k", 2) == 1
    assert (rax.find(b"k"), len(rax)) == (2, 1)


def test_find_and_remove_return_a_default_for_a_missing_key() -> None:
    rax = tree_of(WORDS)
    for missing in (b"", b"a", b"al", b"alix", b"aliens", b"bee", b"beers", b"z", b"zooo"):
        assert rax.find(missing, 7) == 7
        assert rax.remove(missing, 7) == 7
        assert missing not in rax
    assert len(rax) == len(WORDS)


@pytest.mark.parametrize("seed", range(5))
def test_keys_can_be_inserted_and_removed_in_any_order(seed: int) -> None:
    shuffled = random.Random(seed)
    for keys in (WORDS, [b"", b"a", b"aa", b"aaa", b"ab", b"b"], ids(600, 3), ids(600, 300)):
        rax = Rax()
        for key in shuffled.sample(keys, len(keys)):
            rax.insert(key, key)
        assert list(rax) == [(key, key) for key in sorted(keys)]
        for key in shuffled.sample(keys, len(keys)):
            assert rax.remove(key) == key
            assert key not in rax
        rax.check()
        assert (len(rax), rax.node_count) == (0, 1)


def test_a_key_can_be_a_prefix_of_another_or_empty() -> None:
    rax = tree_of([b"", b"a", b"ab", b"abc", b"b"])
    assert [key for key, _ in rax] == [b"", b"a", b"ab", b"abc", b"b"]
    assert rax.remove(b"ab") == b"AB"
    assert rax.remove(b"") == b""
    rax.check()
    assert [key for key, _ in rax] == [b"a", b"abc", b"b"]


def test_a_value_may_be_none() -> None:
    rax = Rax()
    for key in (b"a", b"ab", b"b"):
        rax.insert(key, None)
    assert list(rax) == [(b"a", None), (b"ab", None), (b"b", None)]
    assert rax.find(b"ab", 1) is None
    assert rax.remove(b"b", 1) is None
    assert len(rax) == 2


def test_a_node_can_have_256_children() -> None:
    keys = [bytes([n]) for n in range(256)]
    rax = tree_of(random.Random(0).sample(keys, 256))
    assert [key for key, _ in rax] == keys
    assert all(rax.find(key) == key.upper() for key in keys)


def test_clear_removes_all_keys() -> None:
    rax = tree_of(WORDS)
    rax.clear()
    rax.check()
    assert (len(rax), rax.node_count, list(rax)) == (0, 1, [])
    rax.insert(b"k", 1)
    assert list(rax) == [(b"k", 1)]


# ---------------------------------------------------------------------- order


@pytest.mark.parametrize(
    ("op", "key", "found"),
    [
        ("^", b"", b"alien"),
        ("$", b"", b"zoo"),
        (">=", b"", b"alien"),
        (">=", b"ali", b"alien"),
        (">=", b"alien", b"alien"),
        (">", b"alien", b"all"),
        (">", b"all", b"ally"),
        (">=", b"alz", b"b"),
        (">", b"ba", b"be"),
        (">", b"beer", b"zoo"),
        (">", b"zoo", None),
        (">=", b"zzz", None),
        ("<=", b"zzz", b"zoo"),
        ("<", b"zoo", b"beer"),
        ("<=", b"beeq", b"be"),
        ("<", b"be", b"b"),
        ("<", b"b", b"ally"),
        ("<=", b"all", b"all"),
        ("<", b"all", b"alien"),
        ("<", b"alien", None),
        ("<=", b"", None),
        ("=", b"be", b"be"),
        ("=", b"bee", None),
    ],
)
def test_seek_finds_the_nearest_key(op: str, key: bytes, found: bytes | None) -> None:
    iterator = tree_of(WORDS).seek(op, key)
    assert iterator.valid == (found is not None)
    if found is not None:
        assert (iterator.key, iterator.value) == (found, found.upper())


def test_the_first_step_after_a_seek_returns_the_key_found() -> None:
    rax = tree_of(WORDS)
    iterator = rax.seek(">=", b"b")
    assert iterator.next()
    assert iterator.key == b"b"
    assert iterator.next()
    assert iterator.key == b"be"
    iterator.seek("<=", b"b")
    assert iterator.prev()
    assert iterator.key == b"b"
    assert iterator.prev()
    assert iterator.key == b"ally"


def test_an_iterator_stays_at_its_end() -> None:
    iterator = tree_of([b"a"]).seek("^")
    assert [iterator.next(), iterator.next(), iterator.next(), iterator.prev()] == [
        True,
        False,
        False,
        False,
    ]


def test_an_unknown_seek_operator_is_refused() -> None:
    with pytest.raises(ValueError, match="no such way"):
        Rax().seek("==", b"")


@pytest.mark.parametrize("per_ms", [1, 3, 1000])
def test_iteration_runs_both_ways(per_ms: int) -> None:
    keys = ids(2000, per_ms)
    rax = tree_of(keys)
    iterator = rax.seek("$")
    backwards = []
    while iterator.prev():
        backwards.append(iterator.key)
    assert backwards == keys[::-1]
    assert [key for key, _ in rax] == keys


def test_keys_can_be_removed_and_inserted_while_iterating() -> None:
    keys = ids(600, 3)
    rax = tree_of(keys)
    seen = []
    for key, _ in rax:
        seen.append(key)
        rax.remove(key)
        rax.insert(key[:15] + b"\xff", 0)
    late = {key[:15] + b"\xff" for key in keys}
    assert seen == sorted({*keys, *late})


# ---------------------------------------------------------------------- Redis's nodes


@pytest.mark.parametrize(
    ("keys", "nodes"),
    [
        ([], 1),
        ([b""], 1),
        ([b"a"], 2),
        ([b"abc"], 2),
        ([b"abc", b"a"], 3),
        ([b"a", b"b"], 3),
        ([b"ab", b"b"], 4),
        ([b"abc", b"abd"], 4),
        ([b"foo", b"footer", b"foobar"], 6),
        ([id_key(5, 0)], 2),
        ([id_key(5, 0), id_key(5, 1)], 4),
        ([id_key(5, 0), id_key(6, 0)], 6),
        (ids(256, 256), 258),
    ],
)
def test_the_node_count_is_the_same_as_in_redis(keys: list[bytes], nodes: int) -> None:
    rax = tree_of(keys)
    assert rax.node_count == nodes
    rax = tree_of([*keys, b"!", b"!!", b"a!", b"ab!", b"f"])
    for extra in (b"!!", b"!", b"a!", b"f", b"ab!"):
        rax.remove(extra)
    rax.check()
    assert rax.node_count == nodes


# ---------------------------------------------------------------------- memory


class Value:
    """A value that a weak reference can point to."""


@pytest.mark.parametrize("per_ms", [1, 3, 100])
def test_removed_and_replaced_values_are_released(per_ms: int) -> None:
    rax = Rax()
    values = [Value() for _ in range(300)]
    watched = [weakref.ref(value) for value in values]
    for key, value in zip(ids(300, per_ms), values, strict=True):
        rax.insert(key, value)
    rax.insert(b"x", values[0])
    rax.remove(ids(300, per_ms)[0])
    rax.insert(ids(300, per_ms)[1], None)
    rax.remove(b"x")
    del values, value
    assert [n for n, value in enumerate(watched) if value() is None] == [0, 1]
    rax.clear()
    assert all(value() is None for value in watched)


def test_a_tree_of_nothing_but_bare_values_gives_back_what_it_has_counted() -> None:
    """Without the compiled modules its root kept its branches counted."""
    used = used_at_start()
    rax = Rax()
    rax.insert(b"same 1", 1)
    rax.insert(b"same 2", 2)
    assert allocation.used_bytes() > used
    rax.clear()
    del rax
    assert allocation.used_bytes() == used


@pytest.mark.parametrize(("per_ms", "least", "most"), [(250, 9, 10), (1, 9, 10), (3, 28, 36)])
def test_a_stream_id_takes_few_bytes_at_any_density(per_ms: int, least: int, most: int) -> None:
    """Redis's rax takes 25 bytes a key with many keys in a millisecond, 40 with 3, 57 with one."""
    rax = tree_of(ids(30_000, per_ms))
    assert least * 30_000 <= rax.weight() <= most * 30_000


def test_an_iterator_stays_safe_when_its_tree_is_cleared_or_dropped() -> None:
    rax = tree_of(ids(300, 3))
    iterator = rax.seek(">=", ids(300, 3)[150])
    rax.clear()
    assert iterator.value == ids(300, 3)[150].upper()
    assert iterator.next()
    assert not iterator.next()
    iterator = tree_of([b"a", b"b"]).seek("^")
    gc.collect()
    assert [iterator.next(), iterator.next(), iterator.key] == [True, True, b"b"]


def test_an_iterator_goes_on_in_a_tree_that_was_emptied_and_filled() -> None:
    rax = tree_of([b"b"])
    place = rax.seek("^")
    assert place.next()
    rax.remove(b"b")
    assert not place.next()
    place = tree_of([]).seek("^")
    assert not place.next()
    rax.insert(b"a", 1)
    place = rax.seek("^")
    assert place.next()
    rax.clear()
    rax.insert(b"c", 2)
    assert place.next()
    assert (place.key, place.value) == (b"c", 2)


def test_a_deep_tree_is_freed_without_a_deep_stack() -> None:
    def grow_and_drop() -> None:
        rax = Rax()
        key = bytes(20_000)
        for length in range(len(key), 0, -1):
            rax.insert(key[:length], length)
        dropped.append((len(rax), rax.find(key)))
        del rax

    dropped: list[tuple[int, int]] = []
    usual = threading.stack_size(256 * 1024)
    thread = threading.Thread(target=grow_and_drop)
    thread.start()
    thread.join()
    threading.stack_size(usual)
    assert dropped == [(20_000, 20_000)]
