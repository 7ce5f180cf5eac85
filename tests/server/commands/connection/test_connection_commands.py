"""HELLO, AUTH, SELECT, RESET, QUIT, PING and ECHO, as redis 7.0.15 and 7.4 answer them."""

from __future__ import annotations

import pytest

from server.process import build

SYNTAX = "-ERR syntax error"
NO_AUTH = "-NOAUTH Authentication required."
WRONG_PASSWORD = "-WRONGPASS invalid username-password pair or user is disabled."


@pytest.fixture
def locked(make_server):
    """A server with a password."""
    return make_server(requirepass="secret")


# ---------------------------------------------------------------------- AUTH


@pytest.mark.parametrize(
    "line", ["AUTH secret", "AUTH default secret", "HELLO 2 AUTH default secret"]
)
def test_the_right_password_authenticates(locked, line):
    assert locked.send_line("GET a") == NO_AUTH
    assert not str(locked.send_line(line)).startswith("-")
    assert locked.send_line("GET a") is None


@pytest.mark.parametrize(
    "line", ["AUTH wrong", "AUTH other secret", "AUTH default secre", "HELLO 3 AUTH default wrong"]
)
def test_a_wrong_password_does_not_authenticate(locked, line):
    assert locked.send_line(line) == WRONG_PASSWORD
    assert locked.send_line("GET a") == NO_AUTH


def test_a_failed_auth_does_not_undo_an_earlier_one(locked):
    locked.send_line("AUTH secret")
    assert locked.send_line("AUTH wrong") == WRONG_PASSWORD
    assert locked.send_line("PING") == b"PONG"


def test_auth_on_a_server_without_a_password(server):
    assert server.send_line("AUTH x") == (
        "-ERR AUTH <password> called without any password configured for the default user. Are you"
        " sure your configuration is correct?"
    )
    assert server.send_line("AUTH default anything") == b"OK"
    assert server.send_line("AUTH other x") == WRONG_PASSWORD
    assert server.send_line("AUTH a b c") == SYNTAX


def test_before_authentication_few_commands_run(locked):
    assert locked.send_line("PING") == NO_AUTH
    assert locked.send_line("MULTI") == NO_AUTH
    assert locked.send_line("RESET") == b"RESET"
    assert locked.send_line("QUIT") == b"OK"


def test_an_unknown_command_is_reported_before_authentication(locked):
    assert locked.send_line("foo").startswith("-ERR unknown command 'foo'")


# ---------------------------------------------------------------------- HELLO


def test_hello_shows_the_facts_of_the_server(server):
    assert server.send_line("HELLO 3") == {
        b"server": b"redis",
        b"version": build.REDIS_VERSION.encode(),
        b"proto": 3,
        b"id": 1,
        b"mode": b"standalone",
        b"role": b"master",
        b"modules": [],
    }


def test_hello_in_resp2_is_a_flat_array(server):
    words = server.send_line("HELLO")
    assert words[::2] == [b"server", b"version", b"proto", b"id", b"mode", b"role", b"modules"]
    assert words[5] == 2


def test_hello_switches_the_protocol(server):
    server.send_line("HELLO 3")
    assert server.owner.raw("GET", "no") == b"_\r\n"
    server.send_line("HELLO")
    assert server.owner.raw("GET", "no") == b"_\r\n"
    server.send_line("HELLO 2")
    assert server.owner.raw("GET", "no") == b"$-1\r\n"


def test_hello_sets_the_name_of_the_client(server):
    server.send_line("HELLO 3 SETNAME worker")
    assert server.send_line("CLIENT GETNAME") == b"worker"


def test_hello_needs_authentication(locked):
    assert locked.send_line("HELLO 3").startswith(
        "-NOAUTH HELLO must be called with the client already authenticated, otherwise"
    )
    assert locked.send_line("HELLO 3 SETNAME x").startswith("-NOAUTH HELLO")
    assert locked.owner.client.name == b""
    assert locked.owner.client.resp == 2


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("HELLO 1", "-NOPROTO unsupported protocol version"),
        ("HELLO 4 FOO", "-NOPROTO unsupported protocol version"),
        ("HELLO x", "-ERR Protocol version is not an integer or out of range"),
        ("HELLO 3 FOO", "-ERR Syntax error in HELLO option 'FOO'"),
        ("HELLO 3 auth x", "-ERR Syntax error in HELLO option 'auth'"),
        ("HELLO 3 SETNAME", "-ERR Syntax error in HELLO option 'SETNAME'"),
    ],
)
def test_a_refused_hello_changes_nothing(server, line, answer):
    assert server.send_line(line) == answer
    assert server.owner.client.resp == 2


def test_hello_refuses_a_name_with_blanks(server):
    assert server.send("HELLO", 3, "SETNAME", "a b") == (
        "-ERR Client names cannot contain spaces, newlines or special characters."
    )
    assert server.owner.client.resp == 2


# ---------------------------------------------------------------------- SELECT


def test_select_chooses_the_database(server):
    server.send_line("SET a 1")
    assert server.send_line("SELECT 15") == b"OK"
    assert server.send_line("GET a") is None


@pytest.mark.parametrize(
    ("index", "answer"),
    [
        ("16", "-ERR DB index is out of range"),
        ("-1", "-ERR DB index is out of range"),
        ("x", "-ERR value is not an integer or out of range"),
        (
            "4294967296",
            "-ERR value is out of range, value must between -2147483648 and 2147483647",
        ),
    ],
)
def test_select_refuses_a_bad_index(server, index, answer):
    assert server.send("SELECT", index) == answer


# ---------------------------------------------------------------------- RESET, QUIT


def test_reset_restores_all_of_a_new_client_but_the_library_name(server):
    server.send_line("HELLO 3 SETNAME worker")
    server.send_line("CLIENT SETINFO LIB-NAME lib")
    server.send_line("CLIENT NO-EVICT ON")
    server.send_line("CLIENT NO-TOUCH ON")
    server.send_line("SELECT 3")
    server.send_line("WATCH a")
    server.send_line("MULTI")
    server.send_line("SET a 1")
    assert server.send_line("RESET") == b"RESET"
    assert server.send_line("EXEC") == "-ERR EXEC without MULTI"
    client = server.owner.client
    assert (client.resp, client.db_index, client.name) == (2, 0, b"")
    assert (client.no_evict, client.no_touch) == (False, False)
    assert client.lib_name == b"lib"
    assert server.state.watching.watchers == {}


def test_reset_undoes_the_authentication(locked):
    locked.send_line("AUTH secret")
    locked.send_line("RESET")
    assert locked.send_line("PING") == NO_AUTH


def test_reset_turns_replies_on(server):
    server.send_line("CLIENT REPLY OFF")
    assert server.send_line("RESET") == b"RESET"
    assert server.send_line("PING") == b"PONG"


@pytest.mark.parametrize("line", ["QUIT", "QUIT now"])
def test_quit_closes_after_the_reply(server, line):
    assert server.send_line(line) == b"OK"
    assert server.owner.client.close_after_reply


def test_quit_is_not_queued_inside_multi(server):
    server.send_line("MULTI")
    assert server.send_line("QUIT") == b"OK"


# ---------------------------------------------------------------------- PING, ECHO


def test_ping_and_echo(server):
    assert server.owner.raw("PING") == b"+PONG\r\n"
    assert server.owner.raw("PING", "x") == b"$1\r\nx\r\n"
    assert server.send_line("ECHO x") == b"x"
    assert server.send_line("PING a b") == "-ERR wrong number of arguments for 'ping' command"
    assert server.send_line("ECHO") == "-ERR wrong number of arguments for 'echo' command"
