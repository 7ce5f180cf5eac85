"""Prefixes that do not overlap, beside a plain list of them."""

from __future__ import annotations

import random

from server.client.disjoint_prefixes import DisjointPrefixes, first_overlap, overlaps


def any_prefix(rng: random.Random) -> bytes:
    return bytes(rng.choice(b"ab\0\xff") for _ in range(rng.randrange(9)))


def test_the_first_that_overlaps_in_their_order_is_found() -> None:
    rng = random.Random(3)
    for size in (1, 10, 3000):
        prefixes, plain = DisjointPrefixes(), list[bytes]()
        for _ in range(size):
            prefix = any_prefix(rng) if rng.random() < 0.3 else rng.randbytes(12)
            expected = min((each for each in plain if overlaps(each, prefix)), default=None)
            assert prefixes.overlap(prefix) == expected
            if expected is None:
                prefixes.add(prefix)
                plain.append(prefix)
        assert list(prefixes) == sorted(plain)
        assert len(prefixes) == len(plain)


def test_many_are_kept_in_their_order() -> None:
    prefixes = DisjointPrefixes()
    added = [b"%07d" % n for n in range(20_000)]
    random.Random(5).shuffle(added)
    for prefix in added:
        assert prefixes.overlap(prefix) is None
        prefixes.add(prefix)
    assert list(prefixes) == sorted(added)
    assert b"0000042" in prefixes
    assert b"000004" not in prefixes


def test_the_empty_one_may_be_beside_others_and_overlaps_with_each() -> None:
    prefixes = DisjointPrefixes()
    for prefix in (b"foo", b"", b"goo"):
        prefixes.add(prefix)
    assert list(prefixes) == [b"", b"foo", b"goo"]
    assert [prefixes.overlap(prefix) for prefix in (b"foo1", b"a", b"")] == [b"", b"", b""]
    assert [prefix in prefixes for prefix in (b"", b"foo", b"fo", b"foo1")] == [
        True, True, False, False,
    ]  # fmt: skip


def test_the_first_two_that_overlap_are_those_that_a_look_at_all_pairs_finds() -> None:
    rng = random.Random(9)
    for _ in range(3000):
        given = [any_prefix(rng) for _ in range(rng.randrange(6))]
        pairs = (
            (one, other)
            for one in range(len(given))
            for other in range(one + 1, len(given))
            if overlaps(given[one], given[other])
        )
        assert first_overlap(given) == next(pairs, None)
