"""INCREX, as redis 8.8 answers it: no server that is compared knows it, so each case is stated."""

from __future__ import annotations

from itertools import permutations

import pytest

SYNTAX = "-ERR syntax error"
GREATEST, LEAST = 2**63 - 1, -(2**63)
NOW_S = 1_700_000_000
# The greatest long double, and half of it.
HUGE = b"1.18973149535723176502e4932"
HALF = b"0x1p16383"


@pytest.mark.parametrize(
    ("before", "line", "answer", "after"),
    [
        (None, "INCREX k", [1, 1], 1),
        (10, "INCREX k", [11, 1], 11),
        (10, "INCREX k BYINT -30", [-20, -30], -20),
        (10, "INCREX k BYINT 0", [10, 0], 10),
        # in the bounds, or on them
        (10, "INCREX k BYINT 5 UBOUND 20", [15, 5], 15),
        (10, "INCREX k BYINT 5 UBOUND 15", [15, 5], 15),
        (10, "INCREX k BYINT -5 LBOUND 5", [5, -5], 5),
        (5, "INCREX k BYINT 2 LBOUND 0 UBOUND 10", [7, 2], 7),
        (None, "INCREX k UBOUND 5", [1, 1], 1),
        # beyond them: nothing changes
        (10, "INCREX k BYINT 5 UBOUND 12", [10, 0], 10),
        (10, "INCREX k BYINT -5 LBOUND 8", [10, 0], 10),
        (10, "INCREX k BYINT 5 LBOUND 20", [10, 0], 10),
        (10, "INCREX k BYINT 5 LBOUND 10 UBOUND 10", [10, 0], 10),
        (50, "INCREX k BYINT 5 UBOUND 30", [50, 0], 50),
        (None, "INCREX k UBOUND 0", [0, 0], None),
        (None, "INCREX k LBOUND 5", [0, 0], None),
        (GREATEST, "INCREX k", [GREATEST, 0], GREATEST),
        (LEAST, "INCREX k BYINT -1", [LEAST, 0], LEAST),
        (10, f"INCREX k BYINT {GREATEST} UBOUND 100", [10, 0], 10),
        # a value outside comes back inside
        (50, "INCREX k BYINT -25 UBOUND 30", [25, -25], 25),
        (10, "INCREX k BYINT -5 UBOUND 5", [5, -5], 5),
        # SATURATE
        (10, "INCREX k BYINT 5 UBOUND 12 SATURATE", [12, 2], 12),
        (10, "INCREX k BYINT 5 UBOUND 10 SATURATE", [10, 0], 10),
        (10, "INCREX k BYINT 5 UBOUND 5 SATURATE", [5, -5], 5),
        (10, "INCREX k BYINT -5 LBOUND 20 SATURATE", [20, 10], 20),
        (10, "INCREX k BYINT -5 LBOUND 8 SATURATE", [8, -2], 8),
        (50, "INCREX k BYINT 5 UBOUND 30 SATURATE", [30, -20], 30),
        (10, "INCREX k SATURATE", [11, 1], 11),
        (None, "INCREX k UBOUND 0 SATURATE", [0, 0], 0),
        (None, "INCREX k LBOUND 5 SATURATE", [5, 5], 5),
        (GREATEST - 7, "INCREX k BYINT 10 SATURATE", [GREATEST, 7], GREATEST),
        (LEAST + 7, "INCREX k BYINT -10 SATURATE", [LEAST, -7], LEAST),
        (10, f"INCREX k BYINT {GREATEST} UBOUND 100 SATURATE", [100, 90], 100),
        (-10, f"INCREX k BYINT {LEAST} LBOUND -100 SATURATE", [-100, -90], -100),
    ],
)
def test_integers(server, before, line, answer, after):
    if before is not None:
        server.send("SET", "k", before)
    assert server.send_line(line) == answer
    assert server.send_line("GET k") == (None if after is None else b"%d" % after)
    if after is not None and line != "INCREX k BYINT 0":
        assert server.send_line("OBJECT ENCODING k") == b"int"


