"""Commands on bits: limits, logs and what must not change; the replies are in tests/compat."""

from __future__ import annotations

import pytest

from storage import allocation
from tests.server.given_back import is_given_back
from tests.used_memory import used_at_start
from tests.worth import COMPILED


@pytest.mark.parametrize(
    "line",
    [
        "SETBIT k 4294967296 1", "SETBIT k 1 2", "SETBIT new -1 1", "BITOP NOT k a b",
        "BITFIELD k SET u8 0 1 GET u64 0", "BITFIELD k SET u8 0 1 SET u8 4294967296 1",
        "BITFIELD new SET u8 #536870912 1", "BITFIELD new SET u8 #2305843009213693952 1",
        "BITFIELD_RO k SET u8 0 1", "BITOP AND k k list",
    ],
)  # fmt: skip
def test_a_refused_command_changes_nothing(server, line):
    server.send_line("SET k abc")
    server.send_line("RPUSH list a")
    server.logged()
    assert server.send_line(line).startswith("-")
    assert server.send_line("GET k") == b"abc"
    assert server.send_line("EXISTS new") == 0
    assert server.logged() == []


def test_no_memory_is_taken_for_a_bit_that_no_string_may_have(server):
    before = used_at_start()
    server.send_line("CONFIG SET proto-max-bulk-len 1mb")
    assert server.send_line("SETBIT k 8388608 1").startswith("-ERR bit offset")
    assert server.send_line("BITFIELD k SET u8 #1048576 1").startswith("-ERR bit offset")
    assert allocation.used_bytes() == before
    assert server.send_line("SETBIT k 8388607 1") == 0
    assert server.send_line("STRLEN k") == 2**20


@pytest.mark.skipif(not COMPILED, reason="only the compiled core tells a string from other memory")
@pytest.mark.parametrize("offset", [2**63 - 1, 2**63 - 8, 2**62])
@pytest.mark.parametrize(
    "line", ["BITFIELD k SET u8 {} 1", "BITFIELD k INCRBY i64 {} 1", "SETBIT k {} 1"]
)
def test_a_bit_beyond_all_memory_is_refused_whatever_the_limit(server, line, offset):
    """An end beyond 2**63 bits was negative: no room was made, and the integer was written."""
    server.send_line("CONFIG SET proto-max-bulk-len 9223372036854775807")
    server.send_line("SET k abc")
    server.logged()
    assert server.send_line(line.format(offset)).startswith("-OOM")
    assert server.send_line("GET k") == b"abc"
    assert server.logged() == []


def test_a_bit_that_stays_is_no_change(server):
    server.send_line("SETBIT k 9 1")
    server.logged()
    server.send_line("SETBIT k 9 1")
    server.send_line("BITFIELD k GET u8 0 SET u1 9 1")
    assert server.logged() == []
    server.send_line("SETBIT k 16 0")  # the string is longer now
    assert server.logged() == [b"SETBIT k 16 0"]


def test_a_string_that_a_failed_bitfield_has_made_longer_is_logged(server):
    line = "BITFIELD k OVERFLOW FAIL SET u8 8 1000"
    assert server.send_line(line) == [None]
    assert server.send_line("STRLEN k") == 2
    assert server.logged() == [line.encode()]


def test_bitop_replaces_a_value_and_its_expiry(server):
    server.send_line("RPUSH d a")
    server.send_line("EXPIRE d 100")
    server.send_line("SET a abc")
    assert server.send_line("BITOP OR d a missing") == 3
    assert server.send_line("TTL d") == -1
    assert server.send_line("BITOP OR d missing missing") == 0
    assert server.send_line("EXISTS d") == 0


@pytest.mark.parametrize("kind", ["u", "i"])
def test_a_field_of_any_width_is_read_as_it_was_written(server, kind):
    for width in range(1, 64):
        number = (1 << width - 1) - 1
        reply = server.send(
            "BITFIELD", "k", "SET", f"{kind}{width}", 13, number, "GET", f"{kind}{width}", 13
        )
        assert reply[1] == number


def test_memory_is_given_back_when_bits_are_deleted(server):
    at_start = used_at_start()
    server.send_line("SETBIT k 800000 1")
    server.send_line("BITFIELD k SET u8 2000000 1")
    server.send_line("BITOP NOT d k")
    assert allocation.used_bytes() - at_start > 400_000
    server.send_line("DEL k d")
    assert is_given_back(at_start)


def test_lcs_refuses_what_would_take_too_much_memory(server):
    server.send("SET", "a", b"a" * 12_000)
    server.send("SET", "b", b"b" * 12_000)
    before = used_at_start()
    assert server.send_line("LCS a b").startswith("-ERR Insufficient memory, transient memory")
    assert allocation.used_bytes() == before
