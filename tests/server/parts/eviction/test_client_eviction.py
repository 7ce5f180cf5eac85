"""maxmemory-clients: the clients that hold the most memory are disconnected."""

from __future__ import annotations

import pytest


@pytest.fixture
def holder(server):
    """Makes a client that holds that many bytes, and some 350."""

    def make(size):
        holding = server.client()
        holding.send("WATCH", b"w" * size)
        return holding

    return make


def limit(server, value):
    """Set maxmemory-clients: the clients here hold nothing but what a test makes them hold."""
    assert server.send("CONFIG", "SET", "maxmemory-clients", value) == b"OK"


def evicted(server):
    text = server.send("INFO", "stats").decode()
    return int(text.split("evicted_clients:")[1].split("\r\n")[0])


def test_the_client_that_holds_the_most_goes_first(server, holder):
    small, large, middle = holder(1000), holder(9000), holder(5000)
    limit(server, 8000)
    server.send("PING")
    assert [client.gone for client in (small, large, middle)] == [False, True, False]
    assert evicted(server) == 1


def test_as_many_go_as_must(server, holder):
    holders = [holder(1000) for _ in range(20)]
    limit(server, 5500)
    server.send("PING")
    assert sum(client.gone for client in holders) == 16


def test_a_client_may_be_spared_and_counts_all_the_same(server, holder):
    spared, other = holder(9000), holder(500)
    assert spared.send_line("CLIENT NO-EVICT ON") == b"OK"
    limit(server, 5000)
    server.send("PING")
    assert not spared.gone
    assert other.gone
    assert spared.send_line("CLIENT NO-EVICT OFF") == b"OK"
    server.state.client_eviction.tick(0)
    assert spared.gone


def test_what_an_evicted_client_has_sent_is_not_run(server, holder):
    large = holder(9000)
    server.state.config.maxmemory_clients = 5000
    server.state.follow_config()
    large.send("SET", "k", "v")
    assert large.gone
    assert server.send("EXISTS", "k") == 0


def test_a_percentage_is_of_maxmemory(server, holder):
    large = holder(60_000)
    limit(server, "5%")
    server.send("PING")
    assert not large.gone
    server.send("CONFIG", "SET", "maxmemory", 1_000_000)
    server.send("PING")
    assert large.gone


def test_cron_looks_after_it_too(server, holder):
    large = holder(9000)
    limit(server, 5000)
    server.state.client_eviction.tick(0)
    assert large.gone


def test_the_end_of_a_turn_looks_after_it_too(server, holder):
    large = holder(9000)
    limit(server, 5000)
    server.dispatcher.turn.begin()
    server.dispatcher.turn.end()
    assert large.gone


def test_watched_keys_and_subscriptions_are_counted_for_their_client(server):
    watcher, subscriber = server.client(), server.client()
    watcher.send("WATCH", b"w" * 5000)
    subscriber.send("SUBSCRIBE", b"c" * 9000)
    assert watcher.client.held > 5000
    assert subscriber.client.held > 9000
    watcher.send("UNWATCH")
    subscriber.send("UNSUBSCRIBE")
    assert watcher.client.held == subscriber.client.held == server.state.memory.clients == 0
