"""Sums of floats: the digits are those that redis 7.0.15 printed on x86-64."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.commands.shared import long_double


def add(left: bytes, right: bytes) -> bytes:
    one, other = long_double.parse(left), long_double.parse(right)
    assert one is not None
    assert other is not None
    total = long_double.sum_of(one, other)
    assert total is not None
    return long_double.text_of(total)


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        (b"10.50", b"0.1", b"10.6"),
        (b"5.0e3", b"200", b"5200"),
        (b"0.1", b"0.2", b"0.3"),
        (b"1000000000000016", b"0.1", b"1000000000000016.0999755859375"),
        (b"1e30", b"0", b"1000000000000000000024696061952"),
        (b"0x10", b"0", b"16"),
        (b"0x1p-3", b"0", b"0.125"),
        (b"1e-20", b"0", b"0"),
        (b"-0", b"0", b"0"),
        (b".5", b"5.", b"5.5"),
        (b"+5", b"-7", b"-2"),
        (b"0.5e-17", b"0", b"0"),
        (b"1e-4950", b"0", b"0"),
        (b"3.6e-4951", b"1", b"1"),
        (b"0." + b"0" * 5000 + b"1e4999", b"0", b"0.01"),
    ],
)
def test_a_sum_has_the_digits_that_redis_prints(left, right, text):
    assert add(left, right) == text


@pytest.mark.parametrize(
    "text",
    [b"", b" 1", b"1 ", b"1_0", b"nan", b"abc", b"1e", b".", b"--1", b"0x", b"1e5000", b"1e-5000",
     b"1" * 4934, b"1" * 5120, b"1e999999999999999999", b"1e" + b"9" * 5000, b"1.19e4932",
     b"0x1p16384", b"1.8e-4951", b"0x1p-16446"],
)  # fmt: skip
def test_parse_refuses_bad_floats(text):
    with pytest.raises(ValueError, match=r"not a float|exponent"):
        long_double.parse(text)


@pytest.mark.parametrize("text", [b"inf", b"-inf", b"+Infinity", b"INF"])
def test_parse_answers_none_for_infinity(text):
    assert long_double.parse(text) is None


def test_a_zero_may_have_any_exponent():
    assert long_double.parse(b"0e999999999999") == 0


@given(st.integers(-(2**64), 2**64), st.integers(-200, 200))
def test_a_float_of_64_bits_is_rounded_to_itself(mantissa, exponent):
    number = mantissa * Fraction(2) ** exponent
    assert long_double.rounded(number) == number


@given(st.fractions())
def test_rounding_errs_by_less_than_half_of_the_last_bit(number):
    error = abs(long_double.rounded(number) - number)
    assert error <= abs(number) / 2**64


@pytest.mark.parametrize(
    ("text", "length", "head", "tail"),
    [
        (b"1e4931", 4932, b"100000000000000000000601894938", b"9188662272"),
        (b"1e4932", 4933, b"100000000000000000000601894938", b"1886622720"),
        (b"-1e4932", 4934, b"-10000000000000000000060189493", b"1886622720"),
        (b"1.18973149535723176502e4932", 4933, b"118973149535723176502126385303", b"1989770240"),
        (b"0x1p16383", 4932, b"594865747678615882542879663314", b"4982033408"),
    ],
)
def test_the_largest_floats_are_accepted(text, length, head, tail):
    total = add(text, b"0")
    assert (len(total), total[:30], total[-10:]) == (length, head, tail)
    assert add(total, b"0") == total


def test_a_sum_may_be_infinite():
    largest = long_double.parse(b"1.1e4932")
    assert largest is not None
    assert long_double.sum_of(largest, largest) is None
    assert long_double.sum_of(-largest, -largest) is None
    assert long_double.sum_of(largest, -largest) == 0
