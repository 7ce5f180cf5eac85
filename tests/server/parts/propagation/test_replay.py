"""Commands that fail when they are run again: what is logged, counted, and ended by them."""

from __future__ import annotations

import pytest

from server.client.client import Client
from server.following.primary_stream import BrokenStreamError, PrimaryStream
from server.parts.propagation.replay import COMPLAINTS
from server.process.faults import ServerFault

LOST = {
    "INCR on a string": (["SET k a", "INCR k"], "incr"),
    "XADD with a smaller id": (["XADD s 5-1 a b", "XADD s 4-1 a b"], "xadd"),
    "XCLAIM without its group": (["XADD s 5-1 a b", "XCLAIM s g c 0 5-1"], "xclaim"),
    "LSET out of range": (["RPUSH l a", "LSET l 10 x"], "lset"),
    "RESTORE of what is no payload": (["RESTORE k 0 abc"], "restore"),
    "in a transaction": (["MULTI", "SET k a", "INCR k", "EXEC"], "incr"),
    "SHUTDOWN": (["SHUTDOWN NOSAVE"], "shutdown"),
    "in a transaction, what is never logged": (["MULTI", "SHUTDOWN", "EXEC"], "shutdown"),
    "CONFIG SET": (["CONFIG SET maxmemory 1"], "config|set"),
    "REPLICAOF": (["REPLICAOF localhost 1"], "replicaof"),
}


@pytest.fixture
def load(server):
    """Runs lines as those of an AOF; the error that ends the load, or ""."""

    def run(lines):
        replay = server.dispatcher.replaying.begin()
        for line in lines:
            error = replay(line.encode().split())
            if error:
                return error
        return ""

    return run


@pytest.fixture
def follow(server):
    """Runs lines as those that a primary sends."""
    server.state.replication.history.keep_backlog(10_000)

    def run(lines):
        stream = PrimaryStream(server.dispatcher, Client(0, 0))
        stream.take("".join(line + "\r\n" for line in lines).encode())

    return run


def set_behavior(server, value):
    server.state.config.propagation_error_behavior = value
    server.state.follow_config()


def fields(server, section):
    return dict(
        line.split(":", 1)
        for line in server.send_line(f"INFO {section}").decode().splitlines()
        if ":" in line
    )


@pytest.mark.parametrize("what", LOST)
def test_a_command_that_is_lost_by_a_load_is_named_and_counted(what, server, load, caplog):
    """Once, it was dropped in silence, and SHUTDOWN was obeyed."""
    lines, name = LOST[what]
    assert load([*lines, "SET after 1"]) == ""
    assert "== CRITICAL == This server is sending an error to its AOF-loading-client: '" in (
        caplog.text
    )
    assert f"' after processing the command '{name}'" in caplog.text
    assert fields(server, "persistence")["aof_load_failed_commands"] == "1"
    assert fields(server, "stats")["unexpected_error_replies"] == "1"
    assert server.send_line("GET after") == b"1"


@pytest.mark.parametrize("what", LOST)
def test_a_primarys_command_that_fails_is_named_and_counted(what, server, follow, caplog):
    """Once, what failed in a transaction was not."""
    lines, name = LOST[what]
    follow([*lines, "SET after 1"])
    assert "== CRITICAL == This replica is sending an error to its master: '" in caplog.text
    assert f"' after processing the command '{name}'" in caplog.text
    assert fields(server, "stats")["unexpected_error_replies"] == "1"
    assert fields(server, "persistence")["aof_load_failed_commands"] == "0"
    assert server.send_line("GET after") == b"1"


def test_an_error_has_its_code_unless_that_is_err(load, caplog):
    load(["XADD s 5-1 a b", "XCLAIM s g c 0 5-1", "LSET s 1"])
    assert "'-NOGROUP No such key 's' or consumer group 'g'' after" in caplog.text


def test_a_log_is_not_filled_by_complaints(server, load, caplog):
    load(["SET k a", *["INCR k"] * (COMPLAINTS + 9)])
    assert len(caplog.records) == COMPLAINTS
    assert fields(server, "persistence")["aof_load_failed_commands"] == str(COMPLAINTS + 9)


def test_what_is_run_for_the_first_time_may_fail_without_a_word(server, caplog):
    server.send_line("SET k a")
    server.send_line("INCR k")
    assert not caplog.records
    assert fields(server, "stats")["unexpected_error_replies"] == "0"


def test_an_error_that_a_logged_script_has_caught_is_none(server, load, caplog):
    argv = [b"EVAL", b"redis.call('set', 'k', 'a') redis.pcall('incr', 'k')", b"0"]
    assert server.dispatcher.replaying.begin()(argv) == ""
    assert not caplog.records
    assert server.send_line("GET k") == b"a"


def test_scripts_of_a_log_of_older_servers_are_run(server, load):
    text = b"return redis.call('set', KEYS[1], ARGV[1])"
    replay = server.dispatcher.replaying.begin()
    assert replay([b"SCRIPT", b"LOAD", text]) == ""
    assert replay([b"EVAL", text, b"1", b"k", b"v"]) == ""
    assert server.send_line("GET k") == b"v"
    assert server.state.replay_failures.total == 0


