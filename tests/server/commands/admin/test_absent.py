"""What a server without replicas, cluster and modules answers."""

from __future__ import annotations

import pytest

from server.table.command import TABLE

NO_CLUSTER = "-ERR This instance has cluster support disabled"


def test_it_is_a_master_without_replicas(server):
    assert server.send("ROLE") == [b"master", 0, []]
    assert server.send_line("REPLICAOF NO ONE") == b"OK"
    assert server.send_line("SLAVEOF no one") == b"OK"
    assert server.send_line("REPLICAOF x y") == "-ERR Invalid master port"
    assert server.send_line("REPLICAOF x 6379") == "-ERR this server is no replica yet"
    assert server.send_line("FAILOVER") == "-ERR FAILOVER requires connected replicas."
    assert server.send_line("FAILOVER ABORT") == "-ERR No failover in progress."
    assert server.send_line("FAILOVER x") == "-ERR syntax error"


def test_waiting_for_a_replica_lasts_until_the_time_is_up(server):
    assert server.send_line("WAIT 0 0") == 0
    guest = server.client()
    guest.send_line("WAIT 1 10")
    assert guest.waits
    server.advance(11)
    assert guest.reply() == 0


def test_it_is_no_node_of_a_cluster(server):
    for words in ("CLUSTER INFO", "CLUSTER HELP", "READONLY", "READWRITE", "ASKING"):
        assert server.send_line(words) == NO_CLUSTER
    row = TABLE.find(b"cluster")
    assert row is not None
    assert len(row.subcommands) == 28


@pytest.mark.parametrize(
    ("allowed", "loading", "unloading"),
    [
        ("no", "-ERR MODULE command not allowed.", "-ERR MODULE command not allowed."),
        ("yes", "-ERR Error loading the extension.", "-ERR Error unloading module:"),
    ],
)
def test_it_loads_no_modules(make_server, allowed, loading, unloading):
    server = make_server(enable_module_command=allowed)
    assert server.send_line("MODULE LIST") == []
    for words in ("MODULE LOAD /nosuch", "MODULE LOADEX /nosuch"):
        assert server.send_line(words).startswith(loading)
    assert server.send_line("MODULE UNLOAD nosuch").startswith(unloading)
