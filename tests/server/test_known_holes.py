"""The holes that were found in Redis, and that a server with the same commands could have too.

Each test is named after the one that it tries. Those of users are in ``users`` and ``dispatch``,
those of Lua in ``scripting`` and ``lua``, those of HyperLogLogs, patterns, entries of a GiB and
sockets that cannot be accepted beside their tests.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.requests import ProtocolError, RequestParser
from server.config.parameters import Config
from storage.errors import StorageError
from storage.payload import dump, restore
from storage.rdb.crc64 import crc64
from tests.server.conftest import SocketlessServer
from tests.worth import rounds


def a_group_with_deleted_entries(server: Any) -> None:
    server.send_line("XGROUP CREATE s g $ MKSTREAM")
    for number in range(1, 41):
        server.send("XADD", "s", f"{number}-1", "f", "v")
    server.send_line("XREADGROUP GROUP g ann STREAMS s >")
    for number in range(1, 41, 2):
        server.send("XDEL", "s", f"{number}-1")


def test_cve_2022_31144_xautoclaim_says_of_deleted_entries_what_fits(server: Any) -> None:
    a_group_with_deleted_entries(server)
    at, claimed, deleted = server.send_line("XAUTOCLAIM s g bob 0 0 COUNT 5")
    assert (len(claimed), len(deleted)) == (2, 3)
    assert at == b"6-1"
    _, claimed, deleted = server.send_line("XAUTOCLAIM s g bob 0 0 COUNT 100")
    assert (len(claimed), len(deleted)) == (20, 17)


@pytest.mark.parametrize("count", [2**60, 2**63 - 1, 2**62, 0, -1])
def test_cve_2022_35951_xautoclaim_takes_no_count_that_overflows(server: Any, count: int) -> None:
    a_group_with_deleted_entries(server)
    answer = server.send("XAUTOCLAIM", "s", "g", "bob", 0, 0, "COUNT", count)
    assert answer == "-ERR COUNT must be > 0"


def test_cve_2021_32675_who_has_not_logged_in_announces_little() -> None:
    for announced in (b"*11\r\n", b"*1\r\n$16385\r\n", b"*2147483647\r\n", b"*1\r\n$536870912\r\n"):
        parser = RequestParser()
        parser.authenticated = False
        parser.feed(announced)
        with pytest.raises(ProtocolError, match="unauthenticated"):
            parser.take()


@pytest.mark.parametrize("offset", [2**29, 2**32, 2**63 - 2, 2**63 - 1])
def test_cve_2021_41099_no_string_overflows_whatever_its_limit(server: Any, offset: int) -> None:
    server.send("SET", "k", "value")
    answer = server.send("SETRANGE", "k", offset, "x")
    assert answer.startswith("-ERR ")
    assert server.send("GET", "k") == b"value"


def test_cve_2026_23479_a_woken_client_that_is_evicted_is_gone(server: Any) -> None:
    """Its command is run again, and evicts clients first: among them the one that was woken."""
    waiter, other = server.client(), server.client()
    waiter.send("BLPOP", "l", 0)
    waiter.client.memory = 10_000_000
    server.state.memory.clients += waiter.client.memory
    server.send("CONFIG", "SET", "maxmemory-clients", "1mb")
    other.send("RPUSH", "l", "x")
    server.dispatcher.turn.end()
    assert waiter.gone
    assert server.state.blocking.waiting == 0
    assert other.send("PING") == b"PONG"


@cache
def payload_of(kind: str) -> bytes:
    """What DUMP gives of a value of that type: RDB bytes, a version, a checksum."""
    server = SocketlessServer(Config())
    for number in range(40):
        server.send("SADD", "s", f"member-{number}")
        server.send("RPUSH", "l", f"item-{number}", number)
        server.send("HSET", "h", f"field-{number}", "x" * number)
        server.send("ZADD", "z", number / 3, f"member-{number}")
        server.send("XADD", "x", f"{number + 1}-1", "f", number)
    server.send_line("XGROUP CREATE x g 0")
    server.send_line("XREADGROUP GROUP g ann COUNT 10 STREAMS x >")
    return bytes(server.send("DUMP", kind))


@settings(max_examples=rounds(300))
@given(at=st.integers(0, 10_000), byte=st.integers(0, 255), kind=st.sampled_from("slhzx"))
def test_cve_2026_25243_a_crafted_payload_is_refused_or_a_value(
    at: int, byte: int, kind: str
) -> None:
    body = bytearray(payload_of(kind)[:-8])
    body[at % (len(body) - 2)] = byte
    try:
        value = restore(bytes(body) + crc64(bytes(body)).to_bytes(8, "little"))
    except StorageError:
        return
    assert restore(dump(value)) is not None


def test_cve_2025_46819_a_bracket_of_any_length_is_read_to_its_end(server: Any) -> None:
    for level in (1, 1000, 1_000_000):
        bracket = "=" * level
        script = f"return [{bracket}[text]{bracket}]"
        assert server.send("EVAL", script, 0) == b"text"
        assert server.send("EVAL", f"return [{bracket}", 0).startswith("-ERR Error compiling")
        assert server.send("EVAL", f"--[{bracket}", 0) is None


def test_cve_2025_27151_a_path_of_any_length_is_refused(tmp_path: Any) -> None:
    for path in ("x" * 5000, f"{tmp_path}/" + "y/" * 3000 + "z"):
        done = subprocess.run(
            [sys.executable, "-m", "server.check", path],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode != 0
        assert "Traceback" not in done.stderr