def test_a_logged_script_gets_a_set_sorted_as_its_first_run_did(server, load):
    server.send_line("SADD s 10 9 8 7 6 5 4 3 2 1")
    text = (
        b"for _, each in ipairs(redis.call('SORT', KEYS[1], 'BY', 'nosort')) do"
        b" redis.call('RPUSH', KEYS[2], each) end"
    )
    assert server.dispatcher.replaying.begin()([b"EVAL", text, b"2", b"s", b"l"]) == ""
    server.send("EVAL", text, 2, "s", "again")
    assert server.send_line("LRANGE l 0 -1") == server.send_line("LRANGE again 0 -1")
    assert server.send_line("LRANGE l 0 1") == [b"1", b"10"]


def test_what_a_log_brings_is_not_sent_to_replicas(server, load):
    """DEBUG LOADAOF while replicas take the stream: they have had it all."""
    server.state.replication.feed.is_attached = True
    assert load(["SET k v", "PUBLISH news x", "MULTI", "INCR n", "EXEC"]) == ""
    assert not server.state.propagation.ops
    server.send_line("SET other v")
    assert server.logged() == [b"SET other v"]


def test_script_load_of_an_older_primary_is_no_failure(server, follow):
    follow(['SCRIPT LOAD "return 1"', "SCRIPT FLUSH"])
    assert server.state.replay_failures.total == 0


def test_the_failures_of_one_load_are_counted_over_all_its_files(server):
    failures = server.state.replay_failures
    failures.begin_load()
    for _ in range(2):
        server.dispatcher.replaying.begin()([b"LSET", b"nosuch", b"0", b"x"])
    assert failures.of_log == 2
    failures.begin_load()
    assert failures.of_log == 0


# ---------------------------------------------------------------------- what ends the load or link


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (["FOO k"], "Unknown command 'FOO'"),
        (["XGROUP FOO k"], "Unknown command 'XGROUP'"),
        (["SET k"], "wrong number of arguments for 'set' command"),
        (["MULTI", "SET k"], "wrong number of arguments for 'set' command"),
        (["SELECT 99"], "a database is used that is not here: DB index is out of range"),
        (["MULTI", "SELECT 99", "SET k v", "EXEC"], "a database is used that is not here"),
    ],
)
def test_a_log_that_is_not_for_this_server_is_not_loaded(lines, error, load):
    """Once, what followed a database that is not here went into another one."""
    assert load(lines).startswith(error)


def test_a_primarys_transaction_in_a_database_that_is_not_here_ends_the_link(follow):
    with pytest.raises(BrokenStreamError, match="a database is used that is not here"):
        follow(["MULTI", "SELECT 99", "SET k v", "EXEC"])


def test_with_panic_a_load_that_loses_a_command_is_refused(server, load):
    set_behavior(server, "panic")
    assert load(["SET k a", "INCR k", "SET after 1"]) == (
        "'value is not an integer or out of range' after processing the command 'incr'"
    )


def test_with_panic_a_command_that_fails_in_a_transaction_refuses_the_load(server, load):
    set_behavior(server, "panic")
    assert "'incr'" in load(["MULTI", "SET k a", "INCR k", "EXEC"])


def test_with_panic_on_replicas_a_load_goes_on(server, load):
    set_behavior(server, "panic-on-replicas")
    assert load(["SET k a", "INCR k", "SET after 1"]) == ""


@pytest.mark.parametrize("behavior", ["panic", "panic-on-replicas"])
def test_with_panic_a_replica_ends_that_fails_to_run_a_command(behavior, server, follow):
    set_behavior(server, behavior)
    with pytest.raises(ServerFault, match="panicked sending an error to its master"):
        follow(["SET k a", "INCR k", "SET after 1"])
    assert server.send_line("GET after") is None


def test_a_writable_replica_does_not_panic(server, follow):
    server.state.config.replica_read_only = False
    set_behavior(server, "panic")
    follow(["SET k a", "INCR k", "SET after 1"])
    assert server.send_line("GET after") == b"1"


# ---------------------------------------------------------------------- what could not be run


@pytest.fixture
def unrunnable(declare):
    def handler(call):
        raise ValueError("a bug")

    return declare("broken", handler)


def test_a_transaction_that_was_run_in_part_does_not_come_again(server, follow, unrunnable):
    """The copy of all data that is asked for then has all of it."""
    before = server.state.replication.history.id
    with pytest.raises(BrokenStreamError, match="a broken could not be run"):
        follow(["MULTI", "INCR n", "BROKEN", "EXEC"])
    assert server.state.replication.history.id != before


def test_a_logged_transaction_that_cannot_be_run_is_a_fault(server, load, unrunnable):
    """Once, only what was logged outside of a transaction was."""
    with pytest.raises(ServerFault):
        load(["MULTI", "INCR n", "BROKEN", "EXEC"])
