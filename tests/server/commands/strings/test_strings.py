"""The string commands, as redis 7.0.15 answers them."""

from __future__ import annotations

import pytest

NOT_AN_INTEGER = "-ERR value is not an integer or out of range"
NOT_A_FLOAT = "-ERR value is not a valid float"
TOO_LARGE = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)"
SYNTAX = "-ERR syntax error"
NOW_MS = 1_700_000_000_000


# ---------------------------------------------------------------------- SET


def test_set_drops_the_expiry_unless_told_to_keep_it(house):
    house.send_line("SET a 1 EX 100")
    house.send_line("SET a 2 KEEPTTL")
    assert house.send_line("TTL a") == 100
    house.send_line("SET a 3")
    assert house.send_line("TTL a") == -1


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
def test_every_form_of_set_with_an_expiry_is_logged_as_set_pxat(house, line):
    assert house.send_line(line) == b"OK"
    assert house.send_line("PTTL a") == 5000
    assert house.logged() == [b"SET a 1 PXAT 1700000005000"]


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
def test_set_nx_xx_get_setnx_and_getset(house, before, line, answer, after):
    if before is not None:
        house.send("SET", "a", before)
    assert house.send_line(line) == answer
    assert house.send_line("GET a") == after


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
def test_a_refused_command_changes_nothing(house, line, answer):
    house.send_line("SET a old")
    house.logged()
    assert house.send_line(line) == answer
    assert house.send_line("GET a") == b"old"
    assert house.send_line("TTL a") == -1
    assert house.logged() == []


def test_set_replaces_a_value_of_another_type_unless_it_has_get(house):
    house.send_line("RPUSH s x")
    assert house.send_line("SET s 1 GET").startswith("-WRONGTYPE")
    assert house.send_line("SET s 1") == b"OK"


# ---------------------------------------------------------------------- GETDEL and GETEX


def test_getdel_answers_the_value_and_deletes_it(house):
    house.send_line("SET a 1")
    house.logged()
    assert house.send_line("GETDEL a") == b"1"
    assert house.send_line("GETDEL a") is None
    assert house.logged() == [b"DEL a"]


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
def test_getex_sets_or_removes_the_expiry(house, option, ttl_ms, logged):
    house.send_line("SET a 1 PX 1000")
    house.logged()
    assert house.send_line(f"GETEX a {option}") == b"1"
    assert house.send_line("PTTL a") == ttl_ms
    assert house.logged() == logged


def test_getex_of_a_missing_key_does_not_check_the_time(house):
    assert house.send_line("GETEX no EX x") is None
    assert house.send_line("GETEX no EX x FOO") == SYNTAX


# ---------------------------------------------------------------------- many keys


def test_mget_answers_null_for_missing_keys_and_other_types(house):
    house.send_line("MSET a 1 b 2")
    house.send_line("RPUSH s x")
    assert house.send_line("MGET a no s b a") == [b"1", None, None, b"2", b"1"]


def test_mset_takes_the_last_value_of_a_repeated_key(house):
    house.send_line("MSET a 1 a 2")
    assert house.send_line("GET a") == b"2"


def test_msetnx_sets_all_or_none(house):
    assert house.send_line("MSETNX a 1 b 2") == 1
    assert house.send_line("MSETNX c 1 b 3") == 0
    assert house.send_line("MGET a b c") == [b"1", b"2", None]


# ---------------------------------------------------------------------- parts of a string


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
def test_string_commands_refuse_a_list(house, line):
    house.send_line("RPUSH s x")
    assert house.send_line(line) == (
        "-WRONGTYPE Operation against a key holding the wrong kind of value"
    )
    assert house.send_line("TYPE s") == b"list"
