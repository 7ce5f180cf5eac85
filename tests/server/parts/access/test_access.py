"""Rights that are asked for, and clients whose rights change while they are connected."""

from __future__ import annotations

import pytest

from server.client.client import RESTRICTED
from tests.server.conftest import NOTHING

NO_KEY = "-NOPERM No permissions to access a key"
NO_CHANNEL = "-NOPERM No permissions to access a channel"
LOST = (
    "-NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC"
    " call. This command is no longer allowed for the following reason: "
)


def no_command(name: str, user: str = "ann") -> str:
    return f"-NOPERM User {user} has no permissions to run the '{name}' command"


@pytest.fixture
def ann(server):
    """A client that is the user ann, with all rights but those on keys and channels of others."""
    return log_in(server, "+@all ~mine* &news*")


def log_in(server, rules: str, name: str = "ann"):
    assert server.send("ACL", "SETUSER", name, "reset", "on", ">pw", *rules.split()) == b"OK"
    client = server.client()
    assert client.send("AUTH", name, "pw") == b"OK"
    return client


def change(server, rules: str, name: str = "ann"):
    assert server.send("ACL", "SETUSER", name, *rules.split()) == b"OK"


def log_of(server):
    """The fields of ACL LOG that tell what was refused, the newest first."""
    entries = server.send("ACL", "LOG", 99)
    return [tuple(entry[1:10:2]) for entry in entries]


# ---------------------------------------------------------------------- what it costs


def test_a_client_whose_user_may_do_everything_is_never_asked(server):
    assert server.owner.client.flags == 0
    root = log_in(server, "+@all ~* &*", "root")
    assert root.client.flags == 0
    change(server, "-debug", "root")
    assert root.client.flags == RESTRICTED
    change(server, "+debug", "root")
    assert root.client.flags == 0


# ---------------------------------------------------------------------- refusals


def test_commands_keys_and_channels_are_refused(server, ann):
    change(server, "-set -config|set")
    assert ann.send_line("GET mine") is None
    assert ann.send_line("GET yours") == NO_KEY
    assert ann.send_line("SET mine x") == no_command("set")
    assert ann.send_line("CONFIG SET maxmemory 0") == no_command("config|set")
    assert ann.send_line("PUBLISH mail x") == NO_CHANNEL
    assert ann.send_line("PUBLISH news x") == 0
    assert log_of(server) == [
        (1, b"channel", b"toplevel", b"mail", b"ann"),
        (1, b"command", b"toplevel", b"config|set", b"ann"),
        (1, b"command", b"toplevel", b"set", b"ann"),
        (1, b"key", b"toplevel", b"yours", b"ann"),
    ]


def test_the_default_user_may_be_restricted_too(server):
    other = server.client()
    change(server, "-flushall -acl|log", "default")
    assert other.send_line("FLUSHALL") == no_command("flushall", "default")
    assert server.send_line("FLUSHALL") == no_command("flushall", "default")


def test_what_cannot_be_queued_fails_the_transaction(server, ann):
    ann.send("MULTI")
    assert ann.send_line("GET yours") == NO_KEY
    assert ann.send("EXEC") == "-EXECABORT Transaction discarded because of previous errors."
    assert log_of(server) == [(1, b"key", b"multi", b"yours", b"ann")]


def test_rights_that_are_lost_since_multi_count_at_exec(server, ann):
    """Redis #15673: a queued command ran although its keys were no longer allowed."""
    ann.send("MULTI")
    for line in ("SET mine 1", "GET mine", "PUBLISH news x", "GET mine2"):
        assert ann.send_line(line) == b"QUEUED"
    change(server, "-set resetkeys ~mine2 resetchannels")
    assert ann.send("EXEC") == [
        LOST + "no permission to execute the command or subcommand",
        LOST + "no permission to touch the specified keys",
        LOST + "no permission to access one of the channels used as arguments",
        None,
    ]
    assert server.send("EXISTS", "mine") == 0
    assert {entry[2] for entry in log_of(server)} == {b"multi"}


def test_a_user_without_exec_ends_its_transaction(server, ann):
    ann.send("MULTI")
    change(server, "-exec")
    assert ann.send("EXEC") == (
        "-EXECABORT Transaction discarded because of: " + no_command("exec").removeprefix("-")
    )
    assert not ann.client.in_multi


def test_rights_that_a_transaction_takes_from_itself_are_gone_at_once(server):
    ann = log_in(server, "+@all ~* &*")
    ann.send("MULTI")
    for line in ("SET k 1", "ACL SETUSER ann -set", "SET k 2"):
        ann.send_line(line)
    assert ann.send("EXEC")[2].startswith(LOST)
    assert server.send("GET", "k") == b"1"


