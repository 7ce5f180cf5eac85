"""DEL, EXISTS, TYPE, RENAME, COPY, MOVE and OBJECT, as redis 7.0.15 answers them."""

from __future__ import annotations

import pytest

NOT_AN_INTEGER = "-ERR value is not an integer or out of range"
NOT_32_BIT = "-ERR value is out of range, value must between -2147483648 and 2147483647"
SAME_OBJECT = "-ERR source and destination objects are the same"


def keys_of(server):
    return sorted(server.send("KEYS", "*"))


# ---------------------------------------------------------------------- DEL, EXISTS, TOUCH and TYPE


@pytest.mark.parametrize("name", ["DEL", "UNLINK"])
def test_del_counts_the_keys_that_were_there(server, name):
    server.send_line("MSET a 1 b 2 c 3")
    assert server.send(name, "a", "nokey", "a", "b") == 2
    assert keys_of(server) == [b"c"]


def test_del_logs_nothing_when_nothing_was_removed(server):
    server.send_line("DEL nokey")
    assert server.logged() == []


def test_del_of_an_expired_key_counts_nothing(server):
    server.send_line("SET a 1 PX 10")
    server.advance(11)
    assert server.send_line("DEL a") == 0


@pytest.mark.parametrize("name", ["EXISTS", "TOUCH"])
def test_exists_counts_a_key_as_often_as_it_is_named(server, name):
    server.send_line("SET a 1")
    assert server.send(name, "a", "a", "nokey") == 2


def test_exists_counts_hits_and_misses(server):
    server.send_line("SET a 1")
    server.send_line("EXISTS a nokey a")
    assert (server.state.events.hits, server.state.events.misses) == (2, 1)


def test_type_names_the_type(server):
    server.send_line("SET a 1")
    server.send_line("RPUSH l x")
    server.send_line("XADD s * f v")
    assert server.owner.raw("TYPE", "l") == b"+list\r\n"
    assert server.owner.raw("TYPE", "s") == b"+stream\r\n"
    assert server.owner.raw("TYPE", "a") == b"+string\r\n"
    assert server.owner.raw("TYPE", "nokey") == b"+none\r\n"


# ---------------------------------------------------------------------- RENAME


def test_rename_carries_the_expiry_and_drops_that_of_the_target(server):
    server.send_line("SET a 1 PX 5000")
    server.send_line("SET b 2")
    server.send_line("RENAME a b")
    assert server.send_line("PTTL b") == 5000
    server.send_line("SET c 3")
    server.send_line("RENAME c b")
    assert server.send_line("PTTL b") == -1
    assert keys_of(server) == [b"b"]


def test_rename_to_its_own_name_changes_nothing(server):
    server.send_line("SET a 1")
    server.logged()
    assert server.send_line("RENAME a a") == b"OK"
    assert server.send_line("RENAMENX a a") == 0
    assert server.send_line("GET a") == b"1"
    assert server.logged() == []


@pytest.mark.parametrize("line", ["RENAME no a", "RENAME no no", "RENAMENX no a"])
def test_rename_of_a_missing_key_is_an_error(server, line):
    assert server.send_line(line) == "-ERR no such key"


def test_renamenx_leaves_an_existing_target_alone(server):
    server.send_line("MSET a 1 b 2")
    assert server.send_line("RENAMENX a b") == 0
    assert server.send_line("RENAMENX a c") == 1
    assert server.send_line("MGET a b c") == [None, b"2", b"1"]


def test_renamenx_takes_the_place_of_an_expired_target(server):
    server.send_line("SET a 1")
    server.send_line("SET b 2 PX 1")
    server.advance(2)
    assert server.send_line("RENAMENX a b") == 1


# ---------------------------------------------------------------------- COPY and MOVE


def test_copy_carries_the_expiry(server):
    server.send_line("SET a 1 PX 5000")
    assert server.send_line("COPY a b") == 1
    assert (server.send_line("GET b"), server.send_line("PTTL b")) == (b"1", 5000)


def test_copy_of_an_appended_string_is_independent(server):
    server.send_line("APPEND a x")
    server.send_line("APPEND a y")
    server.send_line("COPY a b")
    server.send_line("APPEND a z")
    assert server.send_line("MGET a b") == [b"xyz", b"xy"]


