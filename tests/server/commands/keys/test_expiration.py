"""The EXPIRE and TTL families, as redis 7.0.15 answers them."""

from __future__ import annotations

import pytest

NEVER, NO_KEY = -1, -2
NOT_AN_INTEGER = "-ERR value is not an integer or out of range"


@pytest.fixture
def key(server):
    """A key named a, without an expiry."""
    server.send_line("SET a 1")
    server.logged()
    return b"a"


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("EXPIRE", "100"),
        ("PEXPIRE", "100000"),
        ("EXPIREAT", "1700000100"),
        ("PEXPIREAT", "1700000100000"),
    ],
)
def test_each_form_sets_the_same_time_and_logs_it_as_absolute(server, key, name, argument):
    assert server.send(name, key, argument) == 1
    assert server.logged() == [b"PEXPIREAT a 1700000100000"]
    assert server.send_line("TTL a") == 100
    assert server.send_line("PTTL a") == 100_000
    assert server.send_line("EXPIRETIME a") == 1_700_000_100
    assert server.send_line("PEXPIRETIME a") == 1_700_000_100_000


@pytest.mark.parametrize("name", ["TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"])
def test_a_key_without_expiry_and_a_missing_key_are_told_apart(server, key, name):
    assert server.send(name, key) == NEVER
    assert server.send(name, "nokey") == NO_KEY


@pytest.mark.parametrize(("left_ms", "seconds"), [(1499, 1), (1500, 2), (499, 0), (500, 1), (0, 0)])
def test_ttl_is_rounded_to_the_nearest_second(server, key, left_ms, seconds):
    server.send_line("PEXPIRE a 10000")
    server.advance(10_000 - left_ms)
    assert server.send("TTL", key) == seconds


def test_a_key_lives_to_the_end_of_its_last_millisecond(server, key):
    server.send_line("PEXPIRE a 10")
    server.advance(10)
    assert server.send("GET", key) == b"1"
    server.advance(1)
    assert server.send("GET", key) is None


@pytest.mark.parametrize(
    "line", ["EXPIRE a 0", "EXPIRE a -1", "PEXPIRE a -9223372036854775808", "EXPIREAT a 1"]
)
def test_an_expiry_in_the_past_deletes_the_key(server, key, line):
    assert server.send_line(line) == 1
    assert server.send("EXISTS", key) == 0
    assert server.logged() == [b"DEL a"]


@pytest.mark.parametrize(
    ("options", "old", "new", "answer"),
    [
        ("NX", None, 100, 1),
        ("NX", 50, 100, 0),
        ("XX", None, 100, 0),
        ("XX", 50, 100, 1),
        ("GT", None, 100, 0),
        ("GT", 50, 100, 1),
        ("GT", 100, 100, 0),
        ("GT", 100, 50, 0),
        ("LT", None, 100, 1),
        ("LT", 100, 50, 1),
        ("LT", 100, 100, 0),
        ("LT", 50, 100, 0),
        ("XX LT", None, 100, 0),
        ("XX GT", 50, 100, 1),
        ("xx gt", 100, 50, 0),
        ("XX XX", 50, 100, 1),
    ],
)
def test_nx_xx_gt_and_lt(server, key, options, old, new, answer):
    if old is not None:
        server.send("EXPIRE", key, old)
    assert server.send_line(f"EXPIRE a {new} {options}") == answer
    assert server.send("TTL", key) == (new if answer else NEVER if old is None else old)


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("EXPIRE a x", NOT_AN_INTEGER),
        ("EXPIRE a 1.5", NOT_AN_INTEGER),
        ("EXPIRE a 10 foo", "-ERR Unsupported option foo"),
        ("EXPIRE a x foo", "-ERR Unsupported option foo"),
        (
            "EXPIRE a 10 NX XX",
            "-ERR NX and XX, GT or LT options at the same time are not compatible",
        ),
        (
            "EXPIRE a 10 GT NX",
            "-ERR NX and XX, GT or LT options at the same time are not compatible",
        ),
        ("EXPIRE a 10 GT LT", "-ERR GT and LT options at the same time are not compatible"),
        ("EXPIRE a 9223372036854775807", "-ERR invalid expire time in 'expire' command"),
        ("EXPIRE a -9223372036854776", "-ERR invalid expire time in 'expire' command"),
        ("EXPIREAT a 9223372036854776", "-ERR invalid expire time in 'expireat' command"),
        ("PEXPIRE a 9223372036854775807", "-ERR invalid expire time in 'pexpire' command"),
        ("PEXPIREAT a 9223372036854775808", NOT_AN_INTEGER),
        ("EXPIRE nokey 10", 0),
    ],
)
def test_a_refused_expire_changes_nothing(server, key, line, answer):
    assert server.send_line(line) == answer
    assert server.send("TTL", key) == NEVER
    assert server.logged() == []


def test_the_last_64_bit_millisecond_can_be_set(server, key):
    assert server.send_line("PEXPIREAT a 9223372036854775807") == 1
    assert server.send("PEXPIRETIME", key) == 2**63 - 1


def test_persist_removes_the_expiry(server, key):
    assert server.send("PERSIST", key) == 0
    server.send("EXPIRE", key, 100)
    server.logged()
    assert server.send("PERSIST", key) == 1
    assert server.send("TTL", key) == NEVER
    assert server.send_line("PERSIST nokey") == 0
    assert server.logged() == [b"PERSIST a"]


def test_ttl_counts_hits_and_misses(server, key):
    server.send("TTL", key)
    server.send("TTL", "nokey")
    assert (server.state.events.hits, server.state.events.misses) == (1, 1)
