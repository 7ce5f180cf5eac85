"""small_listpack: the same bytes as a listpack has to which the words were appended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.listpack import small_listpack
from storage.listpack.listpack import Listpack

WORDS = st.lists(
    st.integers(-(2**63), 2**63 - 1).map(b"%d".__mod__) | st.binary(max_size=150), max_size=40
)
FIRST = [b"HSET", b"key"]


def appended(words: list[bytes]) -> bytes:
    pack = Listpack()
    for word in words:
        pack.append(word)
    return pack.dump()


@given(WORDS, st.sampled_from([1, 2]), st.integers(0, 200), st.integers(7, 1024))
def test_it_is_what_appending_makes_or_nothing(
    words: list[bytes], step: int, longest: int, most: int
) -> None:
    text = small_listpack.of_words(FIRST + words, 2, step, longest, most)
    compared = words[::step]
    fits = (
        len(words) <= 32
        and all(len(word) <= longest for word in words)
        and len(set(compared)) == len(compared)
    )
    if text is not None:
        assert fits
        assert text == appended(words)
        assert len(text) <= most
    elif fits:
        assert 7 + sum(len(word) + 12 for word in words) > most


@pytest.mark.parametrize("number", [b"0", b"-1", b"4095", b"12345678901234567890", b"01"])
def test_integers_are_encoded_as_such(number: bytes) -> None:
    assert small_listpack.of_words([number], 0, 1, 64, 511) == appended([number])


def test_words_may_be_equal_if_they_are_not_compared() -> None:
    words = [b"field", b"v", b"other", b"v"]
    assert small_listpack.of_words(words, 0, 2, 64, 511) == appended(words)
    assert small_listpack.of_words(words, 0, 1, 64, 511) is None
