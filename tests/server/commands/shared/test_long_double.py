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
    text = long_double.text_of(total)
    assert long_double.sum_text(left, right) == text
    return text


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
    assert long_double.parse(b"0e999999999999") == (0, 0)


def value_of(number: long_double.Float) -> Fraction:
    mantissa, exponent = number
    assert abs(mantissa) <= 2**64
    return mantissa * Fraction(2) ** exponent


@given(st.integers(-(2**64), 2**64), st.integers(-200, 200))
def test_a_float_of_64_bits_is_rounded_to_itself(mantissa, exponent):
    number = mantissa * Fraction(2) ** exponent
    assert value_of(long_double.rounded(mantissa, exponent)) == number


@given(st.integers(), st.integers(-200, 200))
def test_rounding_errs_by_less_than_half_of_the_last_bit(mantissa, exponent):
    number = mantissa * Fraction(2) ** exponent
    error = abs(value_of(long_double.rounded(mantissa, exponent)) - number)
    assert error <= abs(number) / 2**64


@given(st.integers(-(10**30), 10**30), st.integers(0, 30))
def test_reading_errs_by_less_than_half_of_the_last_bit(digits, decimals):
    text = f"{abs(digits):031}"
    text = f"{'-' if digits < 0 else ''}{text[: 31 - decimals]}.{text[31 - decimals :]}"
    read = long_double.parse(text.encode())
    assert read is not None
    number = Fraction(digits, 10**decimals)
    assert abs(value_of(read) - number) <= abs(number) / 2**64


@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=8
    )
)
def test_the_plain_form_of_a_number_is_read_like_any_other(number):
    assert long_double.parse(f"{number:f}".encode()) == long_double.parse(f"{number:f}e0".encode())


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
    least = long_double.negated(largest)
    assert long_double.sum_of(least, least) is None
    nothing = long_double.sum_of(largest, least)
    assert nothing is not None
    assert value_of(nothing) == 0


@given(st.integers(-(2**64), 2**64), st.integers(-70, 9), st.integers(-(2**64), 2**64))
def test_floats_are_compared_by_value(one, exponent, other):
    less = one * Fraction(2) ** exponent < other
    assert long_double.is_less((one, exponent), (other, 0)) == less


SMALL = st.decimals(
    allow_nan=False, allow_infinity=False, min_value=-25, max_value=25, places=17
) | st.decimals(allow_nan=False, allow_infinity=False, min_value=-25, max_value=25, places=2)


@given(SMALL, SMALL)
def test_a_short_cut_gives_the_digits_of_the_rounded_sum(one, other):
    left, right = f"{one:f}".encode(), f"{other:f}".encode()
    read, other_read = long_double.parse(left + b"e0"), long_double.parse(right + b"e0")
    assert read is not None
    assert other_read is not None
    total = long_double.sum_of(read, other_read)
    assert total is not None
    assert long_double.sum_text(left, right) == long_double.text_of(total)
