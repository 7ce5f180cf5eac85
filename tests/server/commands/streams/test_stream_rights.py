"""Rights on streams that no word of a command names: one selector gives them, and all is told."""

from __future__ import annotations

import pytest

NO_KEY = "-NOPERM No permissions to access a key"


@pytest.fixture
def renamed(make_server):
    """A server whose XINFO, XREAD and SORT have other names."""
    names = [(b"XINFO", b"LOOK"), (b"XREAD", b"GIVE"), (b"SORT", b"ORDER")]
    return make_server(renamed_commands=names)


def log_in(server, rules: str):
    server.send_line(f"ACL SETUSER u reset on nopass {rules}")
    client = server.client()
    client.send("AUTH", "u", "x")
    return client


def dead_letter(server) -> None:
    """The entry of `orig` is a dead letter in `dead`."""
    server.send_line("XGROUP CREATE orig g 0 MKSTREAM")
    server.send_line("XGROUP CFGSET orig g DEADLETTER dead MKSTREAM")
    server.send_line("XADD orig 1-1 f secret")
    server.send_line("XREADGROUP GROUP g c STREAMS orig >")
    server.send_line("XNACK orig g FATAL IDS 1 1-1")
    server.send_line("XDEL orig 1-1")
    assert server.send_line("XLEN dead") == 1


def test_a_renamed_command_gives_no_more_rights(renamed):
    renamed.send_line("XADD secret 1-1 f v")
    renamed.send_line("XADD own 1-1 f v")
    user = log_in(renamed, "+@all ~own")
    shown = user.send_line("LOOK STREAMS 0")[1]
    assert [stream[b"key"] if isinstance(stream, dict) else stream[1] for stream in shown] == [
        b"own"
    ]
    assert [name for name, _ in user.send_line("GIVE MATCH * 0")] == [b"own"]
    assert user.send_line("ORDER own GET x*").startswith("-ERR GET option of SORT denied")


@pytest.mark.parametrize("line", ["XREDRIVE dead", "XREDRIVE dead 1-1"])
def test_one_selector_gives_all_rights_that_a_redrive_needs(server, line):
    dead_letter(server)
    user = log_in(server, "+xredrive ~dead (+pexpire ~orig)")
    assert user.send_line("XREDRIVE dead") == NO_KEY
    assert server.send_line("XLEN orig") == 0
    server.send_line("ACL SETUSER u (+xredrive ~dead ~orig)")
    assert user.send_line("XREDRIVE dead") == 1


def test_who_redrives_reads_the_dead_letters(server):
    """Else their fields would be shown in a stream that the user reads."""
    dead_letter(server)
    user = log_in(server, "+@all ~orig %W~dead")
    assert user.send_line("XREDRIVE dead") == NO_KEY
    assert server.send_line("XLEN orig") == 0


def test_one_selector_gives_all_rights_that_a_payload_needs(server):
    dead_letter(server)
    payload = server.send_line("DUMP orig")
    user = log_in(server, "+@all ~own (+pexpire ~dead)")
    assert user.send("RESTORE", "own", "0", payload) == NO_KEY
    assert server.send_line("EXISTS own") == 0


def test_what_is_refused_by_a_handler_is_in_the_log(server):
    dead_letter(server)
    user = log_in(server, "+@all ~dead")
    user.send_line("XREDRIVE dead")
    (entry,) = server.send_line("ACL LOG")
    told = dict(zip(entry[::2], entry[1::2], strict=True)) if isinstance(entry, list) else entry
    assert (told[b"reason"], told[b"object"], told[b"username"]) == (b"key", b"orig", b"u")
    assert b"acl_access_denied_key:1" in server.send_line("INFO stats")
