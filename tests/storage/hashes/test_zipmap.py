"""Zipmaps, which very old RDB files hold; tests/compat/test_rdb_exchange.py gives them to Redis."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.errors import Corrupt
from storage.hashes.zipmap import pairs_of

LONG = b"b" * 300
MADE = (
    b"\x02" + b"\x01a\x01\x00" + b"1" + b"\x03foo" + b"\xfe\x2c\x01\x00\x00\x02" + LONG + b"..\xff"
)


def test_a_zipmap_is_read_with_its_unused_bytes_left_out() -> None:
    assert list(pairs_of(MADE)) == [(b"a", b"1"), (b"foo", LONG)]


def test_a_count_of_254_is_no_count() -> None:
    assert list(pairs_of(b"\xfe\x01a\x00\x00\xff")) == [(b"a", b"")]
    assert list(pairs_of(b"\x00\xff")) == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"\x01\x01a\x01\x00" + b"1",
        b"\x02\x01a\x01\x00" + b"1\xff",
        b"\x01\x02a\xff",
        b"\x01\x01a\xff",
        b"\x01\x01a\x01\xff",
        b"\x01\x01a\x01\x01" + b"1\xff",
        b"\x01\xfe\xff\xff\xff\xff\xff",
        b"\x01\x01a\xff\x00\xff",
    ],
)
def test_a_damaged_zipmap_is_refused(data: bytes) -> None:
    with pytest.raises(Corrupt):
        list(pairs_of(data))


@given(st.binary(max_size=30))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        pairs = list(pairs_of(data))
    except Corrupt:
        return
    assert sum(len(field) + len(text) for field, text in pairs) < len(data)