@pytest.mark.parametrize(
    ("before", "line", "answer", "after"),
    [
        (None, "INCREX k BYFLOAT 0.1", [b"0.1", b"0.1"], b"0.1"),
        (b"1.5", "INCREX k BYFLOAT 0.25", [b"1.75", b"0.25"], b"1.75"),
        (b"10", "INCREX k BYFLOAT 1", [b"11", b"1"], b"11"),
        (b"5.0e3", "INCREX k BYFLOAT 2.0e2", [b"5200", b"200"], b"5200"),
        (b"10", "INCREX k BYFLOAT 2.5 LBOUND 5.0 UBOUND 15.0", [b"12.5", b"2.5"], b"12.5"),
        (b"10", "INCREX k BYFLOAT 2.5 UBOUND 12.5", [b"12.5", b"2.5"], b"12.5"),
        (b"10.0", "INCREX k BYFLOAT 5.5 UBOUND 12.5", [b"10", b"0"], b"10.0"),
        (None, "INCREX k BYFLOAT -0.5 UBOUND -1.5", [b"0", b"0"], None),
        (b"50", "INCREX k BYFLOAT -25 UBOUND 30", [b"25", b"-25"], b"25"),
        (b"10", "INCREX k BYFLOAT 5.5 UBOUND 12.5 SATURATE", [b"12.5", b"2.5"], b"12.5"),
        (b"10", "INCREX k BYFLOAT -6 LBOUND 8.0 SATURATE", [b"8", b"-2"], b"8"),
        (b"50.5", "INCREX k BYFLOAT 5.5 UBOUND 30 SATURATE", [b"30", b"-20.5"], b"30"),
        (b"10", "INCREX k BYFLOAT 1e4000 UBOUND 100 SATURATE", [b"100", b"90"], b"100"),
        (b"10", "INCREX k BYFLOAT 1 UBOUND inf", [b"11", b"1"], b"11"),
        (b"10", "INCREX k BYFLOAT 1 LBOUND -inf", [b"11", b"1"], b"11"),
        (b"10", "INCREX k BYFLOAT 1 LBOUND inf UBOUND inf", [b"10", b"0"], b"10"),
        (b"10", "INCREX k BYFLOAT 1 LBOUND -inf UBOUND -inf", [b"10", b"0"], b"10"),
    ],
)
def test_floats(server, before, line, answer, after):
    if before is not None:
        server.send("SET", "k", before)
    assert server.send_line(line) == answer
    assert server.send_line("GET k") == after


def test_a_sum_of_floats_that_is_infinite_is_beyond_all_bounds(server):
    server.send("SET", "k", HALF)
    server.logged()
    current, added = server.send("INCREX", "k", "BYFLOAT", HALF)
    assert (len(current), current[:9], added) == (4932, b"594865747", b"0")
    assert server.send_line("GET k") == HALF
    assert server.logged() == []
    new, added = server.send("INCREX", "k", "BYFLOAT", HALF, "SATURATE")
    assert (len(new), new[:9], len(added)) == (4933, b"118973149", 4932)
    assert server.send("INCREX", "k", "BYFLOAT", HALF, "SATURATE") == [new, b"0"]
    server.send("SET", "k", b"-" + HALF)
    assert server.send("INCREX", "k", "BYFLOAT", b"-" + HALF)[1] == b"0"


def test_the_difference_of_floats_is_the_one_between_the_values(server):
    server.send("SET", "k", "100000000000000000000")
    new, added = server.send("INCREX", "k", "BYFLOAT", "3")
    assert int(new) == 10**20 + int(added)


def test_floats_are_doubles_in_resp3(server):
    client = server.client()
    client.send("HELLO", 3)
    assert client.raw("INCREX", "k", "BYINT", 5) == b"*2\r\n:5\r\n:5\r\n"
    assert client.raw("INCREX", "k", "BYFLOAT", "2.5") == b"*2\r\n,7.5\r\n,2.5\r\n"
    assert client.raw("INCREX", "k", "BYFLOAT", "2.5", "UBOUND", 8) == b"*2\r\n,7.5\r\n,0\r\n"
    assert server.client().raw("INCREX", "k", "BYFLOAT", "0.5") == b"*2\r\n$1\r\n8\r\n$3\r\n0.5\r\n"


