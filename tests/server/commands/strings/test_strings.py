"""GET, SET and their relatives, as redis 7.0.15 answers them."""

from __future__ import annotations

import pytest

NOT_AN_INTEGER = "-ERR value is not an integer or out of range"
NOT_A_FLOAT = "-ERR value is not a valid float"
TOO_LARGE = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)"
SYNTAX = "-ERR syntax error"
NOW_MS = 1_700_000_000_000


# ---------------------------------------------------------------------- SET


def test_set_drops_the_expiry_unless_told_to_keep_it(server):
    server.send_line("SET a 1 EX 100")
    server.send_line("SET a 2 KEEPTTL")
    assert server.send_line("TTL a") == 100
    server.send_line("SET a 3")
    assert server.send_line("TTL a") == -1


@pytest.mark.parametrize(
    "line",
    [
        "SET a 1 EX 5",
        "SET a 1 PX 5000",
        "SET a 1 EXAT 1700000005",
        "SET a 1 PXAT 1700000005000",
        "SETEX a 5 1",
        "PSETEX a 5000 1",
        "SET a 1 EX 9 EX 5",
    ],
)
def test_every_form_of_set_with_an_expiry_is_logged_as_set_pxat(server, line):
    assert server.send_line(line) == b"OK"
    assert server.send_line("PTTL a") == 5000
    assert server.logged() == [b"SET a 1 PXAT 1700000005000"]


@pytest.mark.parametrize(
    ("before", "line", "answer", "after"),
    [
        (None, "SET a 2 NX", b"OK", b"2"),
        (b"1", "SET a 2 NX", None, b"1"),
        (None, "SET a 2 XX", None, None),
        (b"1", "SET a 2 XX", b"OK", b"2"),
        (None, "SET a 2 GET", None, b"2"),
        (b"1", "SET a 2 GET", b"1", b"2"),
        (b"1", "SET a 2 NX GET", b"1", b"1"),
        (None, "SET a 2 NX GET", None, b"2"),
        (b"1", "SET a 2 XX GET", b"1", b"2"),
        (None, "SETNX a 2", 1, b"2"),
        (b"1", "SETNX a 2", 0, b"1"),
        (None, "GETSET a 2", None, b"2"),
        (b"1", "GETSET a 2", b"1", b"2"),
    ],
)
def test_set_nx_xx_get_setnx_and_getset(server, before, line, answer, after):
    if before is not None:
        server.send("SET", "a", before)
    assert server.send_line(line) == answer
    assert server.send_line("GET a") == after


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("SET a 2 FOO", SYNTAX),
        ("SET a 2 NX XX", SYNTAX),
        ("SET a 2 EX", SYNTAX),
        ("SET a 2 EX 10 PX 10", SYNTAX),
        ("SET a 2 EX 10 KEEPTTL", SYNTAX),
        ("SET a 2 KEEPTTL EX 10", SYNTAX),
        ("SET a 2 EX x FOO", SYNTAX),
        ("SET a 2 EX x", NOT_AN_INTEGER),
        ("SET a 2 EX 0", "-ERR invalid expire time in 'set' command"),
        ("SET a 2 PX -1", "-ERR invalid expire time in 'set' command"),
        ("SET a 2 EX 9223372036854775807", "-ERR invalid expire time in 'set' command"),
        ("SET a 2 PX 9223372036854775807", "-ERR invalid expire time in 'set' command"),
        ("SETEX a 0 2", "-ERR invalid expire time in 'setex' command"),
        ("SETEX a x 2", NOT_AN_INTEGER),
        ("PSETEX a -5 2", "-ERR invalid expire time in 'psetex' command"),
        ("MSET a 2 b", "-ERR wrong number of arguments for 'mset' command"),
        ("MSETNX b 2 a", "-ERR wrong number of arguments for 'msetnx' command"),
        ("INCR a", NOT_AN_INTEGER),
        ("INCRBY a x", NOT_AN_INTEGER),
        ("INCRBYFLOAT a 1", NOT_A_FLOAT),
        ("DECRBY a -9223372036854775808", "-ERR decrement would overflow"),
        ("SETRANGE a -1 x", "-ERR offset is out of range"),
        ("SETRANGE a x x", NOT_AN_INTEGER),
        ("SETRANGE a 536870912 x", TOO_LARGE),
        ("SETRANGE a 9223372036854775807 x", TOO_LARGE),
        ("GETRANGE a x 1", NOT_AN_INTEGER),
        ("GETEX a EX 10 PERSIST", SYNTAX),
        ("GETEX a EX 10 PX 10", SYNTAX),
        ("GETEX a FOO", SYNTAX),
        ("GETEX a EX 0", "-ERR invalid expire time in 'getex' command"),
    ],
)
def test_a_refused_command_changes_nothing(server, line, answer):
    server.send_line("SET a old")
    server.logged()
    assert server.send_line(line) == answer
    assert server.send_line("GET a") == b"old"
    assert server.send_line("TTL a") == -1
    assert server.logged() == []


def test_set_replaces_a_value_of_another_type_unless_it_has_get(server):
    server.send_line("RPUSH s x")
    assert server.send_line("SET s 1 GET").startswith("-WRONGTYPE")
    assert server.send_line("SET s 1") == b"OK"


# ---------------------------------------------------------------------- GETDEL and GETEX


def test_getdel_answers_the_value_and_deletes_it(server):
    server.send_line("SET a 1")
    server.logged()
    assert server.send_line("GETDEL a") == b"1"
    assert server.send_line("GETDEL a") is None
    assert server.logged() == [b"DEL a"]


@pytest.mark.parametrize(
    ("option", "ttl_ms", "logged"),
    [
        ("", 1000, []),
        ("EX 5", 5000, [b"PEXPIREAT a %d" % (NOW_MS + 5000)]),
        ("PX 5", 5, [b"PEXPIREAT a %d" % (NOW_MS + 5)]),
        ("EXAT 1700000005", 5000, [b"PEXPIREAT a %d" % (NOW_MS + 5000)]),
        ("PERSIST", -1, [b"PERSIST a"]),
        ("PXAT 1", -2, [b"DEL a"]),
    ],
)
def test_getex_sets_or_removes_the_expiry(server, option, ttl_ms, logged):
    server.send_line("SET a 1 PX 1000")
    server.logged()
    assert server.send_line(f"GETEX a {option}") == b"1"
    assert server.send_line("PTTL a") == ttl_ms
    assert server.logged() == logged


def test_getex_of_a_missing_key_does_not_check_the_time(server):
    assert server.send_line("GETEX no EX x") is None
    assert server.send_line("GETEX no EX x FOO") == SYNTAX


# ---------------------------------------------------------------------- other types


@pytest.mark.parametrize(
    "line",
    [
        "GET s",
        "GETSET s 1",
        "GETDEL s",
        "GETEX s",
        "STRLEN s",
        "APPEND s x",
        "SETRANGE s 0 x",
        "SETRANGE s 600000000 x",
        "GETRANGE s 0 1",
        "INCR s",
        "DECRBY s 1",
        "INCRBYFLOAT s 1",
        "INCRBYFLOAT s x",
    ],
)
def test_string_commands_refuse_a_list(server, line):
    server.send_line("RPUSH s x")
    assert server.send_line(line) == (
        "-WRONGTYPE Operation against a key holding the wrong kind of value"
    )
    assert server.send_line("TYPE s") == b"list"