def test_who_removes_itself_in_a_transaction_goes_on_as_the_default_user(server):
    ann = log_in(server, "+@all ~* &*")
    change(server, "-set", "default")
    ann.send("MULTI")
    for line in ("ACL DELUSER ann", "SET k 2"):
        ann.send_line(line)
    assert ann.send("EXEC")[1].startswith(LOST)


def test_a_long_transaction_is_checked_command_by_command(server, ann):
    ann.send("MULTI")
    for n in range(200):
        expected = NO_KEY if n == 150 else b"QUEUED"
        assert ann.send("SET", "yours" if n == 150 else "mine", n) == expected


def test_a_waiter_that_has_lost_its_right_gets_nothing(server, ann):
    assert ann.send_line("BLPOP mine 0") is NOTHING
    change(server, "resetkeys ~other")
    assert server.send_line("RPUSH mine x") == 1
    assert ann.reply() == NO_KEY
    assert server.send_line("LRANGE mine 0 -1") == [b"x"]
    assert log_of(server) == [(1, b"key", b"toplevel", b"mine", b"ann")]


def test_waiters_who_asked_the_same_have_each_their_own_rights(server, ann):
    bob = log_in(server, "+@all ~*", "bob")
    for client in (ann, bob):
        assert client.send_line("XREAD BLOCK 0 STREAMS mine $") is NOTHING
    change(server, "resetkeys")
    server.send_line("XADD mine 1-1 f v")
    assert ann.reply() == NO_KEY
    assert bob.reply() == [[b"mine", [[b"1-1", [b"f", b"v"]]]]]


def test_sort_by_and_get_need_the_right_to_read_all_keys(server, ann):
    denied = "-ERR {} option of SORT denied due to insufficient ACL permissions."
    server.send_line("RPUSH mine 2 1")
    assert ann.send_line("SORT mine BY w*") == denied.format("BY")
    assert ann.send_line("SORT mine GET w*") == denied.format("GET")
    assert ann.send_line("SORT_RO mine GET #") == denied.format("GET")
    assert ann.send_line("SORT mine BY nosort") == [b"2", b"1"]
    assert ann.send_line("SORT mine") == [b"1", b"2"]
    change(server, "%R~*")
    assert ann.send_line("SORT mine BY w*") == [b"1", b"2"]


def test_what_a_script_may_run_is_its_clients_right(server, ann):
    run = server.state.scripting.run
    error = run.caller.run_inside(ann.client, [b"GET", b"yours"], run)
    assert str(error) == NO_KEY.replace("-NOPERM ", "ERR ACL failure in script: ")
    assert log_of(server) == [(1, b"key", b"lua", b"yours", b"ann")]


# ---------------------------------------------------------------------- logging in


def test_a_failed_login_is_logged_and_leaves_the_user_as_it_was(server, ann):
    wrong = "-WRONGPASS invalid username-password pair or user is disabled."
    assert ann.send("AUTH", "default", "x") == b"OK", "the default user needs no password"
    assert ann.send("AUTH", "ann", "x") == wrong
    assert ann.send("HELLO", 3, "AUTH", "nosuch", "x") == wrong
    assert ann.send("ACL", "WHOAMI") == b"default"
    assert log_of(server) == [
        (1, b"auth", b"toplevel", b"HELLO", b"nosuch"),
        (1, b"auth", b"toplevel", b"AUTH", b"ann"),
    ]
    assert b"acl_access_denied_auth:2" in server.send("INFO", "stats")


def test_a_user_who_is_off_cannot_log_in_but_stays(server, ann):
    change(server, "off")
    assert ann.send("PING") == b"PONG"
    assert server.client().send("AUTH", "ann", "pw").startswith("-WRONGPASS")


def test_reset_makes_the_default_user_of_anybody(server, ann):
    assert ann.send("RESET") == b"RESET"
    assert ann.send("ACL", "WHOAMI") == b"default"
    assert ann.client.flags == 0


def test_a_default_user_who_is_off_or_has_a_password_must_log_in(server):
    change(server, "off", "default")
    assert server.client().send("PING") == "-NOAUTH Authentication required."
    change(server, "on >pw", "default")
    stranger = server.client()
    assert stranger.send("PING") == "-NOAUTH Authentication required."
    assert stranger.send("AUTH", "pw") == b"OK"
    assert server.send("PING") == b"PONG", "who is there already stays"


def test_who_has_not_logged_in_has_to_whenever_there_is_a_password(server):
    change(server, ">pw", "default")
    stranger, other = server.client(), server.client()
    assert other.send("AUTH", "pw") == b"OK"
    change(server, "nopass", "default")
    assert stranger.send("PING") == b"PONG"
    guest = server.client()
    change(server, ">pw", "default")
    assert stranger.send("PING") == "-NOAUTH Authentication required."
    assert (other.send("PING"), guest.send("PING")) == (b"PONG", b"PONG")


