"""The intset: the bytes that Redis has, and which bytes are refused."""

from __future__ import annotations

import pytest

from storage.errors import Corrupt
from storage.sets import intset


def intset_of(*numbers: int) -> bytes:
    data = intset.EMPTY
    for number in numbers:
        data = intset.inserted(data, -1 - intset.find(data, number), number)
    return data


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((), "02000000 00000000"),
        ((1, -1, 2), "02000000 03000000 ffff 0100 0200"),
        ((1, 32767, -32768), "02000000 03000000 0080 0100 ff7f"),
        ((1, 32768), "04000000 02000000 01000000 00800000"),
        ((1, -32769), "04000000 02000000 ff7fffff 01000000"),
        ((1, 2**31), "08000000 02000000 0100000000000000 0000008000000000"),
        ((-(2**31), 5), "04000000 02000000 00000080 05000000"),
        ((2**63 - 1, -(2**63)), "08000000 02000000 0000000000000080 ffffffffffffff7f"),
    ],
)
def test_numbers_are_stored_as_redis_stores_them(numbers: tuple[int, ...], expected: str) -> None:
    data = intset_of(*numbers)
    assert data == bytes.fromhex(expected)
    intset.check(data)
    assert [intset.get(data, i) for i in range(intset.length(data))] == sorted(numbers)


def test_the_width_never_becomes_smaller() -> None:
    data = intset_of(1, 2**40)
    assert intset.without(data, 1) == bytes.fromhex("08000000 01000000 0100000000000000")


def test_a_number_is_found_where_it_is_or_would_be() -> None:
    data = intset_of(*range(0, 100, 10))
    assert [intset.find(data, n) for n in (0, 50, 90)] == [0, 5, 9]
    assert [intset.find(data, n) for n in (-1, 5, 91)] == [-1, -2, -11]
    assert intset.find(intset.EMPTY, 0) == -1


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "header"),
        ("02000000 000000", "header"),
        ("03000000 00000000", "width"),
        ("00000000 00000000", "width"),
        ("02000000 01000000", "counts"),
        ("02000000 00000000 0100", "counts"),
        ("02000000 01000000 010000", "counts"),
        ("08000000 ffffffff 0100000000000000", "counts"),
        ("02000000 02000000 0200 0100", "ascend"),
        ("02000000 02000000 0100 0100", "ascend"),
    ],
)
def test_bytes_that_are_no_intset_are_refused(data: str, reason: str) -> None:
    with pytest.raises(Corrupt, match=reason):
        intset.check(bytes.fromhex(data))
