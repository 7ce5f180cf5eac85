"""Bits of strings compared with the digits of a number in base 2."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.strings import bits

TEXTS = st.binary(min_size=1, max_size=40) | st.sampled_from([bytes(70), b"\xff" * 70])


def digits_of(text: bytes) -> str:
    return "".join(f"{byte:08b}" for byte in text)


@given(TEXTS, st.data(), st.booleans())
def test_a_range_is_counted_and_searched(text: bytes, data: st.DataObject, bit: bool) -> None:
    first = data.draw(st.integers(0, 8 * len(text) - 1))
    last = data.draw(st.integers(first, 8 * len(text) - 1))
    part = digits_of(text)[first : last + 1]
    for value in (text, bytearray(text)):
        assert bits.count(value, first, last) == part.count("1")
        found = part.find("1" if bit else "0")
        assert bits.position(value, bit, first, last) == (first + found if found >= 0 else -1)


def test_long_strings_are_counted_and_searched() -> None:
    text = bytes(100_000) + b"\x10" + bytes(100_003)
    assert bits.count(text, 0, 8 * len(text) - 1) == 1
    assert bits.position(text, True, 5, 8 * len(text) - 1) == 800_003
    assert bits.position(text, True, 800_004, 8 * len(text) - 1) == -1
    assert bits.count(b"\xff" * 100_001, 3, 800_001) == 799_999


@given(
    st.sampled_from([bits.AND, bits.OR, bits.XOR]),
    st.lists(st.binary(max_size=40), min_size=1, max_size=5),
)
def test_strings_are_combined_as_if_zeros_followed(operation: str, texts: list[bytes]) -> None:
    most = max(map(len, texts))
    numbers = [int.from_bytes(text.ljust(most, b"\0"), "big") for text in texts]
    expected = numbers[0]
    for number in numbers[1:]:
        if operation == bits.AND:
            expected &= number
        elif operation == bits.OR:
            expected |= number
        else:
            expected ^= number
    given_texts: list[bytes | bytearray] = [*texts[:1], *map(bytearray, texts[1:])]
    assert bits.combined(operation, given_texts) == expected.to_bytes(most, "big")
    assert [bytes(text) for text in given_texts] == texts


@pytest.mark.parametrize("operation", [bits.AND, bits.OR, bits.XOR])
def test_long_strings_of_different_lengths_are_combined(operation: str) -> None:
    """Longer ones than are in the cache at once."""
    one, other = b"\x0f\xff" * 20_000, b"\x3c" * 33_000
    most = max(len(one), len(other))
    numbers = [int.from_bytes(text.ljust(most, b"\0"), "big") for text in (one, other)]
    expected = {
        bits.AND: numbers[0] & numbers[1],
        bits.OR: numbers[0] | numbers[1],
        bits.XOR: numbers[0] ^ numbers[1],
    }[operation].to_bytes(most, "big")
    assert bits.combined(operation, [one, other]) == expected
    assert bits.combined(operation, [other, one]) == expected
    assert bits.combined(operation, [one, b"", other]) == (
        bytes(most) if operation == bits.AND else expected
    )
    assert bits.combined(bits.NOT, [one]) == b"\xf0\x00" * 20_000


@given(
    st.sampled_from([bits.DIFF, bits.DIFF1, bits.ANDOR, bits.ONE]),
    st.lists(st.binary(max_size=40), min_size=2, max_size=6),
    st.sampled_from([1, 1000]),
)
def test_the_first_and_the_others_are_combined(
    operation: str, texts: list[bytes], times: int
) -> None:
    texts = [text * times for text in texts]
    most = max(map(len, texts))
    first, *others = (int.from_bytes(text.ljust(most, b"\0"), "big") for text in texts)
    joined = once = shared = 0
    for number in others:
        joined |= number
    for number in (first, *others):
        shared |= once & number
        once |= number
    expected = {
        bits.DIFF: first & ~joined,
        bits.DIFF1: joined & ~first,
        bits.ANDOR: first & joined,
        bits.ONE: once & ~shared,
    }[operation].to_bytes(most, "big")
    assert bits.selected(operation, [bytearray(texts[0]), *texts[1:]]) == expected


@given(TEXTS, st.integers(0, 700))
def test_a_bit_beyond_the_end_is_zero(text: bytes, bit: int) -> None:
    assert bits.at(text, bit) == int(digits_of(text).ljust(701, "0")[bit])


@pytest.mark.parametrize("text", [b"", b"\x0f", b"abc" * 50])
def test_not_turns_every_bit(text: bytes) -> None:
    assert bits.combined(bits.NOT, [text]) == bytes(byte ^ 0xFF for byte in text)
