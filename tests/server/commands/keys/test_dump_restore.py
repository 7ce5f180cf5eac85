"""DUMP and RESTORE between two servers. The words of all refusals are in tests/compat."""

from __future__ import annotations

import pytest

from server.client.client import Client
from server.dispatch.dispatcher import Dispatcher
from storage.rdb.crc64 import crc64

BAD_FORMAT = "-ERR Bad data format"
AN_ARRAY = b"\x1c\x01\x01a\x01b\n\x00"  # of Redis 8.8, without the checksum


@pytest.fixture
def other(make_server):
    return make_server()


@pytest.fixture
def dumped(server):
    server.send_line("SET k hello")
    return server.send_line("DUMP k")


def carry(server, other, key):
    assert other.send("RESTORE", key, 0, server.send("DUMP", key)) == b"OK"


# ---------------------------------------------------------------------- from one server to another


def test_dump_of_a_missing_key_is_null(server):
    assert server.send_line("DUMP k") is None


@pytest.mark.parametrize("line", ["SET k hello", "INCRBY k -7", "APPEND k x", "SETRANGE k 5 x"])
def test_a_string_is_restored(server, other, line):
    server.send_line(line)
    carry(server, other, "k")
    assert other.send_line("GET k") == server.send_line("GET k")


def test_a_list_is_restored(server, other):
    server.send("RPUSH", "l", "a", "7", "x" * 9000, "")
    carry(server, other, "l")
    assert other.send_line("LRANGE l 0 -1") == server.send_line("LRANGE l 0 -1")


def test_a_stream_is_restored_with_its_groups(server, other):
    for line in (
        "XADD s 1-1 a b", "XADD s 2-1 a b", "XADD s 3-1 c d", "XDEL s 3-1",
        "XGROUP CREATE s g 0", "XREADGROUP GROUP g alice COUNT 1 STREAMS s >",
        "XREADGROUP GROUP g bob STREAMS s >", "XGROUP CREATECONSUMER s g carol",
    ):  # fmt: skip
        server.send_line(line)
    carry(server, other, "s")
    for line in ("XINFO STREAM s", "XPENDING s g - + 10", "XINFO GROUPS s"):
        assert other.send_line(line) == server.send_line(line)
    assert len(other.send_line("XINFO CONSUMERS s g")) == 3


def test_a_restored_stream_can_be_added_to(server, other):
    server.send_line("XADD s 1-1 a b")
    carry(server, other, "s")
    assert other.send_line("XADD s 1-* a b") == b"1-2"
    assert server.send_line("XLEN s") == 1


def test_dump_does_not_compress_with_rdbcompression_no(make_server):
    loose, tight = make_server(rdbcompression=False), make_server()
    dumps = []
    for server in (loose, tight):
        server.send("SET", "k", "x" * 1000)
        dumps.append(server.send_line("DUMP k"))
    assert len(dumps[0]) > 1000 > len(dumps[1])


# ---------------------------------------------------------------------- what RESTORE changes


def test_restore_wakes_a_client_blocked_on_the_key(server):
    guest = server.client()
    server.send_line("RPUSH l a b")
    dump = server.send_line("DUMP l")
    guest.send_line("BLPOP m 0")
    assert guest.waits
    server.send("RESTORE", "m", 0, dump)
    assert guest.reply() == [b"m", b"a"]


def test_restore_in_place_of_a_stream_wakes_its_readers(server, other):
    other.send_line("XADD s 5-1 a b")
    server.send_line("XADD s 1-1 a b")
    guest = server.client()
    guest.send_line("XREAD BLOCK 0 STREAMS s 1-1")
    assert guest.waits
    server.send("RESTORE", "s", 0, other.send_line("DUMP s"), "REPLACE")
    assert guest.reply() == [[b"s", [[b"5-1", [b"a", b"b"]]]]]


def test_restore_with_replace_drops_the_old_expiry(server, dumped):
    server.send_line("SET k x EX 100")
    server.send("RESTORE", "k", 0, dumped, "REPLACE")
    assert server.send_line("TTL k") == -1


def test_the_ttl_is_relative_or_with_absttl_absolute(server, dumped):
    server.send("RESTORE", "a", 5000, dumped)
    server.send("RESTORE", "b", server.now_ms + 5000, dumped, "ABSTTL")
    assert server.send_line("PTTL a") == server.send_line("PTTL b") == 5000


def test_a_ttl_beyond_64_bits_means_the_last_64_bit_millisecond(server, dumped):
    """In Redis the sum overflows, and is taken for a time that has passed."""
    assert server.send("RESTORE", "a", 2**63 - 1, dumped) == b"OK"
    assert server.send_line("PEXPIRETIME a") == 2**63 - 1


def test_restore_with_a_past_expiry_only_deletes(server, dumped):
    assert server.send("RESTORE", "k", 1, dumped, "ABSTTL", "REPLACE") == b"OK"
    assert server.send_line("EXISTS k") == 0


def test_restore_with_a_past_expiry_makes_the_key_while_a_log_is_loaded(server, dumped):
    """A later command in the AOF may give the key more time, or delete it."""
    server.state.events.lookup.keeps_expired = True
    dispatcher = Dispatcher(server.state)
    dispatcher.replaying.replay(Client(0, 0), [b"RESTORE", b"old", b"1", dumped, b"ABSTTL"])
    assert b"old" in server.state.databases[0]


# ---------------------------------------------------------------------- refusals


def test_a_type_that_is_not_served_is_named(server):
    """The error is that of Redis, followed by the name of the type."""
    payload = AN_ARRAY + crc64(AN_ARRAY).to_bytes(8, "little")
    assert server.send("RESTORE", "k", 0, payload) == (
        f"{BAD_FORMAT}: the value is of a type that is not served: array, RDB type 28"
    )


def test_a_damaged_payload_changes_nothing(server, dumped):
    server.send_line("SET k old")
    changes = server.state.events.changes
    for at in range(len(dumped)):
        damaged = bytearray(dumped)
        damaged[at] ^= 0x10
        assert server.send("RESTORE", "k", 0, bytes(damaged), "REPLACE").startswith("-ERR DUMP")
    assert server.send_line("GET k") == b"old"
    assert server.state.events.changes == changes


def test_without_checksums_a_damaged_payload_is_refused_or_harmless(make_server):
    server = make_server(rdbchecksum=False)
    server.send_line("RPUSH l a b c")
    dump = server.send_line("DUMP l")
    for at in range(len(dump) - 10):
        damaged = bytearray(dump[:-8] + bytes(8))
        damaged[at] ^= 0xFF
        answer = server.send("RESTORE", "m", 0, bytes(damaged), "REPLACE")
        assert answer == b"OK" or answer.startswith(BAD_FORMAT)
        if answer == b"OK":
            assert server.send_line("TYPE m") in (b"list", b"string", b"none", b"stream")
