"""MEMORY: what keys take, figures, and words about them."""

from __future__ import annotations

import gc

import pytest

from server.observe.memory_report import report
from storage import allocation
from tests.used_memory import used_at_start

MB = 1024 * 1024


@pytest.mark.parametrize(
    "words",
    [
        ("SET", "k", "v" * 1000),
        ("APPEND", "k", "v" * 1000),
        ("INCR", "k"),
        ("RPUSH", "k", *range(5000)),
        ("SADD", "k", *range(300)),
        ("SADD", "k", *(f"member:{n}" for n in range(5000))),
        ("HSET", "k", *range(100)),
        ("HSET", "k", *(f"field:{n}" for n in range(5000)), *(["v" * 600] * 2)),
        ("XADD", "k", "1-1", "f", "v"),
    ],
)
def test_a_key_takes_what_is_counted_for_it(server, words):
    before = used_at_start()
    server.send(*words)
    taken = allocation.used_bytes() - before
    assert 0.8 * taken <= server.send("MEMORY", "USAGE", "k", "SAMPLES", 0) <= 1.2 * taken
    if len(words) > 1000:
        assert 0.7 * taken <= server.send("MEMORY", "USAGE", "k") <= 1.3 * taken


def test_looking_at_a_key_does_not_change_what_is_counted(server):
    server.send("RPUSH", "k", *range(5000))
    before = used_at_start()
    server.send("MEMORY", "USAGE", "k")
    gc.collect()
    assert allocation.used_bytes() == before


def test_a_key_that_is_not_there_takes_nothing(server):
    assert server.send("MEMORY", "USAGE", "nosuch") is None
    assert server.send("MEMORY", "USAGE", "nosuch", "SAMPLES", -1) == "-ERR syntax error"
    assert server.send("MEMORY", "USAGE", "nosuch", "FOO") == "-ERR syntax error"


def test_stats_have_the_figures_of_each_database_that_has_keys(server):
    server.send("SET", "k", "v", "EX", 100)
    stats = server.send("MEMORY", "STATS")
    figures = dict(zip(stats[::2], stats[1::2], strict=True))
    assert figures[b"keys.count"] == 1
    place = figures[b"db.0"][1]
    assert figures[b"db.0"] == [
        b"overhead.hashtable.main", place, b"overhead.hashtable.expires", place,
    ]  # fmt: skip
    assert b"db.1" not in figures
    assert figures[b"dataset.bytes"] <= figures[b"total.allocated"] <= figures[b"peak.allocated"]


def test_doctor_purge_and_malloc_stats_answer(server):
    assert server.send("MEMORY", "DOCTOR").endswith(b"\n")  # what it says is up to other tests
    assert server.send("MEMORY", "PURGE") == b"OK"
    assert server.send("MEMORY", "MALLOC-STATS").startswith(b"Stats not supported")


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ((100 * MB, 100 * MB, 110 * MB, 0, 0, 1), "No problem found: 100.00M are in use"),
        ((95 * MB, 95 * MB, 95 * MB, 100 * MB, 0, 1), "95.00M of maxmemory's 100.00M"),
        ((100 * MB, 200 * MB, 100 * MB, 0, 0, 1), "At the peak 200.00M were in use"),
        ((300 * MB, 300 * MB, 500 * MB, 0, 0, 1), "The process holds 500.00M for 300.00M"),
        ((100 * MB, 100 * MB, 100 * MB, 0, 10 * MB, 3), "The 3 clients hold 10.00M"),
    ],
)
def test_the_report_names_what_is_wrong(figures, words):
    assert report(*figures).removeprefix("- ").startswith(words)
    assert report(*figures).count("\n") == 1
