"""SET with conditions, DIGEST, DELEX, DELIFEQ and MSETEX, as redis 8.10 answers them."""

from __future__ import annotations

import pytest

SYNTAX = "-ERR syntax error"
NOW_MS = 1_700_000_000_000
HELLO = "b6acb9d84a38ff74"  # the digest of Hello world


@pytest.mark.parametrize(
    ("before", "line", "answer", "after"),
    [
        (None, "SET a 2 IFEQ 1", None, None),
        (b"1", "SET a 2 IFEQ 1", b"OK", b"2"),
        (b"3", "SET a 2 IFEQ 1", None, b"3"),
        (b"3", "SET a 2 IFEQ 1 GET", b"3", b"3"),
        (b"1", "SET a 2 GET IFEQ 1", b"1", b"2"),
        (None, "SET a 2 IFEQ 1 GET", None, None),
        (None, "SET a 2 IFNE 1", b"OK", b"2"),
        (b"1", "SET a 2 IFNE 1", None, b"1"),
        (b"3", "SET a 2 IFNE 1", b"OK", b"2"),
        (None, "SET a 2 IFNE 1 GET", None, b"2"),
        (None, f"SET a 2 IFDEQ {HELLO}", None, None),
        (None, "SET a 2 IFDEQ short", None, None),
        (b"Hello world", f"SET a 2 IFDEQ {HELLO}", b"OK", b"2"),
        (b"Hello world", f"SET a 2 IFDEQ {HELLO.upper()}", b"OK", b"2"),
        (b"1", f"SET a 2 IFDEQ {HELLO}", None, b"1"),
        (None, f"SET a 2 IFDNE {HELLO}", b"OK", b"2"),
        (b"Hello world", f"SET a 2 IFDNE {HELLO}", None, b"Hello world"),
        (b"1", f"SET a 2 IFDNE {HELLO}", b"OK", b"2"),
        (b"1", "SET a 2 IFDNE zzzzzzzzzzzzzzzz", b"OK", b"2"),
        (b"1", "SET a 2 IFEQ 5 IFEQ 1", b"OK", b"2"),
    ],
)
def test_set_with_a_condition(server, before, line, answer, after):
    if before is not None:
        server.send("SET", "a", before)
    assert server.send_line(line) == answer
    assert server.send_line("GET a") == after


CONDITIONS = ["IFEQ 1", "IFNE 1", f"IFDEQ {HELLO}", f"IFDNE {HELLO}"]


@pytest.mark.parametrize("other", ["NX", "XX", *CONDITIONS])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_exclude_each_other_15291(server, condition, other):
    same = condition.split()[0] == other.split()[0]
    for line in (f"SET a 2 {condition} {other}", f"SET a 2 {other} EX 5 {condition}"):
        assert (server.send_line(line) == SYNTAX) != same


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("SET a 2 IFEQ", SYNTAX),
        ("SET a 2 IFDNE", SYNTAX),
        ("SET a 2 IFEQ old IFNE", SYNTAX),
        ("SET a 2 IFEQ old EX 0", "-ERR invalid expire time in 'set' command"),
        ("SET a 2 IFDEQ 123", "-ERR must be exactly 16 hexadecimal characters"),
        ("SET a 2 IFDNE 12345678901234567", "-ERR must be exactly 16 hexadecimal characters"),
        ("SET a 2 GET IFDEQ 123", "-ERR must be exactly 16 hexadecimal characters"),
        ("DELEX a IFDEQ 123", "-ERR must be exactly 16 hexadecimal characters"),
        ("DELEX a IFEQ", "-ERR wrong number of arguments for 'delex' command"),
        ("DELEX a IFEQ old old", "-ERR wrong number of arguments for 'delex' command"),
        ("DELEX a NX old", "-ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"),
        ("MSETEX 0 a b", "-ERR invalid numkeys value"),
        ("MSETEX x a b", "-ERR invalid numkeys value"),
        ("MSETEX 2147483648 a b", "-ERR invalid numkeys value"),
        ("MSETEX 2 a b", "-ERR wrong number of key-value pairs"),
        ("MSETEX 2147483647 a b", "-ERR wrong number of key-value pairs"),
        ("MSETEX 1 a b c", SYNTAX),
        ("MSETEX 1 a b NX XX", SYNTAX),
        ("MSETEX 1 a b EX", SYNTAX),
        ("MSETEX 1 a b EX 1 PX 1", SYNTAX),
        ("MSETEX 1 a b EX 1 KEEPTTL", SYNTAX),
        ("MSETEX 1 a b KEEPTTL EX 1", SYNTAX),
        ("MSETEX 1 a b IFEQ old", SYNTAX),
        ("MSETEX 1 a b EX 0", "-ERR invalid expire time in 'msetex' command"),
        ("MSETEX 1 a b PX 9223372036854775807", "-ERR invalid expire time in 'msetex' command"),
    ],
)
def test_a_refused_command_changes_nothing(server, line, answer):
    server.send_line("SET a old")
    server.logged()
    assert server.send_line(line) == answer
    assert server.send_line("GET a") == b"old"
    assert server.send_line("TTL a") == -1
    assert server.logged() == []


