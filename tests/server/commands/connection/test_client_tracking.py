"""CLIENT TRACKING and its neighbours, and what other commands have to do with it."""

from __future__ import annotations

import pytest

OFF = {b"flags": [b"off"], b"redirect": -1, b"prefixes": []}


@pytest.fixture
def tracker(server):
    """A client that speaks RESP3 and tracks."""
    client = server.client()
    client.send("HELLO", 3)
    client.send("CLIENT", "TRACKING", "ON")
    return client


def test_nothing_is_tracked_at_first_and_after_a_reset(server, tracker):
    assert tracker.send_line("CLIENT TRACKINGINFO")[b"flags"] == [b"on"]
    tracker.send("RESET")
    tracker.send("HELLO", 3)
    assert tracker.send_line("CLIENT TRACKINGINFO") == OFF
    assert tracker.send_line("CLIENT GETREDIR") == -1
    assert not server.state.tracking.hears


def test_a_client_is_told_what_others_change_and_what_itself_changes(server, tracker):
    tracker.send("GET", "k")
    server.send("SET", "k", "v")
    assert tracker.reply() == [b"invalidate", [b"k"]]
    tracker.send("GET", "k")
    assert tracker.raw("SET", "k", "v") == b"+OK\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"


def test_a_key_that_expires_is_told(server, tracker):
    server.send("SET", "k", "v", "PX", 5)
    tracker.send("GET", "k")
    server.advance(10)
    server.send("GET", "k")
    assert tracker.reply() == [b"invalidate", [b"k"]]


def test_flushing_tells_once_that_all_keys_have_gone(server, tracker):
    server.send("FLUSHALL")
    assert tracker.reply() == [b"invalidate", None]
    assert tracker.client.out.size() == 0


def test_swapdb_tells_nothing(server, tracker):
    server.send("SET", "k", "v")
    tracker.send("GET", "k")
    server.send("SWAPDB", 0, 1)
    assert tracker.client.out.size() == 0


def test_a_reader_that_shares_its_reply_is_remembered_too(server):
    readers = [server.client() for _ in range(3)]
    for reader in readers:
        reader.send("HELLO", 3)
        reader.send("CLIENT", "TRACKING", "ON")
        reader.send("XREAD", "BLOCK", 0, "STREAMS", "s", "$")
    server.send("XADD", "s", "1-0", "f", "v")
    for reader in readers:
        reader.client.out.take()
    server.send("XADD", "s", "2-0", "f", "v")
    for reader in readers:
        assert reader.reply() == [b"invalidate", [b"s"]]


def test_caching_holds_for_the_next_command_or_transaction(server, tracker):
    tracker.send_line("CLIENT TRACKING OFF")
    tracker.send_line("CLIENT TRACKING ON OPTIN")
    tracker.send_line("CLIENT CACHING YES")
    assert b"caching-yes" in tracker.send_line("CLIENT TRACKINGINFO")[b"flags"]
    for words in ("GET a", "GET b"):
        tracker.send_line(words)
    server.send("MSET", "a", 1, "b", 1)
    assert tracker.reply() == [b"invalidate", [b"a"]]
    assert tracker.client.out.size() == 0
    tracker.send_line("CLIENT CACHING YES")
    tracker.send_line("NOSUCH")
    assert b"caching-yes" not in tracker.send_line("CLIENT TRACKINGINFO")[b"flags"]


def test_prefixes_of_one_client_must_not_overlap(tracker):
    tracker.send_line("CLIENT TRACKING OFF")
    refused = "overlaps with another provided prefix 'b'. Prefixes for a single client must not"
    assert refused in tracker.send_line("CLIENT TRACKING ON BCAST PREFIX a PREFIX bb PREFIX b")
    assert tracker.send_line("CLIENT TRACKINGINFO") == OFF
    tracker.send_line("CLIENT TRACKING ON BCAST PREFIX b PREFIX a")
    assert tracker.send_line("CLIENT TRACKINGINFO")[b"prefixes"] == [b"a", b"b"]
    refused = "-ERR Prefix 'ab' overlaps with an existing prefix 'a'."
    assert tracker.send_line("CLIENT TRACKING ON BCAST PREFIX ab").startswith(refused)


def test_prefixes_count_as_memory_of_their_client_until_it_stops(server, tracker):
    tracker.send_line("CLIENT TRACKING OFF")
    before, held = server.state.memory.clients, tracker.client.held
    words = [word for n in range(100) for word in ("PREFIX", b"%04d" % n + bytes(1000))]
    assert tracker.send("CLIENT", "TRACKING", "ON", "BCAST", *words) == b"OK"
    assert tracker.client.held - held == server.state.memory.clients - before > 100_000
    tracker.send_line("CLIENT TRACKING OFF")
    assert (server.state.memory.clients, tracker.client.held) == (before, held)


def test_a_client_with_too_many_prefixes_is_disconnected_at_maxmemory_clients(server, tracker):
    tracker.send_line("CLIENT TRACKING OFF")
    server.send("CONFIG", "SET", "maxmemory-clients", 100_000)
    words = [word for n in range(200) for word in ("PREFIX", b"%04d" % n + bytes(1000))]
    tracker.send("CLIENT", "TRACKING", "ON", "BCAST", *words)
    server.send("PING")
    assert tracker.gone


def test_a_change_is_told_to_all_whose_prefixes_it_has(server, tracker):
    other = server.client()
    for client, prefixes in ((tracker, ("user:", "x")), (other, ("",))):
        client.send_line("HELLO 3")
        client.send_line("CLIENT TRACKING OFF")
        words = [word for prefix in prefixes for word in ("PREFIX", prefix)]
        assert client.send("CLIENT", "TRACKING", "ON", "BCAST", *words) == b"OK"
    server.send("SET", "user:7", "v")
    assert tracker.reply() == other.reply() == [b"invalidate", [b"user:7"]]
    tracker.send_line("CLIENT TRACKING OFF")
    server.send("SET", "x", "v")
    assert other.reply() == [b"invalidate", [b"x"]]
    assert tracker.client.out.size() == 0


def test_info_counts_trackers_keys_items_and_prefixes(server, tracker):
    other = server.client()
    other.send_line("HELLO 3")
    other.send_line("CLIENT TRACKING ON")
    for words in ("GET a", "GET b"):
        tracker.send_line(words)
    other.send_line("GET a")
    server.send_line("CLIENT TRACKING ON BCAST PREFIX x")
    info = server.send("INFO", "clients", "stats")
    for line in ("tracking_clients:3", "tracking_total_keys:2", "tracking_total_items:3",
                 "tracking_total_prefixes:1"):  # fmt: skip
        assert b"\r\n%b\r\n" % line.encode() in info


def test_broadcasts_leave_when_the_turn_ends(server, tracker):
    tracker.send_line("CLIENT TRACKING OFF")
    tracker.send_line("CLIENT TRACKING ON BCAST")
    assert server.send("SET", "k", "v") == b"OK"
    assert tracker.reply() == [b"invalidate", [b"k"]]


def test_a_key_that_is_evicted_is_told_before_the_reply_to_the_command_that_needed_room(
    make_server,
):
    server = make_server(maxmemory_eviction_tenacity=100)
    server.send("SET", "k", "v" * 5000)
    server.send("HELLO", 3)
    server.send("CLIENT", "TRACKING", "ON")
    server.send("GET", "k")
    server.send("CONFIG", "SET", "maxmemory-policy", "allkeys-random", "maxmemory", 1)
    answers = server.owner.raw("SET", "l", "v")
    assert answers.startswith(b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n-OOM ")
    server.send("CONFIG", "SET", "maxmemory", 0)