@pytest.mark.parametrize(
    ("make", "change", "look"),
    [
        ("RPUSH a x", "RPUSH a y", "LRANGE b 0 -1"),
        ("XADD a 1-1 f v", "XDEL a 1-1", "XRANGE b - +"),
        ("XGROUP CREATE a g 0 MKSTREAM", "XGROUP DESTROY a g", "XINFO GROUPS b"),
    ],
)
def test_copy_of_other_types_is_independent(server, make, change, look):
    server.send_line(make)
    server.send_line("COPY a b")
    before = server.send_line(look)
    server.send_line(change)
    assert before != []
    assert server.send_line(look) == before


def test_copy_replaces_a_target_only_with_replace(server):
    server.send_line("MSET a 1 b 2")
    assert server.send_line("COPY a b") == 0
    assert server.send_line("COPY a b REPLACE") == 1
    assert server.send_line("GET b") == b"1"


def test_copy_to_another_database(server):
    server.send_line("SET a 1")
    assert server.send_line("COPY a a DB 3") == 1
    server.send_line("SELECT 3")
    assert server.send_line("GET a") == b"1"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("COPY a a", SAME_OBJECT),
        ("COPY a a DB 0", SAME_OBJECT),
        ("COPY a b DB", "-ERR syntax error"),
        ("COPY a b DB x", NOT_AN_INTEGER),
        ("COPY a b DB 16", "-ERR DB index is out of range"),
        ("COPY a b DB -1", "-ERR DB index is out of range"),
        ("COPY a b DB 4294967296", NOT_32_BIT),
        ("COPY a b FOO", "-ERR syntax error"),
        ("COPY no b", 0),
        ("MOVE a 0", SAME_OBJECT),
        ("MOVE no 0", SAME_OBJECT),
        ("MOVE no 1", 0),
        ("MOVE a x", NOT_AN_INTEGER),
        ("MOVE a 16", "-ERR DB index is out of range"),
        ("MOVE a 4294967296", NOT_32_BIT),
    ],
)
def test_copy_and_move_refuse(server, line, answer):
    server.send_line("SET a 1")
    server.logged()
    assert server.send_line(line) == answer
    assert server.logged() == []


def test_move_carries_the_expiry(server):
    server.send_line("SET a 1 PX 5000")
    assert server.send_line("MOVE a 1") == 1
    assert server.send_line("EXISTS a") == 0
    server.send_line("SELECT 1")
    assert server.send_line("PTTL a") == 5000


def test_move_leaves_an_existing_target_alone(server):
    server.send_line("SET a 1")
    server.send_line("COPY a a DB 1")
    assert server.send_line("MOVE a 1") == 0


@pytest.mark.parametrize("line", ["RENAME a b", "RENAMENX a b", "COPY a b", "MOVE a 1"])
def test_rename_copy_and_move_are_logged_as_they_were_sent(server, line):
    server.send_line("SET a 1")
    server.logged()
    server.send_line(line)
    assert server.logged() == [line.encode()]


# ---------------------------------------------------------------------- OBJECT


@pytest.mark.parametrize(
    ("value", "encoding"),
    [
        (b"123", b"int"),
        (b"-9223372036854775808", b"int"),
        (b"9223372036854775807", b"int"),
        (b"9223372036854775808", b"embstr"),
        (b"007", b"embstr"),
        (b"-0", b"embstr"),
        (b"+1", b"embstr"),
        (b"", b"embstr"),
        (b"x" * 44, b"embstr"),
        (b"x" * 45, b"raw"),
    ],
)
def test_encoding_of_a_string_as_it_was_set(server, value, encoding):
    server.send("SET", "a", value)
    assert server.send_line("OBJECT ENCODING a") == encoding


def test_encoding_of_a_string_that_was_changed(server):
    server.send_line("INCR n")
    server.send_line("SET a 1")
    server.send_line("APPEND a 2")
    server.send_line("SETRANGE b 0 x")
    server.send_line("APPEND c 12")
    encodings = [server.send_line(f"OBJECT ENCODING {key}") for key in "nabc"]
    assert encodings == [b"int", b"raw", b"raw", b"int"]