@pytest.mark.parametrize("condition", ["IFEQ x", "IFNE x", "IFDEQ x", "IFDNE x GET"])
def test_what_is_no_string_is_not_compared(server, condition):
    server.send_line("RPUSH l x")
    assert server.send_line(f"SET l 1 {condition}").startswith("-WRONGTYPE")
    assert server.send_line("DELIFEQ l x").startswith("-WRONGTYPE")
    assert server.send_line("DIGEST l").startswith("-WRONGTYPE")
    for word in ("IFEQ", "FOO"):
        assert server.send_line(f"DELEX l {word} x") == (
            "-ERR Key should be of string type if conditions are specified"
        )
    assert server.send_line("LLEN l") == 1
    assert server.send_line("DELEX l") == 1


def test_each_form_of_a_string_is_compared_as_its_text(server):
    server.send_line("SET a 41")
    server.send_line("INCR a")
    assert server.send_line("SET a 5 IFEQ 42 GET") == b"42"
    server.send_line("APPEND a 7")
    assert server.send_line("DELEX a IFEQ 58") == 0
    assert server.send_line("SET b 57") == b"OK"
    digest = server.send_line("DIGEST b")
    assert server.send_line("DIGEST a") == digest
    assert server.send_line(f"DELEX a IFDEQ {digest.decode()}") == 1
    server.send_line("INCR b")
    server.send_line("DECR b")
    assert server.send_line("DIGEST b") == digest


def test_an_expired_key_is_equal_to_nothing(server):
    server.send_line("SET a 1 PX 10")
    server.advance(11)
    assert server.send_line("SET a 2 IFEQ 1") is None
    server.send_line("SET a 1 PX 10")
    server.advance(11)
    assert server.send_line("DELEX a IFEQ 1") == 0
    assert server.send_line("DELIFEQ a 1") == 0


def test_digest(server):
    server.send("SET", "a", "Hello world")
    assert server.send_line("DIGEST a") == HELLO.encode()
    assert server.send_line("DIGEST nothing") is None


def test_delex_and_delifeq_are_logged_as_deletions(server):
    server.send_line("MSET a 1 b 1 c 1")
    server.logged()
    assert server.send_line("DELEX a IFEQ 1") == 1
    assert server.send_line("DELEX b") == 1
    assert server.send_line("DELIFEQ c 2") == 0
    assert server.send_line("DELIFEQ c 1") == 1
    assert server.send_line("DELEX c FOO 1") == 0  # a missing key comes first
    assert server.logged() == [b"DEL a", b"DEL b", b"DEL c"]


def test_conditions_are_not_logged(server):
    server.send_line("SET a 1")
    server.logged()
    server.send_line("SET a 2 IFEQ 1")
    server.send_line("SET a 3 IFEQ 1")
    server.send_line("SET a 3 IFEQ 2 GET KEEPTTL")
    server.send_line("SET a 4 PX 5000 IFNE 2")
    assert server.logged() == [b"SET a 2", b"SET a 3 KEEPTTL", b"SET a 4 PXAT 1700000005000"]


# ---------------------------------------------------------------------- MSETEX


def test_msetex_gives_all_keys_one_expiry(server):
    assert server.send_line("MSETEX 2 a 1 b 2 EX 5") == 1
    assert [server.send_line(f"PTTL {key}") for key in "ab"] == [5000, 5000]
    assert server.send_line("MGET a b") == [b"1", b"2"]
    assert server.logged() == [b"SET a 1 PXAT 1700000005000", b"SET b 2 PXAT 1700000005000"]
    assert server.send_line("MSETEX 2 a 3 c 4 KEEPTTL") == 1
    assert [server.send_line(f"PTTL {key}") for key in "ac"] == [5000, -1]
    assert server.logged() == [b"SET a 3 KEEPTTL", b"SET c 4 KEEPTTL"]
    assert server.send_line("MSETEX 2 a 5 a 6") == 1
    assert server.send_line("PTTL a") == -1
    assert server.send_line("GET a") == b"6"
    assert server.logged() == [b"MSET a 5 a 6"]


def test_msetex_of_all_or_none(server):
    server.send_line("SET a 1")
    server.logged()
    assert server.send_line("MSETEX 2 a 2 b 2 NX") == 0
    assert server.send_line("MSETEX 2 a 2 b 2 EX 5 XX") == 0
    assert server.send_line("MGET a b") == [b"1", None]
    assert server.logged() == []
    assert server.send_line("MSETEX 2 b 1 b 2 NX") == 1
    assert server.send_line("MSETEX 2 a 3 b 3 XX EX 5") == 1
    assert server.send_line("MGET a b") == [b"3", b"3"]


def test_msetex_takes_values_that_look_like_options(server):
    assert server.send_line("MSETEX 2 EX NX KEEPTTL XX") == 1
    assert server.send_line("MGET EX KEEPTTL") == [b"NX", b"XX"]


def test_rights_are_asked_for_every_key_of_msetex_14659(server):
    server.send_line("ACL SETUSER u on nopass +@all ~a*")
    client = server.client()
    client.send("AUTH", "u", "x")
    assert client.send("MSETEX", 2, "a1", "v", "a2", "v") == 1
    for argv in (
        ("MSETEX", 2, "a1", "v", "b", "v"),
        ("MSETEX", 3, "a1", "v", "a2", "v", "b", "v", "EX", 100),
        ("MSETEX", 2, "b", "v", "a1", "v", "NX"),
    ):
        assert client.send(*argv).startswith("-NOPERM")
    assert server.send_line("EXISTS b") == 0
