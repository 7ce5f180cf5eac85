"""Commands on parts of strings, as redis 7.0.15 answers them."""

from __future__ import annotations

import pytest

TOO_LARGE = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)"


def test_append_keeps_the_expiry(server):
    server.send_line("SET a 12 EX 100")
    assert server.send_line("APPEND a 34") == 4
    assert server.send_line("TTL a") == 100
    assert server.send_line("INCR a") == 1235


def test_append_and_setrange_keep_to_proto_max_bulk_len(make_server):
    server = make_server(proto_max_bulk_len=10)
    server.send_line("SET a 12345678")
    assert server.send_line("APPEND a 123") == TOO_LARGE
    assert server.send_line("SETRANGE a 9 12") == TOO_LARGE
    assert server.send_line("SETRANGE no 10 1") == TOO_LARGE
    assert server.send_line("APPEND a 12") == 10
    assert server.send_line("SETRANGE a 9 x") == 10


def test_setrange_fills_with_zero_bytes(server):
    assert server.send_line("SETRANGE a 3 xy") == 5
    assert server.send_line("GET a") == b"\0\0\0xy"
    assert server.send("SETRANGE", "a", 9, "") == 5
    assert server.send("SETRANGE", "no", 9, "") == 0
    assert server.send_line("EXISTS no") == 0


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
def test_getrange_and_substr(server, start, end, part, raw):
    server.send_line("APPEND a hel")
    server.send_line("APPEND a lo") if raw else server.send_line("SET a hello")
    assert server.send("GETRANGE", "a", start, end) == part
    assert server.send("SUBSTR", "a", start, end) == part


def test_an_integer_is_read_and_changed_as_its_text(server):
    server.send_line("INCRBY a -1234")
    assert server.send_line("STRLEN a") == 5
    assert server.send_line("GETRANGE a 0 1") == b"-1"
    assert server.send_line("SETRANGE a 0 5") == 5
    assert server.send_line("GET a") == b"51234"
