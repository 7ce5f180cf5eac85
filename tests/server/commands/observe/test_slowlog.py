"""SLOWLOG, with a threshold of 0: all commands are slow."""

from __future__ import annotations

import pytest


@pytest.fixture
def slow(make_server):
    return make_server(slowlog_log_slower_than=0)


def words(server, count=-1):
    return [entry[3] for entry in server.send("SLOWLOG", "GET", count)]


def test_an_entry_has_number_time_duration_words_address_and_name(slow):
    slow.send("CLIENT", "SETNAME", "me")
    slow.send("SLOWLOG", "RESET")
    (entry,) = slow.send("SLOWLOG", "GET", 1)
    assert entry[:2] == [1, 1_700_000_000]
    assert entry[2] >= 0
    assert entry[3:] == [[b"SLOWLOG", b"RESET"], b"10.0.0.1:5001", b"me", 2]


def test_no_command_is_slow_by_default(server):
    server.send("PING")
    assert server.send("SLOWLOG", "LEN") == 0
    assert server.send("SLOWLOG", "GET") == []


def test_ten_entries_are_shown_unless_the_client_wants_another_number(slow):
    for _ in range(12):
        slow.send("PING")
    assert len(words(slow, 11)) == 11
    assert len(slow.send("SLOWLOG", "GET")) == 10
    assert slow.send("SLOWLOG", "LEN") == 14
    assert len(words(slow)) == 15


@pytest.mark.parametrize("count", ["x", "-2", "1.5"])
def test_a_count_is_a_number_from_minus_one_on(slow, count):
    assert slow.send("SLOWLOG", "GET", count) == (
        "-ERR count should be greater than or equal to -1"
    )


def test_a_transaction_has_an_entry_for_each_of_its_commands(slow):
    slow.send("MULTI")
    slow.send("ECHO", "a")
    slow.send("ECHO", "b")
    slow.send("EXEC")
    assert words(slow, 3) == [[b"ECHO", b"b"], [b"ECHO", b"a"], [b"MULTI"]]


def test_a_command_that_waits_has_one_entry_when_it_is_answered(slow):
    guest = slow.client()
    guest.send("BLPOP", "l", 0)
    assert words(slow, 1) != [[b"BLPOP", b"l", b"0"]]
    slow.send("RPUSH", "l", "x")
    assert words(slow).count([b"BLPOP", b"l", b"0"]) == 1
    guest.send("BLPOP", "l", 1)
    slow.advance(2000)
    assert words(slow, 1) == [[b"BLPOP", b"l", b"1"]]


def test_secrets_are_hidden(slow):
    slow.send("AUTH", "geheim")
    slow.send("CONFIG", "SET", "masterauth", "geheim", "maxclients", 77)
    slow.send("ACL", "GETUSER", "ann")
    slow.send("ACL", "DELUSER", "ann", "bob")
    assert words(slow, 4) == [
        [b"ACL", b"DELUSER", b"(redacted)", b"(redacted)"],
        [b"ACL", b"GETUSER", b"(redacted)"],
        [b"CONFIG", b"SET", b"masterauth", b"(redacted)", b"maxclients", b"77"],
        [b"AUTH", b"(redacted)"],
    ]


def test_the_threshold_can_be_changed_and_the_log_turned_off(slow):
    slow.send("CONFIG", "SET", "slowlog-log-slower-than", -1)
    slow.send("SLOWLOG", "RESET")
    slow.send("PING")
    assert slow.send("SLOWLOG", "LEN") == 0


def test_what_is_loaded_from_the_log_is_not_slow(slow):
    slow.send("SLOWLOG", "RESET")
    slow.dispatcher.replaying.begin()([b"SET", b"k", b"v"])
    assert words(slow) == [[b"SLOWLOG", b"RESET"]]
