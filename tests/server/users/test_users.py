"""The registry of users, the text of an aclfile, and ACL LOG."""

from __future__ import annotations

import pytest

from server import commands as _commands  # noqa: F401  (fills the table)
from server.users import acl_file_text
from server.users.acl_file_text import BadAclFile
from server.users.acl_log import AclLog
from server.users.users import BadUserRule, Users

PLAIN = b"user default on nopass sanitize-payload ~* &* +@all"


def test_there_always_is_the_default_user():
    assert Users().lines() == [PLAIN]


def test_a_bad_rule_changes_nothing_not_even_by_the_rules_before_it():
    users = Users()
    with pytest.raises(BadUserRule) as caught:
        users.proposed(b"ann", [b"on", b"~x", b"nosuch"])
    assert caught.value.rule == b"nosuch"
    with pytest.raises(BadUserRule):
        users.proposed(b"default", [b"off", b"nosuch"])
    assert users.lines() == [PLAIN]


def test_users_are_in_the_order_of_the_bytes_of_their_names():
    users = Users()
    for name in (b"zoe", b"Ann", b""):
        users.accept(users.proposed(name, []))
    assert [user.name for user in users] == [b"", b"Ann", b"default", b"zoe"]


def test_a_user_that_is_changed_stays_the_same_object():
    users = Users()
    ann = users.accept(users.proposed(b"ann", []))
    assert users.accept(users.proposed(b"ann", [b"on"])) is ann and ann.is_on
    users.replace_all([users.proposed(b"ann", [b"off"])])
    assert users.named(b"ann") is ann and not ann.is_on


def test_requirepass_is_the_one_password_of_the_default_user():
    users = Users()
    users.default.apply(b">old")
    users.set_default_password(b"new")
    assert users.default.accepts(b"new") and not users.default.accepts(b"old")
    users.set_default_password(b"")
    assert users.default.accepts(b"whatever")


# ---------------------------------------------------------------------- the aclfile


def read(text: bytes):
    return [
        b"user %b %b" % (u.name, u.description()) for u in acl_file_text.users_in(text, "f", False)
    ]


def test_an_aclfile_is_read_as_acl_list_shows_it():
    lines = [PLAIN, b"user ann on sanitize-payload ~a resetchannels -@all (~b resetchannels -@all)"]
    assert read(b"\n\r\n".join(lines) + b"\n  \n") == lines


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b"xx\n", "f:1 should start with user keyword followed by the username. "),
        (b"# no comments", "f:1 should start with user keyword followed by the username. "),
        (b"\nuser", "f:2 should start with user keyword followed by the username. "),
        (b"user a\nuser a", "WARNING: Duplicate user 'a' found on line 2. "),
        (b"user a (+get", "f:1: Unmatched parenthesis in selector definition."),
        (b"user a +nosuch",
         "f:1: Error in applying operation '+nosuch': Unknown command or category name in ACL. "),
        (b"user a xx yy\nuser b zz", "f:1: Syntax error. f:2: Syntax error. "),
    ],
)  # fmt: skip
def test_all_errors_of_an_aclfile_are_told_in_redis_words(text, error):
    with pytest.raises(BadAclFile) as caught:
        read(text)
    assert str(caught.value) == error + (
        "WARNING: ACL errors detected, no change to the previously active ACL rules was performed"
    )


def test_the_errors_of_an_aclfile_show_no_password():
    with pytest.raises(BadAclFile) as caught:
        read(b"user a <geheim #geheim")
    assert "geheim" not in str(caught.value)


def test_all_users_are_replaced_and_a_missing_default_user_begins_anew():
    users = Users()
    users.accept(users.proposed(b"ann", []))
    users.default.apply(b">secret")
    gone = users.replace_all([users.proposed(b"bob", [])])
    assert [user.name for user in gone] == [b"ann"]
    assert [user.name for user in users] == [b"bob", b"default"]
    assert users.default.passwords.none_needed


# ---------------------------------------------------------------------- ACL LOG


def noted(log: AclLog):
    return [(entry.count, entry.object) for entry in log.newest(99)]


def add(log: AclLog, word: bytes, now_ms: int = 0):
    log.record(b"key", b"toplevel", word, b"ann", b"id=1", now_ms)


def test_what_is_refused_again_within_a_minute_is_counted_with_the_first():
    log = AclLog()
    add(log, b"a")
    add(log, b"b", 1)
    add(log, b"a", 60_000)
    assert noted(log) == [(2, b"a"), (1, b"b")]
    add(log, b"a", 120_001)
    assert noted(log) == [(1, b"a"), (2, b"a"), (1, b"b")]
    entry = log.newest(2)[1]
    assert (entry.id, entry.created_ms, entry.updated_ms) == (0, 0, 60_000)


def test_only_the_newest_ten_entries_are_looked_at():
    log = AclLog()
    for word in b"abcdefghijk":
        add(log, bytes([word]))
    add(log, b"b")
    assert len(log) == 11
    add(log, b"a")
    assert len(log) == 12


def test_the_log_keeps_no_more_than_it_may():
    log = AclLog()
    log.most = 2
    for word in b"abc":
        add(log, bytes([word]))
    assert noted(log) == [(1, b"c"), (1, b"b")]
    log.most = 0
    add(log, b"d")
    assert noted(log) == []


def test_of_a_long_name_only_the_beginning_is_kept():
    log = AclLog()
    for _ in range(2):
        log.record(b"auth", b"toplevel", b"AUTH", b"u" * 5_000_000, b"id=1", 0)
    (entry,) = log.newest(9)
    assert (entry.count, len(entry.username)) == (2, 1024)


def test_the_numbers_of_entries_go_on_after_a_reset():
    log = AclLog()
    add(log, b"a")
    log.clear()
    add(log, b"a")
    assert log.newest(1)[0].id == 1
