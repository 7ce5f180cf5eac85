"""DUMP and RESTORE between two servers. The words of all refusals are in tests/compat."""

from __future__ import annotations

import pytest

from server.client.client import Client
from server.dispatch.dispatcher import Dispatcher
from storage.rdb.crc64 import crc64

BAD_FORMAT = "-ERR Bad data format"
A_SET = b"\x02\x01\x01a\n\x00"  # a set as redis dumps it, without the checksum


@pytest.fixture
def other(make_house):
    return make_house()


@pytest.fixture
def dumped(house):
    house.send_line("SET k hello")
    return house.send_line("DUMP k")


def carry(house, other, key):
    assert other.send("RESTORE", key, 0, house.send("DUMP", key)) == b"OK"


# ---------------------------------------------------------------------- from one server to another


def test_dump_of_a_missing_key_is_null(house):
    assert house.send_line("DUMP k") is None


@pytest.mark.parametrize("line", ["SET k hello", "INCRBY k -7", "APPEND k x", "SETRANGE k 5 x"])
def test_a_string_is_restored(house, other, line):
    house.send_line(line)
    carry(house, other, "k")
    assert other.send_line("GET k") == house.send_line("GET k")


def test_a_list_is_restored(house, other):
    house.send("RPUSH", "l", "a", "7", "x" * 9000, "")
    carry(house, other, "l")
    assert other.send_line("LRANGE l 0 -1") == house.send_line("LRANGE l 0 -1")


def test_a_stream_is_restored_with_its_groups(house, other):
    for line in (
        "XADD s 1-1 a b", "XADD s 2-1 a b", "XADD s 3-1 c d", "XDEL s 3-1",
        "XGROUP CREATE s g 0", "XREADGROUP GROUP g alice COUNT 1 STREAMS s >",
        "XREADGROUP GROUP g bob STREAMS s >", "XGROUP CREATECONSUMER s g carol",
    ):  # fmt: skip
        house.send_line(line)
    carry(house, other, "s")
    for line in ("XINFO STREAM s", "XPENDING s g - + 10", "XINFO GROUPS s"):
        assert other.send_line(line) == house.send_line(line)
    assert len(other.send_line("XINFO CONSUMERS s g")) == 3


def test_a_restored_stream_can_be_added_to(house, other):
    house.send_line("XADD s 1-1 a b")
    carry(house, other, "s")
    assert other.send_line("XADD s 1-* a b") == b"1-2"
    assert house.send_line("XLEN s") == 1


def test_dump_does_not_compress_with_rdbcompression_no(make_house):
    loose, tight = make_house(rdbcompression=False), make_house()
    dumps = []
    for house in (loose, tight):
        house.send("SET", "k", "x" * 1000)
        dumps.append(house.send_line("DUMP k"))
    assert len(dumps[0]) > 1000 > len(dumps[1])


# ---------------------------------------------------------------------- what RESTORE changes


def test_restore_wakes_a_client_blocked_on_the_key(house):
    guest = house.client()
    house.send_line("RPUSH l a b")
    dump = house.send_line("DUMP l")
    guest.send_line("BLPOP m 0")
    assert guest.waits
    house.send("RESTORE", "m", 0, dump)
    assert guest.reply() == [b"m", b"a"]


def test_restore_in_place_of_a_stream_wakes_its_readers(house, other):
    other.send_line("XADD s 5-1 a b")
    house.send_line("XADD s 1-1 a b")
    guest = house.client()
    guest.send_line("XREAD BLOCK 0 STREAMS s 1-1")
    assert guest.waits
    house.send("RESTORE", "s", 0, other.send_line("DUMP s"), "REPLACE")
    assert guest.reply() == [[b"s", [[b"5-1", [b"a", b"b"]]]]]


def test_restore_with_replace_drops_the_old_expiry(house, dumped):
    house.send_line("SET k x EX 100")
    house.send("RESTORE", "k", 0, dumped, "REPLACE")
    assert house.send_line("TTL k") == -1


def test_the_ttl_is_relative_or_with_absttl_absolute(house, dumped):
    house.send("RESTORE", "a", 5000, dumped)
    house.send("RESTORE", "b", house.now_ms + 5000, dumped, "ABSTTL")
    assert house.send_line("PTTL a") == house.send_line("PTTL b") == 5000


def test_a_ttl_beyond_64_bits_means_the_last_64_bit_millisecond(house, dumped):
    """In Redis the sum overflows, and is taken for a time that has passed."""
    assert house.send("RESTORE", "a", 2**63 - 1, dumped) == b"OK"
    assert house.send_line("PEXPIRETIME a") == 2**63 - 1


def test_restore_with_a_past_expiry_only_deletes(house, dumped):
    assert house.send("RESTORE", "k", 1, dumped, "ABSTTL", "REPLACE") == b"OK"
    assert house.send_line("EXISTS k") == 0


def test_restore_with_a_past_expiry_makes_the_key_while_a_log_is_loaded(house, dumped):
    """A later command in the log may give the key more time, or delete it."""
    house.state.events.lookup.keeps_expired = True
    dispatcher = Dispatcher(house.state, lambda: 0, lambda: house.now_ms)
    dispatcher.replay(Client(0, 0), [b"RESTORE", b"old", b"1", dumped, b"ABSTTL"])
    assert b"old" in house.state.databases[0]


# ---------------------------------------------------------------------- refusals


def test_a_type_that_is_not_served_is_named(house):
    """The error is that of Redis, followed by the name of the type."""
    payload = A_SET + crc64(A_SET).to_bytes(8, "little")
    assert house.send("RESTORE", "k", 0, payload) == (
        f"{BAD_FORMAT}: the value is of a type that is not served: set, RDB type 2"
    )


def test_a_damaged_payload_changes_nothing(house, dumped):
    house.send_line("SET k old")
    changes = house.state.events.changes
    for at in range(len(dumped)):
        damaged = bytearray(dumped)
        damaged[at] ^= 0x10
        assert house.send("RESTORE", "k", 0, bytes(damaged), "REPLACE").startswith("-ERR DUMP")
    assert house.send_line("GET k") == b"old"
    assert house.state.events.changes == changes


def test_without_checksums_a_damaged_payload_is_refused_or_harmless(make_house):
    house = make_house(rdbchecksum=False)
    house.send_line("RPUSH l a b c")
    dump = house.send_line("DUMP l")
    for at in range(len(dump) - 10):
        damaged = bytearray(dump[:-8] + bytes(8))
        damaged[at] ^= 0xFF
        answer = house.send("RESTORE", "m", 0, bytes(damaged), "REPLACE")
        assert answer == b"OK" or answer.startswith(BAD_FORMAT)
        if answer == b"OK":
            assert house.send_line("TYPE m") in (b"list", b"string", b"none", b"stream")
