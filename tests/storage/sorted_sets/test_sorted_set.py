"""The encodings of a sorted set, evenness of what is drawn, and its memory."""

from __future__ import annotations

import pytest

from storage import allocation
from storage.chance import Chance
from storage.limits import ListpackLimits
from storage.listpack import listpack
from storage.sorted_sets import sorted_set
from storage.sorted_sets.bound import Bound
from storage.sorted_sets.sorted_set import SortedSet
from tests.used_memory import used_at_start
from tests.worth import COMPILED

LIMITS = ListpackLimits(128)
CHANCE = Chance(7)


def set_of(*pairs: tuple[bytes, float], limits: ListpackLimits = LIMITS) -> SortedSet:
    made = SortedSet()
    for member, score in pairs:
        made.put(member, score, limits)
    return made


def numbered(count: int) -> list[tuple[bytes, float]]:
    return [(b"m%d" % n, float(n)) for n in range(count)]


@pytest.mark.parametrize(
    ("pairs", "encoding"),
    [
        (numbered(128), b"listpack"),
        (numbered(129), b"skiplist"),
        ([(b"x" * 64, 1.0)], b"listpack"),
        ([(b"x" * 65, 1.0)], b"skiplist"),
    ],
)
def test_the_encoding_is_the_one_that_redis_chooses(
    pairs: list[tuple[bytes, float]], encoding: bytes
) -> None:
    assert set_of(*pairs).encoding == encoding


@pytest.mark.skipif(COMPILED, reason="the limit of a listpack is a C number")
def test_scores_that_a_listpack_has_no_room_for_make_a_tree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listpack, "LIMIT", 1000)
    monkeypatch.setattr(sorted_set, "MOST", 1000)
    pairs = numbered(1000)
    made = SortedSet()
    while made.pack is not None and made.pack.size + 64 + 4 <= 1000:
        made.put(*pairs[len(made)], limits=ListpackLimits(1000))
    count = len(made)
    assert made.encoding == b"listpack"
    for member, score in pairs[:count]:
        assert made.put(member, score + 0.123456789, LIMITS) == score
    made.check()
    assert made.encoding == b"skiplist"
    assert list(made) == [(member, score + 0.123456789) for member, score in pairs[:count]]


def test_a_sorted_set_is_never_converted_back_by_itself() -> None:
    made = set_of(*numbered(200))
    made.remove_range(1, 200)
    assert (list(made), made.encoding) == ([(b"m0", 0.0)], b"skiplist")
    made.become_small(LIMITS)
    assert (list(made), made.encoding) == ([(b"m0", 0.0)], b"listpack")


@pytest.mark.parametrize("pairs", [[(b"x" * 65, 1.0)], numbered(129)])
def test_what_is_too_large_for_a_listpack_does_not_become_one(
    pairs: list[tuple[bytes, float]],
) -> None:
    made = set_of(*pairs)
    made.become_small(LIMITS)
    assert made.encoding == b"skiplist"
    assert list(made) == pairs


def test_a_listpack_has_integers_for_whole_scores_and_so_no_negative_zero() -> None:
    made = set_of((b"a", -0.0), (b"b", 2.0**62), (b"c", 1.5), (b"d", float("inf")))
    assert made.pack is not None
    assert list(made.pack) == [b"a", 0, b"c", b"1.5", b"b", 2**62, b"d", b"inf"]
    assert str(made.score_of(b"a")) == "0.0"
    tree = set_of((b"x" * 65, 1.0), (b"a", -0.0))
    assert str(tree.score_of(b"a")) == "-0.0"


@pytest.mark.parametrize("entries", [0, 100])
def test_a_range_by_member_is_between_two_ranks(entries: int) -> None:
    limits = ListpackLimits(entries)
    made = set_of(*((name, 0.0) for name in (b"", b"a", b"b", b"bb", b"c")), limits=limits)
    assert made.rank(Bound(None, b"b", False)) == 2
    assert made.rank(Bound(None, b"b", True)) == 3
    assert made.rank(Bound(None, b"ba", False)) == 3
    assert made.rank(Bound(None, None, False)) == 0
    assert made.rank(Bound(None, None, True)) == 5


@pytest.mark.parametrize("count", [40, 1000])
def test_every_member_is_drawn_about_as_often(count: int) -> None:
    """With 100 expected draws of each, 45 to 170 leave room for chance, but for no bias."""
    made = set_of(*numbered(count))
    drawn = dict.fromkeys((member for member, _ in numbered(count)), 0)
    draws = made.draws(CHANCE)
    for _ in range(100 * count):
        drawn[next(draws)[0]] += 1
    assert min(drawn.values()) > 45
    assert max(drawn.values()) < 170


@pytest.mark.parametrize("count", [3, 30])
def test_every_member_is_in_a_sample_about_as_often(count: int) -> None:
    made = set_of(*numbered(60), limits=ListpackLimits(0))
    drawn = dict.fromkeys((member for member, _ in numbered(60)), 0)
    for _ in range(100 * 60 // count):
        for member, _ in made.sample(CHANCE, count):
            drawn[member] += 1
    assert min(drawn.values()) > 45
    assert max(drawn.values()) < 170


@pytest.mark.parametrize("pairs", [numbered(100), numbered(3000), [(b"x" * 5000, 1.0)]])
def test_the_memory_comes_back(pairs: list[tuple[bytes, float]]) -> None:
    start = used_at_start()
    made = set_of(*pairs)
    full = allocation.used_bytes()
    copied = made.copy()
    for member, _ in pairs:
        made.remove(member)
    assert start < allocation.used_bytes()
    assert full > start
    del made, copied
    assert allocation.used_bytes() == start
