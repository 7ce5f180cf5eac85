"""HyperLogLog commands: logs, limits and what must not change; the replies are in tests/compat."""

from __future__ import annotations

import pytest

from storage import allocation
from tests.server.given_back import is_given_back
from tests.used_memory import used_at_start

HEAD = b"HYLL\x01" + bytes(10) + b"\x80"
CORRUPT = "-INVALIDOBJ Corrupted HLL object detected"


def test_pfcount_notes_its_estimate_and_logs_that_once(server):
    server.send_line("PFADD h a b c")
    assert server.logged() == [b"PFADD h a b c"]
    assert server.send_line("PFCOUNT h") == 3
    assert server.logged() == [b"PFCOUNT h"]
    assert server.send_line("PFCOUNT h") == 3
    assert server.send_line("PFCOUNT h missing") == 3
    assert server.logged() == []


def test_pfcount_of_a_stale_estimate_fails_a_transaction_that_watches(server):
    server.send_line("PFADD h a")
    other = server.client()
    other.send_line("WATCH h")
    other.send_line("MULTI")
    server.send_line("PFCOUNT h")
    assert other.send_line("EXEC") is None


def test_pfadd_that_changes_nothing_is_not_logged(server):
    server.send_line("PFADD h a")
    server.logged()
    assert server.send_line("PFADD h a") == 0
    assert server.send_line("PFADD h") == 0
    assert server.logged() == []


@pytest.mark.parametrize("opcodes", [b"\x7f", b"\x7f\xfe", b"\x7f\xff\x7f\xff", b"\x7f\xff\xff"])
@pytest.mark.parametrize(
    "line", ["PFADD c a", "PFCOUNT c", "PFCOUNT c h", "PFMERGE h c", "PFMERGE c h", "PFMERGE new c",
             "PFDEBUG TODENSE c", "PFDEBUG GETREG c", "PFDEBUG DECODE c"],
)  # fmt: skip
def test_a_corrupt_value_is_refused_and_nothing_changes(server, line, opcodes):
    server.send("SET", "c", HEAD + opcodes)
    server.send_line("PFADD h a b")
    before = server.send_line("GET h")
    server.logged()
    assert server.send_line(line) == CORRUPT
    assert server.send_line("GET c") == HEAD + opcodes
    assert server.send_line("GET h") == before
    assert server.send_line("EXISTS new") == 0
    assert server.logged() == []


def test_it_becomes_dense_above_hll_sparse_max_bytes(server):
    server.send_line("CONFIG SET hll-sparse-max-bytes 40")
    for number in range(5):
        server.send_line(f"PFADD h {number}")
    assert server.send_line("PFDEBUG ENCODING h") == b"sparse"
    server.send_line("CONFIG SET hll-sparse-max-bytes 0")
    server.send_line("PFADD h more")
    assert server.send_line("PFDEBUG ENCODING h") == b"dense"
    assert server.send_line("STRLEN h") == 12_304
    assert server.send_line("PFCOUNT h") == 6


def test_a_string_is_read_where_it_is(server):
    server.send_line("PFADD h a b c")
    server.send("SET", "copy", server.send_line("GET h"))
    assert server.send_line("PFCOUNT copy h") == 3
    assert server.send_line("PFADD copy d") == 1
    assert server.send_line("PFCOUNT copy") == 4
    assert server.send_line("PFCOUNT h") == 3


def test_memory_is_given_back_when_a_hyperloglog_is_deleted(server):
    at_start = used_at_start()
    for number in range(3000):
        server.send_line(f"PFADD h {number}")
    server.send_line("PFCOUNT h")
    server.send_line("PFMERGE d h")
    server.send_line("PFDEBUG TODENSE d")
    assert allocation.used_bytes() - at_start > 24_000
    server.send_line("DEL h d")
    assert is_given_back(at_start)


def test_the_self_test_passes(server):
    assert server.send_line("PFSELFTEST") == b"OK"
