"""KEYS, SCAN and RANDOMKEY."""

from __future__ import annotations

import pytest


def scan_all(server, *options):
    cursor, keys = b"0", []
    while True:
        cursor, page = server.send("SCAN", cursor, *options)
        keys += page
        if cursor == b"0":
            return keys


def test_keys_lists_the_matching_keys(server):
    server.send_line("MSET one 1 two 2 three 3")
    assert sorted(server.send_line("KEYS t*")) == [b"three", b"two"]
    assert server.send_line("KEYS x*") == []


def test_expired_keys_are_not_listed(server):
    server.send_line("SET a 1 PX 10")
    server.send_line("SET b 1 PX 12")
    server.advance(11)
    assert server.send_line("KEYS *") == [b"b"]
    assert scan_all(server) == [b"b"]


def test_scan_shows_each_key_once_whatever_the_count(server):
    names = [b"key:%d" % n for n in range(500)]
    for name in names:
        server.send("SET", name, "x")
    for count in (1, 7, 10, 1000):
        assert sorted(scan_all(server, "COUNT", count)) == sorted(names)


def test_scan_filters_by_pattern_and_type(server):
    server.send_line("MSET a1 1 a2 2 b1 3")
    assert sorted(scan_all(server, "MATCH", "a*")) == [b"a1", b"a2"]
    assert len(scan_all(server, "TYPE", "STRING")) == 3
    server.send_line("RPUSH l x")
    assert scan_all(server, "TYPE", "list") == [b"l"]
    assert scan_all(server, "TYPE", "no such type") == []
    assert server.send("SCAN", "0", "TYPE", "") == [b"0", []]


@pytest.mark.parametrize("cursor", ["", "a", "1a", " 1", "0x1", "18446744073709551616", "9" * 40])
def test_scan_refuses_a_bad_cursor(server, cursor):
    assert server.send("SCAN", cursor) == "-ERR invalid cursor"


@pytest.mark.parametrize("cursor", ["18446744073709551615", "007", "9223372036854775808"])
def test_scan_takes_any_64_bit_cursor(server, cursor):
    assert server.send("SCAN", cursor) == [b"0", []]


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ("COUNT 0", "-ERR syntax error"),
        ("COUNT -1", "-ERR syntax error"),
        ("COUNT x", "-ERR value is not an integer or out of range"),
        ("COUNT 9223372036854775808", "-ERR value is not an integer or out of range"),
        ("COUNT 9223372036854775807", [b"0", []]),
        ("MATCH", "-ERR syntax error"),
        ("FOO bar", "-ERR syntax error"),
    ],
)
def test_scan_checks_its_options(server, options, answer):
    assert server.send_line(f"SCAN 0 {options}") == answer


def test_a_bad_cursor_is_reported_before_a_bad_option(server):
    assert server.send_line("SCAN x FOO") == "-ERR invalid cursor"


def test_randomkey_answers_an_existing_key(server):
    assert server.send_line("RANDOMKEY") is None
    server.send_line("SET gone 1 PX 1")
    server.send_line("MSET a 1 b 2")
    server.advance(2)
    assert {server.send_line("RANDOMKEY") for _ in range(100)} == {b"a", b"b"}
