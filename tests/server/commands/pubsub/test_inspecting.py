"""PUBSUB, and where else subscriptions are shown."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def subscribed(server: Any) -> Any:
    """A server with two subscribers."""
    for lines in (
        ("SUBSCRIBE a bb", "PSUBSCRIBE a*", "SSUBSCRIBE s"),
        ("SUBSCRIBE a", "PSUBSCRIBE a* b*"),
    ):
        client = server.client()
        for line in lines:
            client.send_line(line)
    return server


def test_channels_lists_those_that_match(subscribed: Any) -> None:
    assert sorted(subscribed.send_line("PUBSUB CHANNELS")) == [b"a", b"bb"]
    assert subscribed.send_line("PUBSUB CHANNELS b*") == [b"bb"]
    assert subscribed.send_line("PUBSUB SHARDCHANNELS") == [b"s"]


def test_numsub_counts_the_subscribers_of_a_channel_not_of_patterns(subscribed: Any) -> None:
    assert subscribed.send_line("PUBSUB NUMSUB a bb none s") == [
        *(b"a", 2),
        *(b"bb", 1),
        *(b"none", 0),
        *(b"s", 0),
    ]
    assert subscribed.send_line("PUBSUB SHARDNUMSUB s a") == [b"s", 1, b"a", 0]


def test_numpat_counts_each_pattern_once(subscribed: Any) -> None:
    assert subscribed.send_line("PUBSUB NUMPAT") == 2


def test_help_names_the_subcommands(server: Any) -> None:
    lines = server.send_line("PUBSUB HELP")
    assert lines[0].startswith(b"PUBSUB <subcommand>")
    assert b"NUMSUB [channel [channel ...]]" in lines


def test_info_counts_channels_patterns_and_clients(subscribed: Any) -> None:
    stats, clients = subscribed.send("INFO", "stats"), subscribed.send("INFO", "clients")
    assert b"pubsub_channels:2\r\n" in stats
    assert b"pubsub_patterns:2\r\n" in stats
    assert b"pubsubshard_channels:1\r\n" in stats
    assert b"pubsub_clients:2\r\n" in clients


def test_client_list_shows_the_subscriptions(subscribed: Any) -> None:
    lines = subscribed.send_line("CLIENT LIST TYPE pubsub").splitlines()
    assert [b" flags=P " in line for line in lines] == [True, True]
    assert b" sub=2 psub=1 ssub=1 " in lines[0]
    assert b" sub=1 psub=2 ssub=0 " in lines[1]
    assert len(subscribed.send_line("CLIENT LIST TYPE normal").splitlines()) == 1


def test_client_kill_finds_subscribers_by_their_type(subscribed: Any) -> None:
    assert subscribed.send_line("CLIENT KILL TYPE pubsub") == 2
    assert subscribed.send_line("PUBSUB CHANNELS") == []
    assert subscribed.state.pubsub.clients == 0
