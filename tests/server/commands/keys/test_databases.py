"""DBSIZE, FLUSHDB, FLUSHALL, SWAPDB."""

from __future__ import annotations

import pytest


def fill(house):
    house.send_line("MSET a 1 b 2")
    house.send_line("SELECT 1")
    house.send_line("SET c 3")
    house.send_line("SELECT 0")
    house.logged()


def sizes(house):
    return [len(db) for db in house.state.databases[:2]]


def test_dbsize_counts_the_keys_of_one_database(house):
    fill(house)
    assert house.send_line("DBSIZE") == 2


@pytest.mark.parametrize("mode", ["", "ASYNC", "sync"])
def test_flushdb_empties_one_database(house, mode):
    fill(house)
    assert house.send_line(f"FLUSHDB {mode}") == b"OK"
    assert sizes(house) == [0, 1]


@pytest.mark.parametrize("mode", ["", "ASYNC", "sync"])
def test_flushall_empties_all_databases(house, mode):
    fill(house)
    assert house.send_line(f"FLUSHALL {mode}") == b"OK"
    assert sizes(house) == [0, 0]


@pytest.mark.parametrize("line", ["FLUSHDB foo", "FLUSHALL foo", "FLUSHDB SYNC SYNC"])
def test_flush_refuses_other_modes(house, line):
    fill(house)
    assert house.send_line(line) == "-ERR syntax error"
    assert sizes(house) == [2, 1]


def test_a_flush_of_an_empty_server_is_logged_too(house):
    house.send_line("FLUSHALL")
    house.send_line("FLUSHDB")
    assert house.logged() == [b"FLUSHALL", b"FLUSHDB"]


def test_swapdb_exchanges_keys_and_expiries(house):
    fill(house)
    house.send_line("EXPIRE a 100")
    assert house.send_line("SWAPDB 0 1") == b"OK"
    assert sizes(house) == [1, 2]
    house.send_line("SELECT 1")
    assert house.send_line("TTL a") == 100


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
def test_swapdb_checks_both_indexes(house, line, answer):
    fill(house)
    assert house.send_line(line) == answer
    assert sizes(house) == [2, 1]
