"""MONITOR: what is shown to whom, and when."""

from __future__ import annotations

NOT_FOR_MONITORS = "-Replica can't interact with the keyspace"


def watching(server):
    guest = server.client()
    assert guest.send("MONITOR") == b"OK"
    return guest


def shown(guest):
    """The commands shown since the last call, without time and address."""
    lines = guest.client.out.take().split(b"\r\n")
    return [line.partition(b"] ")[2] for line in lines if line]


def test_a_line_has_time_database_and_address(server):
    guest = watching(server)
    server.send("SELECT", 3)
    assert guest.client.out.take() == (b'+1700000000.000000 [3 10.0.0.1:5001] "SELECT" "3"\r\n')


def test_a_command_that_fails_is_shown_but_none_that_is_not_run(server):
    guest = watching(server)
    server.send("SET", "k", "v")
    server.send("LPUSH", "k", "x")
    server.send("GET")
    server.send("NOSUCH")
    assert shown(guest) == [b'"SET" "k" "v"', b'"LPUSH" "k" "x"']


def test_commands_of_operators_are_not_shown(server):
    guest = watching(server)
    server.send_line("CONFIG GET maxmemory")
    server.send_line("CLIENT ID")
    assert shown(guest) == [b'"CLIENT" "ID"']


def test_a_transaction_is_shown_when_it_runs(server):
    guest = watching(server)
    for words in ("MULTI", "SET k v", "GET k"):
        server.send_line(words)
    assert shown(guest) == [b'"MULTI"']
    server.send("EXEC")
    assert shown(guest) == [b'"SET" "k" "v"', b'"GET" "k"', b'"EXEC"']


def test_secrets_are_hidden(make_server):
    server = make_server(requirepass="geheim")
    server.send("AUTH", "geheim")
    guest = server.client()
    guest.send("AUTH", "geheim")
    guest.send("MONITOR")
    server.send("AUTH", "default", "geheim")
    server.send("HELLO", 2, "AUTH", "default", "geheim", "SETNAME", "me")
    server.send("MIGRATE", "127.0.0.1", 1, "nosuch", 0, 1, "AUTH2", "user", "geheim")
    server.send("MIGRATE", "127.0.0.1", 1, "", 0, 1, "AUTH", "geheim", "KEYS", "AUTH", "x")
    lines = shown(guest)
    assert len(lines) == 4
    assert not any(b"geheim" in line for line in lines)
    assert lines[1].endswith(b'"AUTH" "(redacted)" "(redacted)" "SETNAME" "me"')
    assert lines[3].endswith(b'"AUTH" "(redacted)" "KEYS" "AUTH" "x"')


def test_a_command_that_waits_is_shown_once(server):
    guest, waiter = watching(server), server.client()
    waiter.send("BLPOP", "l", 0)
    server.send("RPUSH", "l", "x")
    assert shown(guest) == [b'"BLPOP" "l" "0"', b'"RPUSH" "l" "x"']


def test_a_monitors_own_command_is_shown_behind_its_reply(server):
    guest = watching(server)
    assert guest.send("ECHO", "x") == b"x"
    for words in ("MULTI", "PING"):
        guest.send(words)
    guest.client.out.take()
    assert guest.raw("EXEC").startswith(b"*1\r\n+PONG\r\n+17")


def test_a_monitor_may_not_work_with_keys(server):
    guest = watching(server)
    for words in ("GET k", "SET k v", "PUBLISH a b"):
        assert guest.send_line(words) == NOT_FOR_MONITORS.replace("-", "-ERR ", 1)
    assert guest.send("PING") == b"PONG"


def test_monitor_twice_has_no_reply_and_in_exec_an_error(server):
    guest = watching(server)
    assert guest.raw("MONITOR") == b""
    server.send("MULTI")
    server.send("MONITOR")
    (refused,) = server.send("EXEC")
    assert refused == "-ERR MONITOR isn't allowed for DENY BLOCKING client"


def test_reset_and_leaving_end_it(server):
    guest, other = watching(server), watching(server)
    assert b"flags=O " in server.send("CLIENT", "LIST", "ID", guest.client.id)
    assert guest.send("RESET") == b"RESET"
    assert b"flags=N " in server.send("CLIENT", "LIST", "ID", guest.client.id)
    other.leave()
    guest.client.out.take()
    server.send("PING")
    assert guest.client.out.size() == 0
    assert not server.state.monitors.are_there


def test_a_command_inside_another_is_shown_as_a_scripts(server, declare):
    declare(
        "outer",
        lambda call: call.server.scripting.run.caller.run_inside(
            call.client, [b"PING"], call.server.scripting.run
        ),
    )
    guest = watching(server)
    server.send("OUTER")
    assert b' [0 lua] "PING"\r\n' in guest.client.out.take()


def test_a_client_of_a_unix_socket_has_its_path(server):
    guest = watching(server)
    server.owner.client.address = "/tmp/socket:0"
    server.send("PING")
    assert b"[0 unix:/tmp/socket] " in guest.client.out.take()


def test_what_is_loaded_from_the_log_is_not_shown(server):
    guest = watching(server)
    server.dispatcher.replaying.begin()([b"SET", b"k", b"v"])
    assert guest.client.out.size() == 0