NOT_AN_INTEGER = "is not an integer or out of range"
CROSSED = "-ERR LBOUND can't be greater than UBOUND"
INVALID_TIME = "-ERR invalid expire time in 'increx' command"
INFINITE = "-ERR applied increment would be Infinity"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("INCREX", "-ERR wrong number of arguments for 'increx' command"),
        *((f"INCREX k {words}", SYNTAX) for words in (
            "FOO", "BYINT 1 FOO", "BYINT", "BYFLOAT", "LBOUND", "UBOUND", "EX", "SAT LBOUND 0",
            "BYINT 1 BYFLOAT 1.5", "BYFLOAT 1.5 BYINT 1", "BYINT 1 BYINT 2",
            "BYFLOAT 1 BYFLOAT 2", "LBOUND 0 LBOUND 1", "UBOUND 9 UBOUND 8",
            "SATURATE SATURATE LBOUND 0", "ENX ENX EX 10", "PERSIST PERSIST", "EX 10 EX 20",
            "PX 10 PX 20", "EXAT 9999999999 EXAT 9999999998", "PXAT 99 PXAT 98", "EX 10 PX 5000",
            "EX 10 EXAT 9999999999", "PX 5000 PXAT 9999999999000", "EX 10 PERSIST",
            "PERSIST EX 10", "PERSIST ENX", "ENX PERSIST", "EX 10 ENX PERSIST", "NX", "XX",
        )),
        ("INCREX k ENX", "-ERR ENX flag requires an expiration"),
        ("INCREX k BYINT x ENX", "-ERR ENX flag requires an expiration"),
        ("INCREX k BYINT abc", f"-ERR Increment {NOT_AN_INTEGER}"),
        ("INCREX k BYINT 1.5", f"-ERR Increment {NOT_AN_INTEGER}"),
        ("INCREX k BYINT 9223372036854775808", f"-ERR Increment {NOT_AN_INTEGER}"),
        ("INCREX k LBOUND abc", f"-ERR LBOUND {NOT_AN_INTEGER}"),
        ("INCREX k UBOUND 12.5", f"-ERR UBOUND {NOT_AN_INTEGER}"),
        ("INCREX k UBOUND inf", f"-ERR UBOUND {NOT_AN_INTEGER}"),
        ("INCREX k BYFLOAT abc", "-ERR Increment is not a valid float"),
        ("INCREX k BYFLOAT nan", "-ERR Increment is not a valid float"),
        ("INCREX k BYFLOAT 1e99999", "-ERR Increment is not a valid float"),
        ("INCREX k BYFLOAT 1 LBOUND abc", "-ERR LBOUND is not a valid float"),
        ("INCREX k UBOUND abc BYFLOAT 1", "-ERR UBOUND is not a valid float"),
        ("INCREX k BYFLOAT +inf", "-ERR BYFLOAT increment cannot be Infinity"),
        ("INCREX k BYFLOAT -inf", "-ERR BYFLOAT increment cannot be Infinity"),
        ("INCREX k LBOUND 10 UBOUND 5", CROSSED),
        ("INCREX k LBOUND 10 UBOUND 5 SATURATE", CROSSED),
        ("INCREX k BYFLOAT 0.5 LBOUND 10.5 UBOUND 1.5", CROSSED),
        ("INCREX k BYFLOAT 1 UBOUND -inf", CROSSED),
        ("INCREX k BYFLOAT 1 LBOUND inf", CROSSED),
        ("INCREX k BYFLOAT 1 LBOUND inf UBOUND -inf", CROSSED),
        ("INCREX k EX 0", INVALID_TIME),
        ("INCREX k EX -1", INVALID_TIME),
        ("INCREX k PX 0", INVALID_TIME),
        ("INCREX k EX 9223372036854775807", INVALID_TIME),
        ("INCREX k EX abc", f"-ERR value {NOT_AN_INTEGER}"),
        ("INCREX k BYFLOAT 1 LBOUND inf UBOUND inf SATURATE", INFINITE),
        ("INCREX k BYFLOAT 1 LBOUND -inf UBOUND -inf SATURATE", INFINITE),
    ],
)  # fmt: skip
def test_a_refused_call_changes_nothing(server, line, answer):
    server.send_line("SET k 10 EX 100")
    server.logged()
    assert server.send_line(line) == answer
    assert server.send_line("GET k") == b"10"
    assert server.send_line("TTL k") == 100
    assert server.logged() == []


def test_a_value_that_is_no_number_is_refused_after_the_arguments(server):
    server.send_line("SET k abc")
    assert server.send_line("INCREX k") == f"-ERR value {NOT_AN_INTEGER}"
    assert server.send_line("INCREX k BYFLOAT 1 EXAT 1") == "-ERR value is not a valid float"
    server.send_line("SET k inf")
    assert server.send_line("INCREX k BYFLOAT 1") == "-ERR value cannot be Infinity"
    assert server.send_line("INCREX k BYINT 1") == f"-ERR value {NOT_AN_INTEGER}"
    server.send_line("RPUSH l a")
    assert server.send_line("INCREX l EXAT 1").startswith("-WRONGTYPE")
    assert server.send_line("INCREX l BYINT x") == f"-ERR Increment {NOT_AN_INTEGER}"
    assert server.send_line("EXISTS k l") == 2


def test_a_difference_beyond_64_bits_is_refused(server):
    server.send("SET", "k", GREATEST)
    line = f"INCREX k BYINT -5 UBOUND {LEAST} SATURATE"
    assert server.send_line(line) == "-ERR applied increment would overflow"
    assert server.send_line("GET k") == b"%d" % GREATEST


# ---------------------------------------------------------------------- expiry


