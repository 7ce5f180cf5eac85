"""MULTI, EXEC, DISCARD, WATCH, UNWATCH, as redis 7.0.15 answers them."""

from __future__ import annotations

import pytest

OK, QUEUED = b"OK", b"QUEUED"
ABORTED = "-EXECABORT Transaction discarded because of previous errors."
OUT_OF_MEMORY = "-OOM command not allowed when used memory > 'maxmemory'."


def multi(client, *lines):
    """Run *lines* in a transaction. Returns the reply of EXEC."""
    assert client.send_line("MULTI") == OK
    for line in lines:
        assert client.send_line(line) == QUEUED
    return client.send_line("EXEC")


def test_exec_answers_one_array(server):
    assert multi(server, "SET a 1", "INCR a", "GET a") == [OK, 2, b"2"]
    assert multi(server) == []


def test_nothing_runs_before_exec(server):
    server.send_line("MULTI")
    server.send_line("SET a 1")
    assert server.client().send_line("GET a") is None
    server.send_line("DISCARD")
    assert server.send_line("GET a") is None


def test_an_error_at_run_time_does_not_stop_the_transaction(server):
    assert multi(server, "SET a x", "INCR a", "SET b 1") == [
        OK,
        "-ERR value is not an integer or out of range",
        OK,
    ]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("foo", "-ERR unknown command 'foo', with args beginning with: "),
        ("GET", "-ERR wrong number of arguments for 'get' command"),
        ("OBJECT foo", "-ERR unknown subcommand 'foo'. Try OBJECT HELP."),
    ],
)
def test_a_command_that_cannot_be_queued_aborts_exec(server, line, error):
    server.send_line("MULTI")
    assert server.send_line(line) == error
    assert server.send_line("SET a 1") == QUEUED
    assert server.send_line("EXEC") == ABORTED
    assert server.send_line("GET a") is None
    assert multi(server, "PING") == [b"PONG"]


@pytest.mark.parametrize("line", ["MULTI", "WATCH a"])
def test_multi_and_watch_inside_multi_are_refused_but_do_not_abort_exec(server, line):
    server.send_line("MULTI")
    refusals = {
        "MULTI": "-ERR MULTI calls can not be nested",
        "WATCH a": "-ERR WATCH inside MULTI is not allowed",
    }
    assert server.send_line(line) == refusals[line]
    assert server.send_line("EXEC") == []


def test_exec_and_discard_need_multi(server):
    assert server.send_line("EXEC") == "-ERR EXEC without MULTI"
    assert server.send_line("DISCARD") == "-ERR DISCARD without MULTI"
    assert server.send_line("UNWATCH") == OK


def test_select_holds_for_the_rest_of_exec_and_afterwards(server):
    assert multi(server, "SELECT 1", "SET a 1") == [OK, OK]
    assert server.send_line("GET a") == b"1"
    server.send_line("SELECT 0")
    assert server.send_line("GET a") is None


def test_each_command_of_exec_is_logged_in_its_own_form(server):
    multi(server, "SET a 1 EX 5", "GET a", "DEL a", "DEL a")
    assert server.logged() == [b"SET a 1 PXAT 1700000005000", b"DEL a"]


def test_no_command_is_queued_over_maxmemory(server):
    server.send_line("MULTI")
    server.run_out_of_memory()
    assert server.send_line("GET a") == OUT_OF_MEMORY
    assert server.send_line("EXEC") == ABORTED


def test_exec_over_maxmemory_is_refused_if_a_queued_command_needs_memory(server):
    server.send_line("MULTI")
    server.send_line("SET a 1")
    server.run_out_of_memory()
    assert server.send_line("EXEC") == (
        "-EXECABORT Transaction discarded because of: OOM command not allowed when used memory >"
        " 'maxmemory'."
    )
    assert server.send_line("EXEC") == "-ERR EXEC without MULTI"


def test_exec_over_maxmemory_runs_commands_that_need_no_memory(server):
    server.send_line("MULTI")
    server.send_line("DEL a")
    server.run_out_of_memory()
    assert server.send_line("EXEC") == [0]


def test_a_disconnect_inside_multi_ends_the_watch(server):
    guest = server.client()
    guest.send_line("WATCH a")
    guest.send_line("MULTI")
    guest.leave()
    assert server.state.watching.watchers == {}


# ---------------------------------------------------------------------- WATCH


@pytest.mark.parametrize(
    "line",
    [
        "SET a 2",
        "DEL a",
        "APPEND a x",
        "EXPIRE a 100",
        "RENAME a b",
        "RENAME other a",
        "MOVE a 1",
        "FLUSHDB",
        "FLUSHALL",
        "SWAPDB 0 1",
        "COPY other a REPLACE",
    ],
)
def test_a_change_of_a_watched_key_makes_exec_null(server, line):
    server.send_line("MSET a 1 other 2")
    guest = server.client()
    guest.send_line("WATCH b a")
    server.send_line(line)
    assert multi(guest, "PING") is None
    assert multi(guest, "PING") == [b"PONG"]


