"""How a command is dispatched: look-up, checks, execution, log, statistics, and blocked clients."""

from __future__ import annotations

import time

import pytest

from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.parts.state import ServerState
from server.table import errors
from server.table.command import TABLE
from storage.keyspace.key_changes import NOTHING
from tests.server.conftest import NOTHING as NO_REPLY

# ---------------------------------------------------------------------- look-up


@pytest.mark.parametrize("name", ["get", "GET", "gEt"])
def test_names_of_commands_ignore_case(server, name):
    assert server.send(name, "a") is None


@pytest.mark.parametrize(
    ("words", "echo"),
    [
        (["foo"], "'foo', with args beginning with: "),
        (["foo", "a", "b c"], "'foo', with args beginning with: 'a' 'b c' "),
        (["x" * 300], f"'{'x' * 128}', with args beginning with: "),
        (["foo", "y" * 300, "z"], f"'foo', with args beginning with: '{'y' * 128}' "),
        (["foo", "y" * 100, "z" * 300], f"'foo', with args beginning with: '{'y' * 100}' '"),
    ],
)
def test_an_unknown_command_is_echoed_up_to_a_limit(server, words, echo):
    answer = server.send(*words)
    assert answer.startswith(f"-ERR unknown command {echo}")
    assert len(answer) < 330


def test_line_ends_in_an_echo_cannot_forge_a_reply(server):
    raw = server.owner.raw("foo\r\n+OK")
    assert raw.count(b"\r\n") == 1


def test_names_that_are_no_text_are_echoed_unchanged(server):
    assert b"\xff\xfe" in server.owner.raw(b"\xff\xfe")


@pytest.mark.parametrize(
    ("line", "name"), [("GET", "get"), ("GET a b", "get"), ("CLIENT", "client"),
                       ("client ID x", "client|id")],
)  # fmt: skip
def test_wrong_arity_is_refused(server, line, name):
    assert server.send_line(line) == f"-ERR wrong number of arguments for '{name}' command"


# ---------------------------------------------------------------------- running


