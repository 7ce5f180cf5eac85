"""The encodings of a set, evenness of what is drawn, and its memory."""

from __future__ import annotations

import pytest

from storage import allocation
from storage.chance import Chance
from storage.limits import SetLimits
from storage.sets.member_set import MemberSet
from tests.used_memory import used_at_start

LIMITS = SetLimits()
CHANCE = Chance(7)


def set_of(*members: bytes, limits: SetLimits = LIMITS) -> MemberSet:
    made = MemberSet()
    for member in members:
        made.add(member, limits)
    return made


def numbers(count: int) -> list[bytes]:
    return [b"%d" % n for n in range(count)]


def words(count: int) -> list[bytes]:
    return [b"w%d" % n for n in range(count)]


@pytest.mark.parametrize(
    ("members", "encoding"),
    [
        (numbers(512), b"intset"),
        (numbers(513), b"hashtable"),
        ([*numbers(127), b"a"], b"listpack"),
        ([*numbers(128), b"a"], b"hashtable"),
        (words(128), b"listpack"),
        (words(129), b"hashtable"),
        ([b"x" * 64], b"listpack"),
        ([b"x" * 65], b"hashtable"),
        ([b"1", b"x" * 65], b"hashtable"),
    ],
)
def test_the_encoding_is_the_one_that_redis_chooses(members: list[bytes], encoding: bytes) -> None:
    assert set_of(*members).encoding == encoding


def test_an_intset_with_a_number_too_long_for_a_listpack_becomes_a_hashtable() -> None:
    limits = SetLimits(512, 128, 4)
    assert set_of(b"-1234", b"a", limits=limits).encoding == b"hashtable"
    assert set_of(b"1234", b"a", limits=limits).encoding == b"listpack"


@pytest.mark.parametrize(
    ("first", "count", "encoding"),
    [
        (b"1", 512, b"intset"),
        (b"1", 513, b"hashtable"),
        (b"a", 128, b"listpack"),
        (b"a", 129, b"hashtable"),
    ],
)
def test_a_set_that_will_be_large_is_a_hashtable_at_once(
    first: bytes, count: int, encoding: bytes
) -> None:
    made = MemberSet()
    made.expect(first, count, LIMITS)
    assert made.encoding == encoding
    made.add(first, LIMITS)
    made.expect(first, 1000, LIMITS)
    assert made.encoding == b"hashtable"
    assert list(made) == [first]


def test_a_set_is_never_converted_back() -> None:
    made = set_of(*words(200))
    for member in words(199):
        assert made.remove(member)
    assert (list(made), made.encoding) == ([b"w199"], b"hashtable")


@pytest.mark.parametrize("members", [numbers(40), words(40), words(1000)])
def test_every_member_is_drawn_about_as_often(members: list[bytes]) -> None:
    """With 100 expected draws of each, 45 to 170 leave room for chance, but for no bias."""
    made = set_of(*members)
    drawn = dict.fromkeys(members, 0)
    for _ in range(100 * len(members)):
        drawn[made.random_member(CHANCE)] += 1
    assert min(drawn.values()) > 45
    assert max(drawn.values()) < 170


@pytest.mark.parametrize("count", [3, 30])
def test_every_member_is_in_a_sample_about_as_often(count: int) -> None:
    members = words(60)
    made = set_of(*members, limits=SetLimits(0, 0, 0))
    drawn = dict.fromkeys(members, 0)
    for _ in range(100 * len(members) // count):
        for member in made.sample(CHANCE, count):
            drawn[member] += 1
    assert min(drawn.values()) > 45
    assert max(drawn.values()) < 170


@pytest.mark.parametrize("members", [numbers(300), words(100), words(3000), [b"x" * 5000]])
def test_the_memory_comes_back(members: list[bytes]) -> None:
    start = used_at_start()
    made = set_of(*members)
    full = allocation.used_bytes()
    copied = made.copy()
    for member in members:
        made.remove(member)
    assert start < allocation.used_bytes()
    assert full > start
    del made, copied
    assert allocation.used_bytes() == start