@pytest.mark.parametrize(
    ("before", "words", "ttl", "logged"),
    [
        ("SET k 10", "", -1, "SET k 11 KEEPTTL"),
        ("SET k 10 EX 500", "", 500, "SET k 11 KEEPTTL"),
        ("SET k 10 EX 500", "PERSIST", -1, "SET k 11"),
        ("SET k 10", "PERSIST", -1, "SET k 11"),
        ("SET k 10", "EX 100", 100, "SET k 11 PXAT 1700000100000"),
        ("SET k 10 EX 500", "PX 100000", 100, "SET k 11 PXAT 1700000100000"),
        ("SET k 10", f"EXAT {NOW_S + 100}", 100, "SET k 11 PXAT 1700000100000"),
        ("SET k 10", f"PXAT {NOW_S + 100}000", 100, "SET k 11 PXAT 1700000100000"),
        ("SET k 10", "EX 100 ENX", 100, "SET k 11 PXAT 1700000100000"),
        ("SET k 10 EX 500", "EX 100 ENX", 500, "SET k 11 KEEPTTL"),
        ("SET k 10 EX 500", "EXAT 1 ENX", 500, "SET k 11 KEEPTTL"),
        ("SET k 10", "EXAT 1", -2, "DEL k"),
        ("SET k 10 EX 500", "PXAT 1", -2, "DEL k"),
        ("SET k 10", "EXAT 1 ENX", -2, "DEL k"),
        # out of bounds: the expiry stays, too
        ("SET k 11", "UBOUND 5 EX 100", -1, None),
        ("SET k 11 EX 500", "UBOUND 5 EX 100", 500, None),
        ("SET k 11 EX 500", "UBOUND 5 PERSIST", 500, None),
        ("SET k 11", "UBOUND 5 EXAT 1", -1, None),
        ("SET k 20", "UBOUND 11 SATURATE EX 100", 100, "SET k 11 PXAT 1700000100000"),
    ],
)
def test_the_expiry(server, before, words, ttl, logged):
    server.send_line(before)
    server.logged()
    assert server.send_line(f"INCREX k {words}")[0] == 11
    assert server.send_line("TTL k") == ttl
    assert server.logged() == ([] if logged is None else [logged.encode()])


def test_a_new_key(server):
    assert server.send_line("INCREX a EX 100 ENX") == [1, 1]
    assert server.send_line("TTL a") == 100
    assert server.send_line("INCREX b BYFLOAT 1.5 PERSIST") == [b"1.5", b"1.5"]
    server.logged()
    assert server.send_line("INCREX c EXAT 1") == [1, 1]
    assert server.send_line("EXISTS c") == 0
    assert server.logged() == []
    assert server.send_line("INCREX d") == [1, 1]
    assert server.logged() == [b"SET d 1 KEEPTTL"]


def test_what_has_expired_is_unlinked_if_lazyfree_lazy_expire_says_so(make_server):
    server = make_server(lazyfree_lazy_expire=True)
    server.send_line("SET k 1")
    server.logged()
    server.send_line("INCREX k EXAT 1")
    assert server.logged() == [b"UNLINK k"]


OPTIONS = ["BYINT 100", "LBOUND 0", "UBOUND 20", "SATURATE", "EX 100", "ENX"]


@pytest.mark.parametrize("order", list(permutations(OPTIONS))[::7])
def test_options_come_in_any_order(server, order):
    server.send_line("SET k 10")
    assert server.send_line("increx k " + " ".join(order).lower()) == [20, 10]
    assert server.send_line("TTL k") == 100


def test_what_is_told_of_the_key(server):
    listener = server.client()
    server.send_line("CONFIG SET notify-keyspace-events EA")
    listener.send("PSUBSCRIBE", "__keyevent@0__:*")
    for line, events in [
        ("INCREX k BYINT 5", [b"incrby"]),
        ("INCREX k BYFLOAT 0.5", [b"incrbyfloat"]),
        ("SET k 10 EX 100", [b"set", b"expire"]),
        ("INCREX k PERSIST", [b"incrby", b"persist"]),
        ("INCREX k PERSIST", [b"incrby"]),
        ("INCREX k EX 100", [b"incrby", b"expire"]),
        ("INCREX k EX 200 ENX", [b"incrby"]),
        ("INCREX k UBOUND 0", []),
        ("INCREX k EXAT 1", [b"del"]),
        ("INCREX k EXAT 1", []),
    ]:
        server.send_line(line)
        heard = []
        while (message := listener.reply()) is not None and isinstance(message, list):
            heard.append(message[2].removeprefix(b"__keyevent@0__:"))
        assert heard == events, line
