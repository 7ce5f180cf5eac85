"""OBJECT FREQ: which commands count as a use of their key under an LFU policy."""

from __future__ import annotations

import pytest

NEW = 5


@pytest.fixture
def server(make_server):
    """Each use counts, and nothing is forgotten."""
    return make_server(maxmemory_policy="allkeys-lfu", lfu_log_factor=0, lfu_decay_time=0)


def frequency(server, key):
    return server.send("OBJECT", "FREQ", key)


def test_a_new_key_begins_with_5(server):
    server.send_line("SET k v")
    assert frequency(server, "k") == NEW


@pytest.mark.parametrize(
    ("line", "uses"),
    [
        ("GET s", 1),
        ("SET s w", 1),
        ("SET s w GET", 2),
        ("SET s w KEEPTTL", 1),
        ("GETSET s w", 2),
        ("APPEND s x", 1),
        ("SETRANGE s 0 x", 1),
        ("INCR s", 1),
        ("TOUCH s", 1),
        ("EXISTS s", 0),
        ("TTL s", 0),
        ("OBJECT ENCODING s", 0),
        ("OBJECT FREQ s", 0),
        ("SCAN 0", 0),
    ],
)
def test_a_use_counts(server, line, uses):
    server.send_line("SET s 1")
    server.send_line(line)
    assert frequency(server, "s") == NEW + uses


def test_no_touch_keeps_reads_from_counting(server):
    server.send_line("SET k v")
    server.send_line("CLIENT NO-TOUCH ON")
    server.send_line("GET k")
    assert frequency(server, "k") == NEW
    server.send_line("TOUCH k")
    assert frequency(server, "k") == NEW + 1


def test_the_counter_falls_while_the_key_is_not_used(server):
    server.send_line("CONFIG SET lfu-decay-time 1")
    server.send_line("SET k v")
    server.advance(3 * 60_000)
    assert frequency(server, "k") == NEW - 3


def test_no_key_has_no_frequency(server):
    assert frequency(server, "none") is None


def test_the_idle_time_is_an_error_under_an_lfu_policy(server):
    server.send_line("SET k v")
    assert server.send("OBJECT", "IDLETIME", "none") is None
    assert server.send("OBJECT", "IDLETIME", "k").startswith(
        "-ERR An LFU maxmemory policy is selected, idle time not tracked. Please note"
    )


def test_restore_sets_the_counter(server):
    server.send_line("SET k v")
    payload = server.send("DUMP", "k")
    assert server.send("RESTORE", "other", 0, payload, "FREQ", 200) == b"OK"
    assert server.send("RESTORE", "idle", 0, payload, "IDLETIME", 200) == b"OK"
    assert [frequency(server, key) for key in ("other", "idle")] == [200, NEW]


def test_a_change_of_policy_forgets_no_last_use(server):
    server.send_line("CONFIG SET maxmemory-policy allkeys-lru lfu-decay-time 1")
    server.send_line("SET k v")
    server.advance(2 * 60_000)
    server.send_line("CONFIG SET maxmemory-policy volatile-lfu")
    assert frequency(server, "k") == NEW - 2
    server.send_line("GET k")
    server.send_line("CONFIG SET maxmemory-policy noeviction")
    server.advance(60_000)
    assert server.send("OBJECT", "IDLETIME", "k") == 60