def test_a_bug_in_a_handler_is_an_error_reply(server, declare, caplog):
    declare("broken", lambda _call: 1 // 0)
    assert server.send_line("broken") == "-ERR internal error; the server's log has the details"
    assert "bug in broken" in caplog.text
    assert server.send_line("PING") == b"PONG"


def test_a_refusal_that_is_raised_often_keeps_no_traceback(server):
    for _ in range(3):
        server.send_line("SET a 1 FOO")
    assert errors.SYNTAX.__traceback__ is None


def test_calls_failures_and_rejections_are_counted(server):
    row = TABLE.find(b"incr")
    assert row is not None
    server.send_line("INCR a")
    server.send_line("SET a x")
    server.send_line("INCR a")
    server.send_line("INCR")
    count = server.state.command_stats.of(row)
    assert (count.calls, count.failed, count.rejected) == (2, 1, 1)
    assert count.nanoseconds > 0


def test_two_servers_in_one_process_count_for_themselves(make_server):
    one, other = make_server(), make_server()
    one.send_line("INCR a")
    assert "cmdstat_incr:calls=1," in one.send_line("INFO commandstats").decode()
    assert "cmdstat_incr" not in other.send_line("INFO commandstats").decode()


def test_errors_are_counted_by_their_code(server):
    server.send_line("foo")
    server.send_line("RPUSH l x")
    server.send_line("GET l")
    server.send_line("MULTI")
    server.send_line("GET l")
    server.send_line("EXEC")
    assert server.state.stats.errors_by_code == {"ERR": 1, "WRONGTYPE": 2}
    assert server.state.stats.errors == 3


# ---------------------------------------------------------------------- maxmemory


def test_over_maxmemory_only_commands_that_need_no_memory_run(server):
    server.send_line("SET a 1")
    server.run_out_of_memory()
    refusal = "-OOM command not allowed when used memory > 'maxmemory'."
    assert server.send_line("SET a 2") == refusal
    assert server.send_line("GET a") == b"1"
    assert server.send_line("DEL a") == 1


# ---------------------------------------------------------------------- the AOF


def test_a_command_that_changes_nothing_is_not_logged(server):
    server.send_line("GET a")
    server.send_line("SETNX a 1")
    server.send_line("SETNX a 2")
    assert server.logged() == [b"SETNX a 1"]


def test_a_command_may_log_several_others_or_none(server, declare):
    def two(call):
        call.db.changed(b"a", b"set", changes=1, log=(b"one",))
        call.db.changed(b"a", None, changes=0, log=(b"two",))
        return 0

    def none(call):
        call.db.changed(b"a", b"set", changes=1, log=NOTHING)
        return 0

    declare("two", two)
    declare("none", none)
    server.send_line("two")
    server.send_line("none")
    assert server.logged() == [b"one", b"two"]


def test_exec_is_logged_as_one_transaction(server):
    for line in ("MULTI", "SET a 1", "GET a", "RPUSH l x y", "EXEC"):
        server.send_line(line)
    assert server.transactions() == [[b"SET a 1", b"RPUSH l x y"]]


def test_a_del_of_an_expired_key_is_logged_before_the_command_that_found_it(server):
    server.send_line("SET a 1 PX 10")
    server.transactions()
    server.advance(20)
    server.send_line("SET a 2 KEEPTTL")
    server.send_line("SET b 1 PX 10")
    server.advance(20)
    server.send_line("GET b")
    assert server.transactions() == [
        [b"DEL a", b"SET a 2 KEEPTTL"],
        [b"SET b 1 PXAT 1700000000030"],
        [b"DEL b"],
    ]


def test_a_client_keeps_the_log_offset_of_its_last_write(server):
    reader = server.client()
    server.send_line("SET a 1")
    reader.send_line("GET a")
    assert (server.owner.client.written_offset, reader.client.written_offset) == (1, 0)


# ---------------------------------------------------------------------- loading and replay


def test_while_loading_only_commands_that_need_no_data_run(server):
    server.state.restrictions.set_phase(loading=True)
    assert server.send_line("GET a") == "-LOADING Redis is loading the dataset in memory"
    assert server.send_line("INFO persistence").startswith(b"# Persistence")


def test_after_an_aof_write_error_writes_are_refused(server):
    server.state.restrictions.refuse_writes(errors.aof_write_failed("No space left on device"))
    refusal = "-MISCONF Errors writing to the AOF file: No space left on device"
    assert server.send_line("SET a 1") == server.send_line("PING") == refusal
    assert server.send_line("GET a") is None
    server.send_line("MULTI")
    server.send_line("GET a")
    assert server.send_line("EXEC") == [None]


def test_replay_runs_commands_without_replies_and_without_logging_them(server):
    reader = server.client()
    for line in (b"SELECT 3", b"SET a 1 PXAT 1", b"MULTI", b"SET b 1", b"RPUSH l x", b"EXEC"):
        server.state.events.lookup.keeps_expired = True
        assert server.dispatcher.replaying.replay(reader.client, line.split()) is None
    assert sorted(server.state.databases[3].keys()) == [b"b", b"l"]
    assert server.state.databases[3].expiry(b"a") == 1
    assert len(reader.client.out) == 0


def test_replay_returns_the_error_of_a_command_that_cannot_run(server):
    refusal = server.dispatcher.replaying.replay(server.owner.client, [b"NEVER", b"a"])
    assert refusal.text == "Unknown command 'NEVER'"


# ---------------------------------------------------------------------- blocking


def test_a_blocked_client_is_served_by_a_push(server):
    guest = server.client()
    assert guest.send_line("BLPOP a b 0") == NO_REPLY
    assert server.send_line("RPUSH b x") == 1
    assert guest.reply() == [b"b", b"x"]
    assert server.send_line("EXISTS b") == 0


def test_a_push_is_logged_before_the_pop_that_it_serves(server):
    server.client().send_line("BLPOP a 0")
    server.send_line("RPUSH a x y")
    assert server.logged() == [b"RPUSH a x y", b"LPOP a"]


def test_a_push_adds_all_its_elements_before_a_blocked_client_is_served(server):
    guest = server.client()
    guest.send_line("BLPOP a 0")
    server.send_line("LPUSH a 1 2 3")
    assert guest.reply() == [b"a", b"3"]


def test_blocked_clients_are_served_after_exec(server):
    guest = server.client()
    guest.send_line("BLPOP a b 0")
    server.send_line("MULTI")
    server.send_line("RPUSH b 1")
    server.send_line("RPUSH a 2")
    server.send_line("LLEN b")
    assert server.send_line("EXEC") == [1, 1, 1]
    assert guest.reply() == [b"a", b"2"]


def test_an_element_that_exec_pushes_and_removes_wakes_no_client(server):
    guest = server.client()
    guest.send_line("BLPOP a 0")
    server.send_line("MULTI")
    server.send_line("RPUSH a 1")
    server.send_line("DEL a")
    server.send_line("SET a x")
    server.send_line("EXEC")
    assert guest.waits


def test_a_key_that_exec_removes_and_makes_anew_is_served_in_the_order_of_its_making(server):
    first, second = server.client(), server.client()
    first.send_line("BLMOVE a c LEFT RIGHT 0")
    second.send_line("BLMOVE b c LEFT RIGHT 0")
    server.send_line("SET a x")
    for line in ("MULTI", "DEL a", "RPUSH b 1", "RPUSH a 2", "EXEC"):
        server.send_line(line)
    assert server.send_line("LRANGE c 0 -1") == [b"1", b"2"]


def test_nothing_blocks_inside_exec(server):
    server.send_line("MULTI")
    server.send_line("BLPOP a 0")
    server.send_line("BLMOVE a b LEFT LEFT 0")
    server.send_line("RPUSH a 1")
    assert server.send_line("EXEC") == [None, None, 1]
    assert not server.owner.waits


def test_a_chain_of_blocked_moves_is_served_before_the_next_command(server):
    first, second = server.client(), server.client()
    first.send_line("BLMOVE a b LEFT LEFT 0")
    second.send_line("BLMOVE b c LEFT LEFT 0")
    server.send_line("RPUSH a x")
    assert (first.reply(), second.reply()) == (b"x", b"x")
    assert server.send_line("LRANGE c 0 -1") == [b"x"]
    assert server.logged() == [b"RPUSH a x", b"LMOVE a b LEFT LEFT", b"LMOVE b c LEFT LEFT"]


def test_a_blocked_client_times_out(server):
    guest = server.client()
    guest.send_line("BLPOP a 1.5")
    server.advance(1499)
    assert guest.reply() == NO_REPLY
    server.advance(1)
    assert guest.reply() is None
    assert not guest.waits


def test_a_blocked_client_that_disconnects_takes_no_element(server):
    guest, other = server.client(), server.client()
    guest.send_line("BLPOP a 0")
    other.send_line("BLPOP a 0")
    guest.leave()
    server.send_line("RPUSH a x")
    assert other.reply() == [b"a", b"x"]


def test_a_blocked_client_that_is_killed_takes_no_element(server):
    guest = server.client()
    guest.send_line("BLPOP a 0")
    assert server.send("CLIENT", "KILL", "ID", guest.client.id) == 1
    server.send_line("RPUSH a x")
    assert server.send_line("LLEN a") == 1


@pytest.mark.parametrize(
    ("reason", "answer"),
    [
        ("", None),
        ("TIMEOUT", None),
        ("error", "-UNBLOCKED client unblocked via CLIENT UNBLOCK"),
    ],
)
def test_client_unblock_ends_the_wait(server, reason, answer):
    guest = server.client()
    guest.send_line("BLPOP a 0")
    assert server.send_line(f"CLIENT UNBLOCK {guest.client.id} {reason}") == 1
    assert guest.reply() == answer
    assert server.send("CLIENT", "UNBLOCK", guest.client.id) == 0
    assert server.state.blocking.queues == {}


def test_a_woken_client_gets_the_error_of_its_command(server):
    server.send_line("SET b x")
    guest = server.client()
    assert guest.send_line("BLMOVE a b LEFT LEFT 0") == NO_REPLY
    server.send_line("RPUSH a 1")
    assert guest.reply().startswith("-WRONGTYPE")
    assert server.send_line("LLEN a") == 1


def test_blocked_clients_are_not_served_while_writes_are_paused(server):
    guest = server.client()
    guest.send_line("BLPOP a 0")
    server.send_line("MULTI")
    server.send_line("RPUSH a x")
    server.send_line("CLIENT PAUSE 1000 WRITE")
    server.send_line("EXEC")
    assert guest.reply() == NO_REPLY
    server.advance(1000)
    assert guest.reply() == [b"a", b"x"]


@pytest.mark.parametrize("words", [["POST", "/", "HTTP/1.1"], ["Host:", "localhost"]])
def test_a_client_that_speaks_http_is_disconnected(server, words, caplog):
    """As in Redis: a web page could otherwise make a browser send commands in a POST."""
    guest = server.client()
    assert guest.send(*words) == NO_REPLY
    assert guest.gone
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_a_batch_has_the_time_of_the_wall_clock():
    """The time is computed from the monotonic clock, and may be off by a millisecond."""
    state = ServerState(Config())
    dispatcher = Dispatcher(state)
    for _ in range(2):
        before = time.time_ns() // 1_000_000
        dispatcher.turn.enter()
        assert before - 1 <= state.events.clock.now_ms <= time.time_ns() // 1_000_000 + 1
