"""What a server without cluster and modules answers."""

from __future__ import annotations

import pytest

from server.table.command import TABLE

NO_CLUSTER = "-ERR This instance has cluster support disabled"


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
