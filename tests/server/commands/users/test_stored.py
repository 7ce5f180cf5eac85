"""ACL LOAD and SAVE: the users of a file, all or nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PLAIN = "user default on nopass sanitize-payload ~* &* +@all\n"
ANN = "user ann on nopass sanitize-payload ~a &ch -@all +@pubsub\n"
NOT_SAVED = (
    "-ERR There was an error trying to save the ACLs. Please check the server logs for more"
    " information"
)


@pytest.fixture
def stored(make_server, folder):
    """A server with an aclfile, which is empty."""
    Path("users.acl").write_text("")
    return make_server(aclfile="users.acl")


def text():
    return Path("users.acl").read_text()


def log_in(server, name="ann"):
    client = server.client()
    assert client.send("AUTH", name, "x") == b"OK"
    return client


def test_saved_users_are_those_of_acl_list(stored):
    stored.send_line("ACL SETUSER ann on nopass ~a +get (~b)")
    assert stored.send("ACL", "SAVE") == b"OK"
    assert text().encode().splitlines() == stored.send("ACL", "LIST")
    before = text()
    assert stored.send("ACL", "LOAD") == b"OK"
    assert stored.send("ACL", "SAVE") == b"OK" and text() == before
    assert os.listdir() == ["users.acl"], "no temporary file is left"


def test_the_file_is_readable_for_the_same_people_as_before(stored):
    Path("users.acl").chmod(0o640)
    stored.send("ACL", "SAVE")
    assert Path("users.acl").stat().st_mode & 0o777 == 0o640
    Path("users.acl").unlink()
    stored.send("ACL", "SAVE")
    assert Path("users.acl").stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_is_left_as_it_is(stored, monkeypatch):
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    before = text()
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        assert stored.send("ACL", "SAVE") == NOT_SAVED
    assert text() == before and os.listdir() == ["users.acl"]


def test_a_bad_file_changes_nothing(stored):
    stored.send_line("ACL SETUSER ann on nopass")
    before = stored.send("ACL", "LIST")
    Path("users.acl").write_text("user default off\nuser bob nosuch\n")
    assert stored.send("ACL", "LOAD") == (
        "-ERR users.acl:2: Syntax error. WARNING: ACL errors detected, no change to the previously"
        " active ACL rules was performed"
    )
    assert stored.send("ACL", "LIST") == before
    Path("users.acl").unlink()
    assert stored.send("ACL", "LOAD") == (
        "-ERR Error loading ACLs, opening file 'users.acl': No such file or directory"
    )


def test_clients_of_users_that_are_missing_are_disconnected_and_others_stay(stored):
    for name in ("ann", "bob"):
        stored.send("ACL", "SETUSER", name, *b"on nopass ~* &* +@all".split())
    ann, bob, subscriber = log_in(stored), log_in(stored, "bob"), log_in(stored)
    subscriber.send("SUBSCRIBE", "other")
    Path("users.acl").write_text(PLAIN + ANN)
    assert stored.send("ACL", "LOAD") == b"OK"
    assert (ann.gone, bob.gone, subscriber.gone) == (False, True, True)
    assert ann.send("GET", "a").startswith("-NOPERM")
    assert ann.send("PUBLISH", "ch", "x") == 0


def test_who_is_no_user_any_more_gets_the_reply_first(stored):
    stored.send("ACL", "SETUSER", "bob", *b"on nopass ~* &* +@all".split())
    bob = log_in(stored, "bob")
    assert bob.send("ACL", "LOAD") == b"OK"
    assert not bob.gone and bob.client.close_after_reply


def test_a_file_without_the_default_user_makes_it_anew(stored):
    """As in Redis: with an aclfile, requirepass counts for nothing."""
    stored.send_line("ACL SETUSER default >secret")
    stored.send("ACL", "LOAD")
    assert stored.client().send("PING") == b"PONG"


def test_without_an_aclfile_nothing_is_loaded_or_saved(server):
    for word in ("LOAD", "SAVE"):
        assert server.send("ACL", word).startswith(
            "-ERR This Redis instance is not configured to use an ACL file."
        )