def test_requirepass_is_the_default_users_password(server):
    server.send("CONFIG", "SET", "requirepass", "pw")
    change(server, ">other", "default")
    assert server.send("CONFIG", "GET", "requirepass") == [b"requirepass", b"pw"]
    stranger = server.client()
    assert stranger.send("AUTH", "other") == b"OK"
    server.send("CONFIG", "SET", "requirepass", "new")
    assert server.client().send("AUTH", "other").startswith("-WRONGPASS")
    server.send("CONFIG", "SET", "requirepass", "")
    assert server.client().send("PING") == b"PONG"
    assert server.client().send("AUTH", "x").startswith("-ERR AUTH <password> called without any")


# ---------------------------------------------------------------------- users that go


def test_clients_of_a_user_that_is_removed_are_disconnected(server, ann):
    assert server.send("ACL", "DELUSER", "ann", "nosuch") == 1
    assert ann.gone and not server.owner.gone


def test_who_removes_itself_gets_the_reply_first(server, ann):
    assert ann.send("ACL", "DELUSER", "ann") == 1
    assert not ann.gone and ann.client.close_after_reply
    assert ann.client.user.name == b"default" and not ann.client.authenticated


@pytest.mark.parametrize(
    ("command", "rules", "stays"),
    [
        ("SUBSCRIBE news1", "resetchannels &news1", True),
        ("SUBSCRIBE news1", "resetchannels &news2", False),
        ("SSUBSCRIBE news1", "resetchannels", False),
        ("PSUBSCRIBE news*", "resetchannels &news* &x", True),
        ("PSUBSCRIBE news*", "resetchannels &news1", False),
        ("SUBSCRIBE news1", "resetchannels (&news1)", True),
        ("SUBSCRIBE news1", "-subscribe", True),
    ],
)
def test_a_subscriber_that_may_not_hear_any_more_is_disconnected(
    server, ann, command, rules, stays
):
    ann.send_line(command)
    change(server, rules)
    assert ann.gone is not stays


def test_client_kill_finds_clients_by_user(server, ann):
    assert b" user=ann " in server.send("CLIENT", "LIST", "ID", ann.client.id)
    assert server.send_line("CLIENT KILL USER nosuch") == "-ERR No such user 'nosuch'"
    assert server.send_line("CLIENT KILL USER ann") == 1
    assert ann.gone


# ---------------------------------------------------------------------- client-side caching


def told(client):
    return client.client.out.take()


def test_broadcasts_name_no_key_that_the_client_may_not_read(server, ann):
    """Redis #15371: names of keys leaked to clients that asked for all prefixes."""
    ann.send("HELLO", 3)
    ann.send_line("CLIENT TRACKING ON BCAST")
    told(ann)
    server.send_line("MSET mine 1 yours 2")
    server.state.tracking.broadcasts.send()
    assert told(ann) == b">2\r\n$10\r\ninvalidate\r\n*1\r\n$4\r\nmine\r\n"
    server.send_line("SET yours 3")
    server.state.tracking.broadcasts.send()
    assert told(ann) == b""


def test_what_has_changed_before_the_rights_do_is_still_told(server, ann):
    ann.send("HELLO", 3)
    ann.send_line("CLIENT TRACKING ON BCAST")
    told(ann)
    server.send_line("SET mine 1")
    change(server, "resetkeys")
    assert told(ann) == b">2\r\n$10\r\ninvalidate\r\n*1\r\n$4\r\nmine\r\n"
    server.send_line("SET mine 2")
    server.state.tracking.broadcasts.send()
    assert told(ann) == b""


# ---------------------------------------------------------------------- certificates


def certified(server, name):
    """A client that has shown a certificate of *name*."""
    client = server.client()
    client.client.certificate_name = name
    server.state.access.connected(client.client)
    return client


def test_a_certificate_stands_for_the_user_of_its_name(make_server):
    server = make_server(requirepass="geheim", tls_auth_clients_user="CN")
    server.send("AUTH", "geheim")
    server.send_line("ACL SETUSER ann on ~a +get +acl|whoami")
    server.send_line("ACL SETUSER bob off ~* +@all")
    ann = certified(server, "ann")
    assert ann.send_line("ACL WHOAMI") == b"ann"
    assert ann.send_line("GET b").startswith("-NOPERM")
    for name in ("bob", "nobody", ""):
        assert certified(server, name).send_line("PING").startswith("-NOAUTH")
    server.send_line("ACL DELUSER ann")
    assert ann.gone


def test_without_the_parameter_a_certificate_stands_for_nobody(make_server):
    server = make_server()
    server.send_line("ACL SETUSER ann on ~a +get")
    assert certified(server, "ann").send_line("ACL WHOAMI") == b"default"
