"""KEYS, SCAN and RANDOMKEY."""

from __future__ import annotations

import pytest


def scan_all(house, *options):
    cursor, keys = b"0", []
    while True:
        cursor, page = house.send("SCAN", cursor, *options)
        keys += page
        if cursor == b"0":
            return keys


def test_keys_lists_the_matching_keys(house):
    house.send_line("MSET one 1 two 2 three 3")
    assert sorted(house.send_line("KEYS t*")) == [b"three", b"two"]
    assert house.send_line("KEYS x*") == []


def test_expired_keys_are_not_listed(house):
    house.send_line("SET a 1 PX 10")
    house.send_line("SET b 1 PX 12")
    house.advance(11)
    assert house.send_line("KEYS *") == [b"b"]
    assert scan_all(house) == [b"b"]


def test_scan_shows_each_key_once_whatever_the_count(house):
    names = [b"key:%d" % n for n in range(500)]
    for name in names:
        house.send("SET", name, "x")
    for count in (1, 7, 10, 1000):
        assert sorted(scan_all(house, "COUNT", count)) == sorted(names)


def test_scan_filters_by_pattern_and_type(house):
    house.send_line("MSET a1 1 a2 2 b1 3")
    assert sorted(scan_all(house, "MATCH", "a*")) == [b"a1", b"a2"]
    assert len(scan_all(house, "TYPE", "STRING")) == 3
    house.send_line("RPUSH l x")
    assert scan_all(house, "TYPE", "list") == [b"l"]
    assert scan_all(house, "TYPE", "no such type") == []
    assert house.send("SCAN", "0", "TYPE", "") == [b"0", []]


@pytest.mark.parametrize("cursor", ["", "a", "1a", " 1", "0x1", "18446744073709551616", "9" * 40])
def test_scan_refuses_a_bad_cursor(house, cursor):
    assert house.send("SCAN", cursor) == "-ERR invalid cursor"


@pytest.mark.parametrize("cursor", ["18446744073709551615", "007", "9223372036854775808"])
def test_scan_takes_any_64_bit_cursor(house, cursor):
    assert house.send("SCAN", cursor) == [b"0", []]


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
def test_scan_checks_its_options(house, options, answer):
    assert house.send_line(f"SCAN 0 {options}") == answer


def test_a_bad_cursor_is_reported_before_a_bad_option(house):
    assert house.send_line("SCAN x FOO") == "-ERR invalid cursor"


def test_randomkey_answers_an_existing_key(house):
    assert house.send_line("RANDOMKEY") is None
    house.send_line("SET gone 1 PX 1")
    house.send_line("MSET a 1 b 2")
    house.advance(2)
    assert {house.send_line("RANDOMKEY") for _ in range(100)} == {b"a", b"b"}
