"""Hash commands: protocols, events, and what must not change; the replies are in tests/compat."""

from __future__ import annotations

import pytest

from storage import allocation
from tests.server.given_back import is_given_back
from tests.used_memory import used_at_start


def test_hgetall_and_pairs_of_hrandfield_have_other_forms_in_resp3(server):
    server.send_line("HSET h a 1 b 2")
    assert server.send_line("HGETALL h") == [b"a", b"1", b"b", b"2"]
    assert server.send_line("HRANDFIELD h 5 WITHVALUES") == [b"a", b"1", b"b", b"2"]
    server.send_line("HELLO 3")
    assert server.send_line("HGETALL h") == {b"a": b"1", b"b": b"2"}
    assert server.send_line("HGETALL missing") == {}
    assert server.send_line("HRANDFIELD h 5 WITHVALUES") == [[b"a", b"1"], [b"b", b"2"]]
    assert server.send_line("HRANDFIELD h 5") == [b"a", b"b"]


@pytest.mark.parametrize(
    "line",
    [
        "HSET h a", "HSET h a 1 b", "HMSET h a 1 b", "HINCRBY h s 1", "HINCRBY h n x",
        "HINCRBY h n 9223372036854775807", "HINCRBYFLOAT h s 1", "HINCRBYFLOAT h n inf",
        "HINCRBYFLOAT new n nan", "HINCRBY new n x", "HSCAN h x",
    ],
)  # fmt: skip
def test_a_refused_command_changes_nothing(server, line):
    server.send_line("HSET h s text n 1")
    server.logged()
    assert server.send_line(line).startswith("-ERR")
    assert server.send_line("HGETALL h") == [b"s", b"text", b"n", b"1"]
    assert server.send_line("EXISTS new") == 0
    assert server.logged() == []


def test_a_hash_whose_last_field_goes_is_deleted(server):
    server.send_line("HSET h a 1 b 2")
    server.send_line("EXPIRE h 100")
    assert server.send_line("HDEL h a nope b") == 2
    assert server.send_line("EXISTS h") == 0
    server.send_line("HSET h a 1")
    assert server.send_line("TTL h") == -1


def test_the_limits_of_a_listpack_follow_config_set(server):
    server.send_line("CONFIG SET hash-max-ziplist-entries 2 hash-max-listpack-value 5")
    server.send_line("HSET h a 1 b 12345")
    assert server.send_line("OBJECT ENCODING h") == b"listpack"
    payload = server.send_line("DUMP h")
    server.send_line("HSET h a 123456")
    assert server.send_line("OBJECT ENCODING h") == b"hashtable"
    server.send_line("CONFIG SET hash-max-listpack-entries 1")
    server.send("RESTORE", "h2", 0, payload)
    assert server.send_line("OBJECT ENCODING h2") == b"hashtable"
    assert sorted(server.send_line("HKEYS h2")) == [b"a", b"b"]


@pytest.mark.parametrize("fields", [3, 2000])
def test_a_hash_is_scanned_with_all_its_fields(server, fields):
    server.send("HSET", "h", *(word for n in range(fields) for word in (f"f{n}", f"v{n}")))
    found: dict[bytes, bytes] = {}
    cursor = b"0"
    while True:
        cursor, page = server.send("HSCAN", "h", cursor, "COUNT", 100)
        found |= dict(zip(page[::2], page[1::2], strict=True))
        if cursor == b"0":
            break
    assert found == {b"f%d" % n: b"v%d" % n for n in range(fields)}
    assert server.send_line("HSCAN h 0 MATCH f2 NOVALUES COUNT 5000") == [b"0", [b"f2"]]


def test_hrandfield_with_a_negative_count_repeats_fields(server):
    server.send("HSET", "h", "a", "1", "b", "x" * 100)
    found = server.send_line("HRANDFIELD h -50 WITHVALUES")
    assert set(zip(found[::2], found[1::2], strict=True)) == {(b"a", b"1"), (b"b", b"x" * 100)}
    assert len(found) == 100


def test_hrandfield_stops_at_the_limit_of_a_clients_replies(server):
    server.send_line("HSET h a 1")
    client = server.client()
    client.client.out.limit = 100_000
    client.send("HRANDFIELD", "h", -(2**40))
    assert client.client.out.overflown


def test_memory_is_given_back_when_a_hash_is_deleted(server):
    at_start = used_at_start()
    for lines in range(3000):
        server.send_line(f"HSET h field-{lines} value-{lines}")
    assert allocation.used_bytes() - at_start > 50_000
    server.send_line("DEL h")
    assert is_given_back(at_start)
