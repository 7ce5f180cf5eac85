"""HIMPORT, as redis 8.10 answers it: no server that is compared knows it."""

from __future__ import annotations

import pytest


def test_a_hash_of_prepared_fields(server):
    assert server.send_line("HIMPORT PREPARE user name city") == b"OK"
    assert server.send_line("HIMPORT SET u:1 user Ann Graz") == b"OK"
    assert server.send_line("HIMPORT SET u:2 user Bob Wien") == b"OK"
    assert server.send_line("HGETALL u:1") == [b"name", b"Ann", b"city", b"Graz"]
    assert server.logged() == [b"HSET u:1 name Ann city Graz", b"HSET u:2 name Bob city Wien"]


def test_it_replaces_a_hash_and_nothing_else(server):
    server.send_line("HIMPORT PREPARE f a")
    server.send_line("HSET h old 1")
    server.send_line("EXPIRE h 100")
    server.send_line("HEXPIRE h 100 FIELDS 1 old")
    server.send_line("SET s v")
    server.logged()
    assert server.send_line("HIMPORT SET h f 2") == b"OK"
    assert server.send_line("HGETALL h") == [b"a", b"2"]
    assert server.send_line("TTL h") == -1
    assert server.logged() == [b"DEL h", b"HSET h a 2"]
    assert server.send_line("HIMPORT SET s f 2").startswith("-WRONGTYPE")
    assert server.send_line("GET s") == b"v"


def test_a_fieldset_is_replaced_and_discarded(server):
    server.send_line("HIMPORT PREPARE f a b")
    server.send_line("HIMPORT PREPARE f x y z")
    assert server.send_line("HIMPORT SET h f 1 2").startswith("-ERR value count does not match")
    assert server.send_line("HIMPORT SET h f 1 2 3") == b"OK"
    server.send_line("HIMPORT PREPARE g a")
    assert server.send_line("HIMPORT DISCARD f") == 1
    assert server.send_line("HIMPORT DISCARD f") == 0
    assert server.send_line("HIMPORT SET h f 1 2 3") == "-ERR no such fieldset"
    server.send_line("HIMPORT PREPARE f a")
    assert server.send_line("HIMPORT DISCARDALL") == 2
    assert server.send_line("HIMPORT DISCARDALL") == 0
    assert server.send_line("HGET h x") == b"1"


@pytest.mark.parametrize("fields", ["a a b", "a b a", "same same"])
def test_a_field_is_named_once(server, fields):
    assert server.send_line(f"HIMPORT PREPARE f {fields}") == (
        "-ERR duplicate field name in fieldset"
    )
    assert server.send_line("HIMPORT SET h f 1 2 3") == "-ERR no such fieldset"


def test_empty_names_are_names(server):
    assert server.send("HIMPORT", "PREPARE", "", "", "b") == b"OK"
    assert server.send("HIMPORT", "SET", "h", "", "1", "2") == b"OK"
    assert server.send("HGET", "h", "") == b"1"


@pytest.mark.parametrize("line", ["PREPARE", "PREPARE f", "SET", "SET k", "SET k f", "DISCARD",
                                  "DISCARD a b", "DISCARDALL a"])  # fmt: skip
def test_the_number_of_words(server, line):
    assert "wrong number of arguments" in server.send_line(f"HIMPORT {line}")


def test_fieldsets_are_the_connection_s(server):
    one, other = server.client(), server.client()
    one.send("HIMPORT", "PREPARE", "f", "a")
    assert other.send("HIMPORT", "SET", "h", "f", "1") == "-ERR no such fieldset"
    assert one.send("HIMPORT", "SET", "h", "f", "1") == b"OK"
    one.send("RESET")
    assert one.send("HIMPORT", "SET", "h", "f", "1") == "-ERR no such fieldset"
    one.send("HIMPORT", "PREPARE", "f", "a")
    one.leave()
    assert list(server.state.hash_imports._of_clients) == [other.client]


def test_fieldsets_count_as_memory_of_their_client(server):
    client, memory = server.client(), server.state.memory
    before = memory.clients
    client.send("HIMPORT", "PREPARE", "f", *(b"field-%d" % i for i in range(1000)))
    held = client.client.held
    assert 9_000 < held < 100_000
    assert memory.clients == before + held
    client.send("HIMPORT", "PREPARE", "f", "a")  # in its place
    client.send("HIMPORT", "PREPARE", "g", "a")
    assert 0 < client.client.held < 1000
    client.send("HIMPORT", "DISCARD", "g")
    client.send("HIMPORT", "DISCARDALL")
    assert client.client.held == 0
    assert memory.clients == before
    client.send("HIMPORT", "PREPARE", "f", "a")
    client.send("RESET")
    assert memory.clients == before


def told(server):
    """INFO's fieldsets, keys stored by them, and bytes."""
    text = server.send_line("INFO stats memory")
    lines = dict(line.split(b":") for line in bytes(text).split(b"\r\n") if b":" in line)
    names = (b"hash_templates", b"hash_template_keys", b"used_memory_hash_templates")
    return tuple(int(lines[name]) for name in names)


def test_info_tells_of_the_fieldsets_of_all_clients(server):
    one, other = server.client(), server.client()
    assert told(server) == (0, 0, 0)
    one.send("HIMPORT", "PREPARE", "f", "a", "b")
    other.send("HIMPORT", "PREPARE", "f", "a", "b")
    other.send("HIMPORT", "PREPARE", "g", *(b"field-%d" % i for i in range(100)))
    other.send("HIMPORT", "SET", "h", "f", "1", "2")
    assert told(server) == (3, 0, one.client.held + other.client.held)
    other.send("HIMPORT", "PREPARE", "g", "a")  # in its place
    assert told(server) == (3, 0, one.client.held + other.client.held)
    other.send("HIMPORT", "DISCARD", "g")
    server.send_line("FLUSHALL")
    assert told(server)[0] == 2
    other.leave()
    assert told(server) == (1, 0, one.client.held)
    server.send("EVAL", "redis.call('HIMPORT', 'PREPARE', 'f', 'a')", 0)  # of the script alone
    one.send("RESET")
    assert told(server) == (0, 0, 0)


def test_a_script_has_its_own(server):
    prepare = "redis.call('HIMPORT', 'PREPARE', 'f', 'a')"
    use = "return redis.call('HIMPORT', 'SET', KEYS[1], 'f', '1')"
    assert server.send("EVAL", f"{prepare} {use}", 1, "h") == b"OK"
    assert "no such fieldset" in server.send("EVAL", use, 1, "h")
    assert server.send_line("HIMPORT SET h f 1") == "-ERR no such fieldset"


def test_rights_on_the_key_are_asked_for(server):
    server.send_line("ACL SETUSER u on nopass +@all ~a*")
    client = server.client()
    client.send("AUTH", "u", "x")
    assert client.send("HIMPORT", "PREPARE", "f", "a") == b"OK"
    assert client.send("HIMPORT", "SET", "b", "f", "1").startswith("-NOPERM")
    assert client.send("HIMPORT", "SET", "a", "f", "1") == b"OK"
    assert server.send_line("COMMAND GETKEYS HIMPORT SET k f v") == [b"k"]
