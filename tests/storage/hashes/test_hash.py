"""Hash: which form it has, and what it gives back; see also tests/model/test_hash_model.py."""

from __future__ import annotations

import pytest

from storage import allocation
from storage.chance import Chance
from storage.hashes import hash as hash_module
from storage.hashes.hash import Hash
from storage.limits import ListpackLimits
from storage.listpack import listpack
from tests.used_memory import used_at_start
from tests.worth import COMPILED

LIMITS = ListpackLimits(3, 8)
PAIRS = [b"a", b"1", b"b", b"two", b"c", b"3"]


def made(words: list[bytes] = PAIRS, limits: ListpackLimits = LIMITS) -> Hash:
    value = Hash()
    value.put(words, 0, limits)
    return value


@pytest.mark.parametrize(
    ("words", "encoding"),
    [
        ([], b"listpack"),
        ([b"d", b"4"], b"hashtable"),
        ([b"a", b"4"], b"listpack"),
        ([b"a", b"x" * 8], b"listpack"),
        ([b"a", b"x" * 9], b"hashtable"),
        ([b"x" * 9, b"a"], b"hashtable"),
        ([b"a", b"1", b"a", b"2", b"a", b"3", b"a", b"4"], b"hashtable"),
    ],
)
def test_a_hash_becomes_a_table_beyond_the_limits(words: list[bytes], encoding: bytes) -> None:
    value = made()
    value.put(words, 0, LIMITS)
    assert value.encoding == encoding
    assert dict(value) == dict(zip(PAIRS[::2], PAIRS[1::2], strict=True)) | dict(
        zip(words[::2], words[1::2], strict=True)
    )


@pytest.mark.skipif(COMPILED, reason="the limit of a listpack is a C number")
@pytest.mark.parametrize("free", [32, 400])
def test_times_that_a_listpack_has_no_room_for_make_a_table(
    free: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listpack, "LIMIT", 1000)
    monkeypatch.setattr(hash_module, "MOST", 1000)
    value, limits, fields = Hash(), ListpackLimits(1000, 8), list[bytes]()
    while value.pack is not None and value.pack.size + 6 + free <= 1000:
        fields.append(b"%03d" % len(fields))
        value.set(fields[-1], b"", limits)
    assert value.encoding == b"listpack"
    for number, field in enumerate(fields):
        value.expire_at(field, 2**40 + number)
    assert value.encoding == b"hashtable"
    assert dict(value) == dict.fromkeys(fields, b"")
    assert [value.expiry(field) - 2**40 for field in fields] == list(range(len(fields)))


def test_a_hash_beyond_limits_that_were_lowered_is_converted_by_the_next_change() -> None:
    value = made()
    assert not value.set(b"a", b"2", ListpackLimits(2, 8))
    assert (value.encoding, value.get(b"a")) == (b"hashtable", b"2")


def test_a_table_stays_one() -> None:
    value = made()
    value.as_table()
    for field in (b"a", b"b"):
        assert value.remove(field)
    value.set(b"c", b"4", LIMITS)
    assert value.encoding == value.copy().encoding == b"hashtable"
    assert list(value) == [(b"c", b"4")]


@pytest.mark.parametrize("is_table", [False, True])
def test_put_counts_the_new_fields(is_table: bool) -> None:
    value = made()
    if is_table:
        value.as_table()
    assert value.put([b"HSET", b"h", b"a", b"0", b"new", b"1", b"new", b"2"], 2, LIMITS) == 1
    assert (value.get(b"new"), len(value)) == (b"2", 4)


@pytest.mark.parametrize("size", [1, 3, 40])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 12, 13, 39, 40])
def test_a_sample_has_different_fields_with_their_values(size: int, count: int) -> None:
    chance = Chance(1)
    value = made([word for n in range(size) for word in (b"%d" % n, b"v%d" % n)])
    sample = value.sample(chance, min(count, size))
    assert len(dict(sample)) == len(sample) == min(count, size)
    assert all(text == b"v" + field for field, text in sample)
    if count >= size:
        assert sample == list(value)


@pytest.mark.parametrize("size", [3, 4])  # a listpack, and a table
def test_every_field_is_drawn_alone_and_in_a_sample(size: int) -> None:
    chance = Chance(1)
    value = made([word for n in range(size) for word in (b"%d" % n, b"v")])
    draws = value.draws(chance)
    assert {next(draws)[0] for _ in range(200)} == {field for field, _ in value}
    firsts = [value.sample(chance, 1)[0][0] for _ in range(200)]
    assert set(firsts) == {field for field, _ in value}


def test_memory_is_counted_and_given_back() -> None:
    at_start = used_at_start()
    value = made()
    small = allocation.used_bytes()
    for n in range(1000):
        value.set(b"field:%d" % n, b"x" * (n % 700), LIMITS)
    large = allocation.used_bytes()
    assert at_start < small < large - 100_000
    other = value.copy()
    assert allocation.used_bytes() - large > (large - small) // 2
    del value, other
    assert allocation.used_bytes() == at_start
