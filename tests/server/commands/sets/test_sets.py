"""Set commands: what WATCH sees, what is logged, what is drawn, expiry and encodings."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("line", "fails"),
    [
        ("SADD s a", False),
        ("SADD s new", True),
        ("SREM s nosuch", False),
        ("SREM s a", True),
        ("SPOP s", True),
        ("SPOP s 0", False),
        ("SPOP s 9", True),
        ("SMOVE s t a", True),
        ("SMOVE s t nosuch", False),
        ("SMOVE s s a", False),
        ("SINTERSTORE s s", True),
        ("SUNIONSTORE s nosuch", True),
        ("SDIFFSTORE t s nosuch", False),
        ("SMEMBERS s", False),
        ("SRANDMEMBER s 2", False),
        ("SSCAN s 0", False),
    ],
)
def test_a_transaction_fails_if_a_watched_set_was_changed(server, line, fails):
    server.send_line("SADD s a b c")
    watcher = server.client()
    watcher.send_line("WATCH s")
    server.send_line(line)
    watcher.send_line("MULTI")
    watcher.send_line("PING")
    assert (watcher.send_line("EXEC") is None) == fails


def test_spop_with_a_count_is_logged_as_the_members_that_it_took(server):
    server.send("SADD", "s", *range(3000))
    server.logged()
    taken = server.send_line("SPOP s 2500")
    assert len(set(taken)) == 2500
    logged = [line.split() for line in server.logged()]
    words = [line for line in logged if line not in ([b"MULTI"], [b"EXEC"])]
    assert [(line[0], line[1], len(line) - 2) for line in words] == [
        (b"SREM", b"s", 1024), (b"SREM", b"s", 1024), (b"SREM", b"s", 452),
    ]  # fmt: skip
    assert [member for line in words for member in line[2:]] == taken
    assert server.send_line("SCARD s") == 500


def test_members_that_spop_took_are_gone(server):
    server.send("SADD", "s", *range(300), *(f"m{n}" for n in range(300)))
    first = server.send_line("SPOP s 200")
    rest = server.send_line("SMEMBERS s")
    assert len(rest) == 400
    assert not set(first) & set(rest)
    assert server.send_line("SPOP s") in rest


@pytest.mark.parametrize(
    "members", [range(20), [f"m{n}" for n in range(20)], ["x" * 70, *range(9)]]
)
@pytest.mark.parametrize("count", [1, 3, 7, 9])
def test_srandmember_answers_as_many_members_as_asked_for(server, members, count):
    server.send("SADD", "s", *members)
    everything = set(server.send_line("SMEMBERS s"))
    different = server.send_line(f"SRANDMEMBER s {count}")
    assert len(set(different)) == len(different) == count
    assert everything.issuperset(different)
    any_members = server.send_line(f"SRANDMEMBER s -{count * 10}")
    assert len(any_members) == count * 10
    assert everything.issuperset(any_members)
    assert server.send_line("SRANDMEMBER s") in everything


@pytest.mark.parametrize("stored", ["SUNIONSTORE", "SINTERSTORE", "SDIFFSTORE"])
def test_a_stored_set_replaces_any_value_and_its_expiry(server, stored):
    server.send_line("SADD s a b")
    server.send_line("SET t text EX 100")
    assert server.send_line(f"{stored} t s") == 2
    assert server.send_line("TTL t") == -1
    assert sorted(server.send_line("SMEMBERS t")) == [b"a", b"b"]


def test_a_set_changes_its_last_use_and_keeps_its_expiry(server):
    server.send_line("SADD s a")
    server.send_line("EXPIRE s 100")
    server.advance(5000)
    assert server.send_line("OBJECT IDLETIME s") == 5
    server.send_line("SADD s b")
    assert server.send_line("OBJECT IDLETIME s") == 0
    assert server.send_line("TTL s") == 95
    server.advance(100_000)
    assert server.send_line("SMEMBERS s") == []
    assert server.send_line("SADD s c") == 1
    assert server.send_line("TTL s") == -1


def test_a_large_reply_of_members_has_them_all(server):
    members = [f"member:{n}".encode() for n in range(5000)] + [b"x" * 600, b"y" * 100_000]
    server.send("SADD", "s", *members)
    assert sorted(server.send_line("SMEMBERS s")) == sorted(members)
    found = []
    cursor = b"0"
    while True:
        cursor, page = server.send("SSCAN", "s", cursor, "COUNT", 100)
        found += page
        if cursor == b"0":
            break
    assert sorted(found) == sorted(members)


def test_encodings_follow_the_parameters(server):
    server.send_line("CONFIG SET set-max-listpack-entries 2 set-max-listpack-value 3")
    for line, encoding in [
        ("SADD s a b", b"listpack"),
        ("SADD s c", b"hashtable"),
        ("SADD t abcd", b"hashtable"),
        ("SADD u 12345 1", b"intset"),
        ("SADD u a", b"hashtable"),
        ("SUNIONSTORE v s t", b"hashtable"),
        ("SDIFFSTORE w s t", b"hashtable"),
        ("SINTERSTORE x s s", b"hashtable"),
        ("SMOVE s y a", b"listpack"),
    ]:
        server.send_line(line)
        key = line.split()[2 if line.startswith("SMOVE") else 1]
        assert server.send_line(f"OBJECT ENCODING {key}") == encoding, line


def test_a_copy_shares_nothing_with_the_original(server):
    for members in ("1 2", "a b", "x" * 70):
        server.send_line(f"SADD s {members}")
        server.send_line("COPY s t REPLACE")
        before = sorted(server.send_line("SMEMBERS t"))
        server.send_line("SADD s new 77")
        assert sorted(server.send_line("SMEMBERS t")) == before


def test_debug_knows_the_listpack_of_a_small_set(make_server):
    server = make_server(enable_debug_command="yes")
    server.send_line("SADD s a b")
    assert server.send_line("DEBUG LISTPACK s").startswith(b"Listpack structure")
    server.send_line("SADD n 1")
    assert server.send_line("DEBUG LISTPACK n") == "-ERR Not a listpack encoded object."
    assert b" encoding:intset " in server.send_line("DEBUG OBJECT n")