def test_encoding_of_lists_and_streams(server):
    server.send_line("RPUSH small x")
    server.send("RPUSH", "big", *["x" * 100] * 200)
    server.send_line("XADD s * f v")
    encodings = [server.send_line(f"OBJECT ENCODING {key}") for key in ("small", "big", "s")]
    assert encodings == [b"listpack", b"quicklist", b"stream"]


@pytest.mark.parametrize(
    ("value", "count"), [("0", 2147483647), ("9999", 2147483647), ("10000", 1), ("x", 1)]
)
def test_small_integers_are_shown_as_shared(server, value, count):
    server.send("SET", "a", value)
    assert server.send_line("OBJECT REFCOUNT a") == count


@pytest.mark.parametrize("what", ["ENCODING", "REFCOUNT", "IDLETIME", "FREQ"])
def test_object_of_a_missing_key_is_null(server, what):
    assert server.send("OBJECT", what, "no") is None


def test_object_freq_needs_an_lfu_policy(server):
    server.send_line("SET a 1")
    assert server.send_line("OBJECT FREQ a").startswith(
        "-ERR An LFU maxmemory policy is not selected, access frequency not tracked."
    )


def test_object_subcommands_are_checked(server):
    assert server.send_line("OBJECT foo") == "-ERR unknown subcommand 'foo'. Try OBJECT HELP."
    assert server.send_line("OBJECT encoding") == (
        "-ERR wrong number of arguments for 'object|encoding' command"
    )
    assert server.send_line("OBJECT help")[0].startswith(b"OBJECT <subcommand>")


@pytest.mark.parametrize(
    ("words", "is_large"),
    [
        (("SADD", *(f"member{n}" for n in range(600))), True),
        (("SADD", *range(100)), False),  # an intset is one piece
        (("ZADD", *(n for pair in range(600) for n in (pair, f"m{pair}"))), True),
        (("RPUSH", *range(600)), False),  # a few listpacks
        (("SET", "x" * 10_000), False),
        (("HSET", "field", "value"), False),
    ],
)
def test_only_large_values_that_are_unlinked_count_as_lazily_freed(server, words, is_large):
    server.send(words[0], "key", *words[1:])
    server.send_line("COPY key other")
    server.send_line("DEL other")
    assert server.state.events.freeing.count == 0
    server.send_line("UNLINK key key")
    assert server.state.events.freeing.count == is_large


@pytest.mark.parametrize(
    ("parameter", "line"),
    [
        ("lazyfree-lazy-user-del", "DEL key"),
        ("lazyfree-lazy-server-del", "SET key small"),
        ("lazyfree-lazy-server-del", "RENAME other key"),
        ("lazyfree-lazy-server-del", "COPY other key REPLACE"),
    ],
)
def test_what_a_parameter_has_freed_lazily_is_counted(server, parameter, line):
    members = [f"member{n}" for n in range(600)]
    for setting, counted in (("no", 0), ("yes", 1)):
        server.send_line(f"CONFIG SET {parameter} {setting}")
        server.send_line("SET other small")
        server.send("SADD", "key", *members)
        server.send_line(line)
        assert b"\r\nlazyfreed_objects:%d\r\n" % counted in server.send_line("INFO memory")
        server.send_line("DEL key")
    server.send_line("CONFIG RESETSTAT")
    assert b"\r\nlazyfreed_objects:0\r\n" in server.send_line("INFO memory")


def test_a_stream_counts_as_lazily_freed_by_its_nodes_and_pending_entries(server):
    server.send_line("CONFIG SET stream-node-max-entries 5")
    for number in range(100):
        server.send("XADD", "stream", "*", "number", number)
    server.send_line("COPY stream other")
    server.send_line("UNLINK other")
    assert server.state.events.freeing.count == 0
    server.send_line("XGROUP CREATE stream group 0")
    server.send_line("XREADGROUP GROUP group alice COUNT 80 STREAMS stream >")
    server.send_line("UNLINK stream")
    assert server.state.events.freeing.count == 1
