"""Replies in RESP3 as JSON: each type, what is nested, what is no text, and pieces of long ones."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.encoder import Encoder
from protocol.replies import BigNumber, ErrorReply, Push, Set, Status, Verbatim
from server.console import replies
from server.console.replies import PIECE, after_pushes, array_of, end_of, json_of, pieces


def resp(value: Any) -> bytes:
    out = Encoder(3)
    out.write(value)
    return out.take()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"foo", "foo"),
        (b"", ""),
        ('é\u2028\0"\\'.encode(), 'é\u2028\0"\\'),
        (b"\xff\xfe", {"base64": "//4="}),
        (b"a\r\nb", "a\r\nb"),
        (Status(b"OK"), "OK"),
        (Verbatim(b"some text"), "some text"),
        (7, 7),
        (-(2**53), -(2**53)),
        (2**53 + 1, {"number": "9007199254740993"}),
        (BigNumber(2**100), {"number": str(2**100)}),
        (1.5, 1.5),
        (1e300, 1e300),
        (-0.0, -0.0),
        (math.inf, {"number": "inf"}),
        (-math.inf, {"number": "-inf"}),
        (math.nan, {"number": "nan"}),
        (None, None),
        (True, True),
        (False, False),
        ([], []),
        ([1, [2, [b"3"]], None], [1, [2, ["3"]], None]),
        ({}, {"map": []}),
        ({b"a": 1, b"b": {b"c": [2]}}, {"map": [["a", 1], ["b", {"map": [["c", [2]]]}]]}),
        (Set([b"x", 1]), {"set": ["x", 1]}),
        (Set([]), {"set": []}),
        ([Set([1]), {b"k": Set([])}], [{"set": [1]}, {"map": [["k", {"set": []}]]}]),
        (ErrorReply("ERR", "no"), {"error": "ERR no"}),
        ([b"a", ErrorReply("WRONGTYPE", 'bad "kind"')], ["a", {"error": 'WRONGTYPE bad "kind"'}]),
    ],
)
def test_a_reply(value, expected):
    assert json.loads(json_of(resp(value))) == expected


def test_null_arrays_and_null_bulk_strings_are_null():
    assert json_of(b"*-1\r\n") == json_of(b"$-1\r\n") == "null"


def test_a_bulk_error_is_an_error():
    assert json.loads(json_of(b"!6\r\nERR \xff\n\r\n")) == {"error": "ERR \ufffd\n"}


def test_attributes_are_left_out():
    attribute = b"|1\r\n+ttl\r\n*2\r\n:1\r\n:2\r\n"
    assert json_of(attribute + b":5\r\n") == "5"
    assert json_of(b"*2\r\n:1\r\n" + attribute + b":5\r\n") == "[1,5]"
    assert end_of(attribute + b":5\r\n", 0) == len(attribute) + 4


def test_pushes_before_a_reply_are_left_out():
    push = resp(Push([b"invalidate", [b"key"]]))
    assert after_pushes(push + push + b":5\r\n") == b":5\r\n"
    assert after_pushes(push) == b""
    assert after_pushes(b":5\r\n") == b":5\r\n"


def test_what_comes_after_the_reply_is_not_read():
    assert json_of(b":5\r\n" + resp(Push([b"late"]))) == "5"


def test_what_is_nested_deeply_needs_no_stack():
    deep = b"*1\r\n" * 100_000 + b":1\r\n"
    assert json_of(deep) == "[" * 100_000 + "1" + "]" * 100_000


def test_a_long_reply_comes_in_pieces():
    numbers = list(range(3 * PIECE))
    found = list(pieces(resp(numbers)))
    assert len(found) == 4
    assert json.loads("".join(found)) == numbers


def test_long_values_make_pieces_too():
    found = list(pieces(resp([b"x" * 50_000] * 10)))
    assert len(found) > 4
    assert json.loads("".join(found)) == ["x" * 50_000] * 10


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
@pytest.mark.parametrize("size", [1, 300])
def test_the_array_of_several_replies(count, size):
    texts = list(array_of([resp(b"y" * size)] * count))
    assert json.loads("".join(texts)) == ["y" * size] * count


def test_short_replies_stand_in_few_pieces():
    assert len(list(array_of([b":1\r\n"] * 1000))) < 10


def test_an_error_of_the_console_is_one_line():
    assert replies.error_reply("ERR a\r\n+OK\r\n") == b"-ERR a +OK\r\n"
    assert replies.error_text(b"-ERR a\r\n") == "ERR a"


values = st.recursive(
    st.none() | st.binary(max_size=8) | st.integers(-(2**63), 2**63 - 1) | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(Set)
        | st.dictionaries(st.binary(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)


def plain(value):
    """What JSON must say of *value*."""
    if isinstance(value, bytes):
        return replies.text_value(value)
    if isinstance(value, dict):
        return {"map": [[plain(key), plain(item)] for key, item in value.items()]}
    if isinstance(value, Set):
        return {"set": [plain(item) for item in value]}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) <= 2**53 else {"number": str(value)}
    return value


@given(values)
def test_any_value(value):
    data = resp(value)
    assert json.loads(json_of(data)) == plain(value)
    assert end_of(data + b"+OK\r\n", 0) == len(data)
