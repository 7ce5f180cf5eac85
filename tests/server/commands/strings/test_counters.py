"""INCR, DECR and INCRBYFLOAT, as redis 7.0.15 answers them."""

from __future__ import annotations

import pytest

NOT_AN_INTEGER = "-ERR value is not an integer or out of range"


def test_the_incr_family(server):
    lines = ["INCR a", "INCRBY a 10", "DECR a", "DECRBY a 20", "DECRBY a -5"]
    assert [server.send_line(line) for line in lines] == [1, 11, 10, -10, -5]
    assert server.send_line("GET a") == b"-5"


@pytest.mark.parametrize("value", ["007", "1.0", "+1", "", " 1", "9223372036854775808", "-0"])
def test_incr_refuses_all_but_a_plain_64_bit_integer(server, value):
    server.send("SET", "a", value)
    assert server.send_line("INCR a") == NOT_AN_INTEGER


def test_incr_and_decr_refuse_to_overflow(server):
    server.send_line("SET a 9223372036854775806")
    assert server.send_line("INCR a") == 2**63 - 1
    assert server.send_line("INCR a") == "-ERR increment or decrement would overflow"
    server.send_line("SET a -9223372036854775808")
    assert server.send_line("DECR a") == "-ERR increment or decrement would overflow"


def test_incr_keeps_the_expiry(server):
    server.send_line("SET a 1 EX 100")
    server.send_line("INCR a")
    server.send_line("INCRBYFLOAT a 1")
    assert server.send_line("TTL a") == 100


def test_incrbyfloat_is_logged_as_a_set_of_its_result(server):
    assert server.send_line("INCRBYFLOAT a 0.1") == b"0.1"
    assert server.send_line("INCRBYFLOAT a 0.2") == b"0.3"
    assert server.logged() == [b"SET a 0.1 KEEPTTL", b"SET a 0.3 KEEPTTL"]


@pytest.mark.parametrize("increment", ["inf", "-Infinity"])
def test_incrbyfloat_refuses_infinity(server, increment):
    assert server.send("INCRBYFLOAT", "a", increment) == (
        "-ERR increment would produce NaN or Infinity"
    )
    assert server.send_line("EXISTS a") == 0
