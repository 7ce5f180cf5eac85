"""The longest common subsequence compared with a plain table."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from storage.strings.subsequence import CommonSubsequence

TEXTS = st.text("abc", max_size=20).map(str.encode)
LONG_TEXTS = st.text("abcdefgh", min_size=31, max_size=140).map(str.encode)


def naive_length(one: bytes, other: bytes) -> int:
    row = [0] * (len(other) + 1)
    for a in one:
        above = row[:]
        for j, b in enumerate(other):
            row[j + 1] = above[j] + 1 if a == b else max(above[j + 1], row[j])
    return row[-1]


@given(TEXTS | LONG_TEXTS, TEXTS | LONG_TEXTS)
def test_the_subsequence_is_in_both_and_as_long_as_any(one: bytes, other: bytes) -> None:
    found = CommonSubsequence(one, other)
    assert found.length == naive_length(one, other) == len(found.text())
    ranges = found.ranges()
    for a, b, size in ranges:
        assert one[a : a + size] == other[b : b + size]
    for (a, b, _), (before_a, before_b, size) in pairwise(ranges):
        assert before_a + size <= a
        assert before_b + size <= b
    assert sum(size for *_, size in ranges) == found.length


def naive_ranges(one: bytes, other: bytes) -> list[tuple[int, int]]:
    """The pairs of equal bytes that Redis walks over, from the last to the first."""
    table = [
        [naive_length(one[:i], other[:j]) for j in range(len(other) + 1)]
        for i in range(len(one) + 1)
    ]
    i, j, found = len(one), len(other), []
    while i and j:
        if one[i - 1] == other[j - 1]:
            i, j = i - 1, j - 1
            found.append((i, j))
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found


@given(st.text("ab", max_size=9).map(str.encode), st.text("ab", max_size=9).map(str.encode))
def test_the_way_back_is_redis_s(one: bytes, other: bytes) -> None:
    pairs = [
        (a + step, b + step)
        for a, b, size in CommonSubsequence(one, other).ranges()
        for step in reversed(range(size))
    ]
    assert pairs == naive_ranges(one, other)


def test_of_equal_ways_back_redis_s_is_taken() -> None:
    assert CommonSubsequence(b"ohmytext", b"mynewtext").ranges() == [(4, 5, 4), (2, 0, 2)]
    assert CommonSubsequence(b"abc", b"cba").ranges() == [(2, 0, 1)]
