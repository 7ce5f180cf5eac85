"""``user`` lines of redis.conf: read at the start, and written by CONFIG REWRITE."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from server import commands as _commands  # noqa: F401  (fills the table)
from server.config.parameters import Config
from server.config.redis_conf import BadLine, numbered, read_lines, rewritten
from server.config.user_lines import user_lines
from server.parts.access.configured_users import BOTH, BadUsers, users_at_start
from server.users.users import Users

HASH = hashlib.sha256(b"secret").hexdigest()


def read(text: str) -> Config:
    config = Config()
    read_lines(config, numbered(text, "redis.conf"))
    return config


def started(config: Config) -> Users:
    """The users of a server that has started with *config*."""
    users = Users()
    users.set_default_password(config.requirepass.encode())
    for user in users_at_start(config):
        users.accept(user)
    return users


def shown(text: str) -> list[bytes]:
    return started(read(text)).lines()


def test_users_are_made_by_the_rules_of_their_lines():
    assert shown('user ann on >secret ~jobs:* -@all +@stream (%R~* +get)\nuser "b\'ob" off') == [
        b"user ann on sanitize-payload #%b ~jobs:* resetchannels -@all +@stream"
        b" (%%R~* resetchannels -@all +get)" % HASH.encode(),
        b"user b'ob off sanitize-payload resetchannels -@all",
        b"user default on nopass sanitize-payload ~* &* +@all",
    ]


def test_the_line_of_the_default_user_begins_anew():
    assert shown("user default on >secret +@read") == [
        b"user default on sanitize-payload #%b resetchannels -@all +@read" % HASH.encode()
    ]


def test_the_line_of_the_default_user_counts_and_not_requirepass():
    for text in (
        "requirepass other\nuser default on >secret",
        "user default on >secret\nrequirepass x",
    ):
        assert started(read(text)).default.passwords.hashes == {HASH.encode(): None}


def test_what_new_selectors_may_hear_may_stand_behind_the_users():
    assert b"&*" in shown("user ann on\nacl-pubsub-default allchannels")[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("user", "bad directive or wrong number of arguments"),
        ("user ann on nosuch", "Error in user declaration 'ann': Syntax error"),
        ("user ann +nosuch",
         "Error in user declaration 'ann': Unknown command or category name in ACL"),
        ("user ann (+get", "Error in user declaration 'ann': Unmatched parenthesis in '(+get'"),
        ("user ann on\nuser ann off", "Duplicate user found. A user can only be defined once"),
        ('user "a b" on', "Spaces not allowed in ACL usernames"),
    ],
)  # fmt: skip
def test_a_bad_line_ends_the_start(text, why):
    with pytest.raises(BadLine) as caught:
        read(text)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    "text", ["user ann >geheim nosuch", "user ann <geheim", "requirepass geheim x"]
)
def test_a_bad_line_shows_no_password(text):
    with pytest.raises(BadLine) as caught:
        read(text)
    assert "geheim" not in str(caught.value)


# ---------------------------------------------------------------------- the aclfile


def test_the_users_of_an_aclfile_are_there_at_the_start(folder):
    Path("users.acl").write_text("user ann on nopass +@all ~*\n")
    assert [user.name for user in started(read("aclfile users.acl"))] == [b"ann", b"default"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("user ann xx",
         "users.acl:1: Syntax error. WARNING: ACL errors detected, no change to the previously"
         " active ACL rules was performed"),
        (None, "Error loading ACLs, opening file 'users.acl': No such file or directory"),
    ],
)  # fmt: skip
def test_a_bad_aclfile_ends_the_start(folder, text, why):
    if text is not None:
        Path("users.acl").write_text(text)
    with pytest.raises(BadUsers) as caught:
        started(read("aclfile users.acl"))
    assert str(caught.value) == f"Aborting Redis startup because of ACL errors: {why}"


def test_users_in_redis_conf_and_an_aclfile_exclude_each_other():
    with pytest.raises(BadUsers) as caught:
        started(read("aclfile users.acl\nuser ann on"))
    assert str(caught.value) == BOTH


# ---------------------------------------------------------------------- CONFIG REWRITE


def rewrite(config: Config, text: str, users: Users) -> str:
    return rewritten(config, text, user_lines(users, config.requirepass))


def test_users_are_written_in_place_of_the_old_ones():
    text = "# mine\nuser ann on\nport 1\nuser bob on\n# end\n"
    config = read(text)
    users = started(config)
    users.remove(b"bob")
    users.accept(users.proposed(b"zoe", []))
    assert rewrite(config, text, users) == (
        "# mine\nuser ann on sanitize-payload resetchannels -@all\nport 1\n"
        "user zoe off sanitize-payload resetchannels -@all\n# end\n"
    )


def test_a_default_user_as_requirepass_makes_it_needs_no_line():
    config = read("requirepass secret\n")
    users = started(config)
    assert rewrite(config, "", users) == ('\n# Generated by CONFIG REWRITE\nrequirepass "secret"\n')
    users.default.apply(b"-debug")
    assert f"user default on sanitize-payload #{HASH} ~* &* +@all -debug" in rewrite(
        config, "", users
    )


def test_what_was_written_is_read_as_the_same_users():
    users = Users()
    rules = [
        b"on",
        b"nopass",
        b'~a"b',
        b"~'c",
        b"%R~\xff\xfe",
        b"&\\x",
        b"(~d +@read)",
        b"+select|0",
    ]
    users.accept(users.proposed(b'an"n', rules))
    again = started(read(rewrite(Config(), "", users)))
    assert again.lines() == users.lines()
