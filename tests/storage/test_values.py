"""Names, encodings and copies of values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage import values


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_64_bit_integer_is_one(number):
    assert values.is_integer(b"%d" % number)


@pytest.mark.parametrize(
    "text", [b"", b"-", b"+1", b"01", b"-0", b"1 ", b"1.0", b"%d" % 2**63, b"9" * 1000, b"\xb2"]
)
def test_what_does_not_print_like_one_is_none(text):
    assert not values.is_integer(text)


@pytest.mark.parametrize(
    ("value", "encoding"),
    [
        (5, b"int"),
        (b"5", b"int"),
        (b"x" * 44, b"embstr"),
        (b"x" * 45, b"raw"),
        (bytearray(), b"raw"),
    ],
)
def test_every_form_of_a_string_has_its_encoding(value, encoding):
    assert values.type_name(value) == b"string"
    assert values.encoding_of(value) == encoding


def test_a_copy_of_a_growing_string_grows_alone():
    value = bytearray(b"ab")
    copy = values.copy_of(value)
    value += b"c"
    assert copy == b"ab"
    assert type(copy) is bytearray
