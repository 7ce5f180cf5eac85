"""DBSIZE, FLUSHDB, FLUSHALL, SWAPDB."""

from __future__ import annotations

import pytest


def fill(server):
    server.send_line("MSET a 1 b 2")
    server.send_line("SELECT 1")
    server.send_line("SET c 3")
    server.send_line("SELECT 0")
    server.logged()


def sizes(server):
    return [len(db) for db in server.state.databases[:2]]


def test_dbsize_counts_the_keys_of_one_database(server):
    fill(server)
    assert server.send_line("DBSIZE") == 2


@pytest.mark.parametrize("mode", ["", "ASYNC", "sync"])
def test_flushdb_empties_one_database(server, mode):
    fill(server)
    assert server.send_line(f"FLUSHDB {mode}") == b"OK"
    assert sizes(server) == [0, 1]


@pytest.mark.parametrize("mode", ["", "ASYNC", "sync"])
def test_flushall_empties_all_databases(server, mode):
    fill(server)
    assert server.send_line(f"FLUSHALL {mode}") == b"OK"
    assert sizes(server) == [0, 0]


@pytest.mark.parametrize("line", ["FLUSHDB foo", "FLUSHALL foo", "FLUSHDB SYNC SYNC"])
def test_flush_refuses_other_modes(server, line):
    fill(server)
    assert server.send_line(line) == "-ERR syntax error"
    assert sizes(server) == [2, 1]


def test_a_flush_of_an_empty_server_is_logged_too(server):
    server.send_line("FLUSHALL")
    server.send_line("FLUSHDB")
    assert server.logged() == [b"FLUSHALL", b"FLUSHDB"]


def test_swapdb_exchanges_keys_and_expiries(server):
    fill(server)
    server.send_line("EXPIRE a 100")
    assert server.send_line("SWAPDB 0 1") == b"OK"
    assert sizes(server) == [1, 2]
    server.send_line("SELECT 1")
    assert server.send_line("TTL a") == 100


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("SWAPDB x 1", "-ERR invalid first DB index"),
        ("SWAPDB 99 x", "-ERR invalid second DB index"),
        ("SWAPDB 4294967296 1", "-ERR invalid first DB index"),
        ("SWAPDB 0 16", "-ERR DB index is out of range"),
        ("SWAPDB -1 0", "-ERR DB index is out of range"),
        ("SWAPDB 0 0", b"OK"),
    ],
)
def test_swapdb_checks_both_indexes(server, line, answer):
    fill(server)
    assert server.send_line(line) == answer
    assert sizes(server) == [2, 1]


def test_keys_that_flushall_async_has_removed_count_as_lazily_freed(server):
    server.send_line("MSET a 1 b 2")
    server.send_line("FLUSHALL")
    assert server.state.events.freeing.count == 0
    server.send_line("MSET a 1 b 2")
    server.send_line("FLUSHDB ASYNC")
    assert server.state.events.freeing.count == 2


@pytest.mark.parametrize(
    ("by_default", "line", "counted"),
    [
        ("yes", "FLUSHALL", 2),
        ("yes", "FLUSHDB", 2),
        ("yes", "FLUSHALL SYNC", 0),
        ("no", "FLUSHALL", 0),
        ("no", "FLUSHALL ASYNC", 2),
    ],
)
def test_lazyfree_lazy_user_flush_says_what_a_flush_without_a_word_is(
    by_default, line, counted, server
):
    server.send_line(f"CONFIG SET lazyfree-lazy-user-flush {by_default}")
    server.send_line("MSET a 1 b 2")
    server.send_line(line)
    assert b"\r\nlazyfreed_objects:%d\r\n" % counted in server.send_line("INFO memory")
