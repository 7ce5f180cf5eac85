"""Commands on parts of strings, as redis 7.0.15 answers them."""

from __future__ import annotations

import pytest

TOO_LARGE = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)"


def test_append_keeps_the_expiry(house):
    house.send_line("SET a 12 EX 100")
    assert house.send_line("APPEND a 34") == 4
    assert house.send_line("TTL a") == 100
    assert house.send_line("INCR a") == 1235


def test_append_and_setrange_keep_to_proto_max_bulk_len(make_house):
    house = make_house(proto_max_bulk_len=10)
    house.send_line("SET a 12345678")
    assert house.send_line("APPEND a 123") == TOO_LARGE
    assert house.send_line("SETRANGE a 9 12") == TOO_LARGE
    assert house.send_line("SETRANGE no 10 1") == TOO_LARGE
    assert house.send_line("APPEND a 12") == 10
    assert house.send_line("SETRANGE a 9 x") == 10


def test_setrange_fills_with_zero_bytes(house):
    assert house.send_line("SETRANGE a 3 xy") == 5
    assert house.send_line("GET a") == b"\0\0\0xy"
    assert house.send("SETRANGE", "a", 9, "") == 5
    assert house.send("SETRANGE", "no", 9, "") == 0
    assert house.send_line("EXISTS no") == 0


@pytest.mark.parametrize(
    ("start", "end", "part"),
    [
        (0, 4, b"hello"),
        (1, 3, b"ell"),
        (0, -1, b"hello"),
        (-3, -2, b"ll"),
        (-2, -3, b""),
        (3, 1, b""),
        (-100, 100, b"hello"),
        (5, 9, b""),
        (0, -100, b"h"),
    ],
)
@pytest.mark.parametrize("raw", [False, True])
def test_getrange_and_substr(house, start, end, part, raw):
    house.send_line("APPEND a hel")
    house.send_line("APPEND a lo") if raw else house.send_line("SET a hello")
    assert house.send("GETRANGE", "a", start, end) == part
    assert house.send("SUBSTR", "a", start, end) == part


def test_an_integer_is_read_and_changed_as_its_text(house):
    house.send_line("INCRBY a -1234")
    assert house.send_line("STRLEN a") == 5
    assert house.send_line("GETRANGE a 0 1") == b"-1"
    assert house.send_line("SETRANGE a 0 5") == 5
    assert house.send_line("GET a") == b"51234"
