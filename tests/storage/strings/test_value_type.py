"""The string type: encodings and copies."""

from __future__ import annotations

import pytest

from storage.strings.value_type import STRING


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
def test_each_form_of_a_string_has_the_encoding_of_redis(value, encoding):
    assert STRING.encoding(value) == encoding


def test_a_copy_of_a_growing_string_is_independent():
    value = bytearray(b"ab")
    copy = STRING.copy(value)
    value += b"c"
    assert copy == b"ab"
    assert type(copy) is bytearray