@pytest.mark.parametrize(
    "line", ["GET a", "SET a 2 NX", "PERSIST a", "SET c 1", "EXPIRE a 1 XX", "DEL no", "GETEX a"]
)
def test_a_command_that_changes_nothing_does_not_make_exec_null(server, line):
    server.send_line("SET a 1")
    guest = server.client()
    guest.send_line("WATCH a no")
    server.send_line(line)
    assert multi(guest, "PING") == [b"PONG"]


def test_a_change_by_the_watching_client_itself_makes_exec_null(server):
    server.send_line("WATCH a")
    server.send_line("SET a 1")
    assert multi(server, "PING") is None


def test_a_key_of_that_name_in_another_database_is_another_key(server):
    server.send_line("WATCH a")
    guest = server.client()
    guest.send_line("SELECT 1")
    guest.send_line("SET a 1")
    assert multi(server, "PING") == [b"PONG"]


@pytest.mark.parametrize("end", ["UNWATCH", "DISCARD", "EXEC", "RESET"])
def test_unwatch_discard_exec_and_reset_end_the_watch(server, end):
    server.send_line("WATCH a")
    if end in ("DISCARD", "EXEC"):
        server.send_line("MULTI")
    server.send_line(end)
    server.client().send_line("SET a 1")
    assert multi(server, "PING") == [b"PONG"]


def test_a_refused_exec_ends_the_watch(server):
    server.send_line("WATCH a")
    server.send_line("MULTI")
    server.send_line("foo")
    server.send_line("EXEC")
    assert server.state.watching.watchers == {}


def test_a_watched_key_that_expires_is_a_change(server):
    server.send_line("SET a 1 PX 10")
    server.send_line("WATCH a")
    server.advance(11)
    assert multi(server, "PING") is None


def test_a_key_that_had_expired_before_the_watch_is_no_change(server):
    server.send_line("SET a 1 PX 10")
    server.advance(11)
    server.send_line("WATCH a")
    server.client().send_line("GET a")
    assert multi(server, "PING") == [b"PONG"]


def test_flushall_is_no_change_of_a_key_that_was_not_there(server):
    server.send_line("SELECT 1")
    server.send_line("SET a 1")
    server.send_line("SELECT 0")
    server.send_line("WATCH a")
    server.client().send_line("FLUSHALL")
    assert multi(server, "PING") == [b"PONG"]


def test_swapdb_that_brings_a_watched_key_makes_exec_null(server):
    server.send_line("SELECT 1")
    server.send_line("SET a 1")
    server.send_line("SELECT 0")
    server.send_line("WATCH a")
    server.client().send_line("SWAPDB 1 0")
    assert multi(server, "PING") is None


@pytest.mark.parametrize("begin", ["PING", "MULTI"])
def test_exec_with_wrong_arity_says_why_and_ends_the_transaction(server, begin):
    server.send_line("WATCH a")
    server.send_line(begin)
    assert server.send_line("EXEC now") == (
        "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command"
    )
    assert server.state.watching.watchers == {}
    assert server.send_line("EXEC") == "-ERR EXEC without MULTI"


def test_exec_without_authentication_says_why(make_server):
    server = make_server(requirepass="secret")
    assert server.client().send_line("EXEC") == (
        "-EXECABORT Transaction discarded because of: NOAUTH Authentication required."
    )


@pytest.mark.parametrize(
    "line",
    [
        "XGROUP CREATE s g2 0",
        "XGROUP SETID s g $",
        "XGROUP CREATECONSUMER s g d",
        "XGROUP DELCONSUMER s g c",
        "XGROUP DESTROY s g",
        "XSETID s 9-9",
        "XREADGROUP GROUP g c STREAMS s >",
        "XACK s g 1-1",
        "XCLAIM s g d 0 1-1",
        "XAUTOCLAIM s g d 0 0",
    ],
)
def test_a_change_of_a_group_is_no_change_of_the_watched_stream(server, line):
    server.send_line("XADD s 1-1 a b")
    server.send_line("XADD s 2-1 a b")
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XREADGROUP GROUP g c COUNT 1 STREAMS s >")
    guest = server.client()
    guest.send_line("WATCH s")
    before = server.state.events.changes
    server.send_line(line)
    assert server.state.events.changes > before
    assert multi(guest, "PING") == [b"PONG"]


@pytest.mark.parametrize(
    "line", ["XADD s 3-1 a b", "XDEL s 1-1", "XTRIM s MAXLEN 0", "XGROUP CREATE new g $ MKSTREAM"]
)
def test_a_change_of_the_entries_of_a_watched_stream_makes_exec_null(server, line):
    server.send_line("XADD s 1-1 a b")
    guest = server.client()
    guest.send_line("WATCH s new")
    server.send_line(line)
    assert multi(guest, "PING") is None
