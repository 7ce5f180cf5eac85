"""rename-command: clients call a command by another name, or not at all."""

from __future__ import annotations

import pytest

from server import commands as _commands  # noqa: F401  (fills the table)
from server.table.command import TABLE
from server.table.renaming import BadRenaming, renamed


@pytest.fixture
def renaming(make_server):
    return lambda *changes: make_server(renamed_commands=list(changes))


def test_a_renamed_command_has_its_new_name_alone(renaming):
    server = renaming((b"SET", b"put-It"))
    assert server.send("PUT-IT", "k", "v") == b"OK"
    assert server.send("Put-it", "k", "v") == b"OK"
    assert server.send("SET", "k", "v").startswith("-ERR unknown command 'SET'")
    assert server.send("set", "k", "v").startswith("-ERR unknown command 'set'")


def test_a_command_without_a_name_cannot_be_called_in_any_way(renaming):
    server = renaming((b"config", b""))
    for word in ("CONFIG", "config", "ConFig", ""):
        assert server.send(word, "GET", "maxmemory").startswith("-ERR unknown command")
    server.send("MULTI")
    assert server.send("CONFIG", "GET", "x").startswith("-ERR unknown command")
    script = "local r = redis.call('CONFIG', 'GET', 'x') return r"
    server.send("RESET")
    assert server.send("EVAL", script, 0).startswith("-ERR Unknown Redis command called from")


def test_two_commands_can_exchange_their_names(renaming):
    server = renaming((b"GET", b"x"), (b"STRLEN", b"get"), (b"x", b"strlen"))
    server.send("SET", "k", "value")
    assert (server.send("GET", "k"), server.send("STRLEN", "k")) == (5, b"value")


def test_rights_are_on_the_command_whatever_its_name(renaming):
    server = renaming((b"GET", b"fetch"))
    server.send("ACL", "SETUSER", "ann", "on", "nopass", "~*", "+get")
    ann = server.client()
    ann.send("AUTH", "ann", "x")
    assert ann.send("FETCH", "k") is None
    assert server.send("ACL", "SETUSER", "ann", "+fetch").endswith(
        "Unknown command or category name in ACL"
    )


def test_what_was_logged_by_its_own_name_is_still_run(renaming):
    server = renaming((b"SET", b"put"), (b"DEL", b""))
    replay = server.dispatcher.replaying.begin()
    assert replay([b"SET", b"k", b"v"]) == "" and replay([b"PUT", b"j", b"v"]) == ""
    assert replay([b"DEL", b"j"]) == ""
    assert server.send("KEYS", "*") == [b"k"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ([(b"nosuch", b"x")], "No such command in rename-command"),
        ([(b"get", b""), (b"get", b"x")], "No such command in rename-command"),
        ([(b"get", b"SET")], "Target command name already exists"),
    ],
)
def test_bad_renamings_are_refused(changes, why):
    with pytest.raises(BadRenaming, match=why):
        renamed(TABLE, changes)
