"""Rows of XINFO STREAMS: cut apart, compared, and written as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.encoder import Encoder
from server.console.stream_rows import key_of, mark_of, read_page, row_text


def resp(value: Any) -> bytes:
    out = Encoder(3)
    out.write(value)
    return out.take()


def row(
    key: bytes = b"a", age: int | None = None, group_age: int | None = None, **more: int
) -> Any:
    return {
        b"key": key,
        b"oldest-pending-ms": age,
        b"group-list": [{b"name": b"g", b"oldest-pending-ms": group_age}],
        **{name.encode(): value for name, value in more.items()},
    }


def test_a_page_is_cut_into_its_rows():
    page = read_page(resp([b"17", [row(b"a"), row(b"b", 5, 6), row(b"c", length=7)]]))
    assert page.cursor == b"17"
    assert [key_of(each) for each in page.rows] == [b"a", b"b", b"c"]
    assert page.rows == [resp(row(b"a")), resp(row(b"b", 5, 6)), resp(row(b"c", length=7))]


def test_a_page_may_be_empty():
    assert read_page(resp([b"0", []])) == (b"0", [])


@pytest.mark.parametrize(
    "key", [b"%3\r\n$3\r\nkey\r\n", b"x%3\r\n$3\r\nkey\r\n$1\r\na\r\n", b"\r\n", b""]
)
def test_a_name_that_looks_like_a_row(key):
    page = read_page(resp([b"0", [row(b"a"), row(key), row(b"b")]]))
    assert [key_of(each) for each in page.rows] == [b"a", key, b"b"]


@given(st.lists(st.binary(max_size=20)), st.integers(0, 2**63))
def test_any_names(keys, cursor):
    page = read_page(resp([b"%d" % cursor, [row(key) for key in keys]]))
    assert page.cursor == b"%d" % cursor
    assert [key_of(each) for each in page.rows] == keys


def test_a_row_as_json():
    group = {b"name": b"g", b"pending": 2, b"lag": None}
    value = {b"key": b"a", b"lag": None, b"policy": [b"MAXLEN", b"5"], b"group-list": [group]}
    assert json.loads(row_text(resp(value))) == {
        "key": "a", "lag": None, "policy": ["MAXLEN", "5"],
        "group-list": [{"name": "g", "pending": 2, "lag": None}],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "shown"),
    [(b"a", "a"), ("é\u2028".encode(), "é\u2028"), (b"\xff", {"base64": "/w=="}),
     (b"\xed\xb2\x80", {"base64": "7bKA"}), (b'"\\\n\0', '"\\\n\0')],
)  # fmt: skip
def test_a_name_may_be_any_bytes(key, shown):
    found = json.loads(row_text(resp(row(key))))
    assert (found["key"], found["group-list"][0]["name"]) == (shown, "g")


def mark(value: Any, ran_ms: int) -> int:
    return mark_of(resp(value), ran_ms)


def test_an_age_that_grows_is_no_change():
    assert mark(row(age=5, group_age=3), 1000) == mark(row(age=105, group_age=103), 1100)


@pytest.mark.parametrize(
    "changed",
    [{"age": 5, "group_age": 103}, {"age": 105, "group_age": 3}, {"age": 105}, {"group_age": 103},
     {"age": 105, "group_age": 103, "length": 1}],
)  # fmt: skip
def test_all_else_is_a_change(changed):
    assert mark(row(age=5, group_age=3), 1000) != mark(row(**changed), 1100)
