"""Commands that run inside a command, as in a script: their origin, log, errors and permissions."""

from __future__ import annotations

import sys
from typing import Any

from protocol.replies import ErrorReply
from server.client import origin
from storage.keyspace.key_changes import NOTHING


def calling(*lines: str, keep: list[Any] | None = None) -> Any:
    """A handler that runs *lines* as inner commands, and answers the reply of the last one.

    It adds (argv, origin, replies) to *keep*.
    """

    def handler(call: Any) -> Any:
        run, client = call.server.scripting.run, call.client
        run.begin(client, call.argv, b"name", 0, False)
        replies = [run.caller.run_inside(client, line.encode().split(), run) for line in lines]
        run.end()
        if keep is not None:
            keep.append((call.argv, call.origin, replies))
        return replies[-1]

    return handler


def test_the_reply_of_an_inner_command_can_be_answered(server: Any, declare: Any) -> None:
    declare("script", calling("SET a 1", "GET a"))
    assert server.send_line("script") == b"1"


def test_an_inner_command_does_not_change_the_outer_call(server: Any, declare: Any) -> None:
    kept: list[Any] = []
    declare("script", calling("SET a 1", "INCR a", keep=kept))
    server.send_line("script")
    argv, came_from, replies = kept[0]
    assert argv == [b"script"]
    assert came_from == origin.CLIENT
    assert replies[1] == 2


def test_inner_commands_are_logged_as_one_transaction(server: Any, declare: Any) -> None:
    declare("script", calling("SET a 1 EX 5", "RPUSH l x", "GET a"))
    server.send_line("script")
    assert server.transactions() == [[b"SET a 1 PXAT %d" % (server.now_ms + 5000), b"RPUSH l x"]]


def test_an_inner_command_knows_its_origin(server: Any, declare: Any) -> None:
    seen: list[tuple[int, bool]] = []
    declare("probe", lambda call: seen.append((call.origin, call.is_inside())))
    declare("script", calling("probe"))
    server.send_line("probe")
    server.send_line("script")
    for line in ("MULTI", "probe", "EXEC"):
        server.send_line(line)
    assert seen == [(origin.CLIENT, False), (origin.SCRIPT, True), (origin.EXEC, True)]


def test_an_inner_command_does_not_block(server: Any, declare: Any) -> None:
    declare("script", calling("BLPOP nothing 0"))
    assert server.owner.raw("script") == b"*-1\r\n"
    assert server.owner.client.waiter is None


def test_errors_of_inner_commands_are_values_and_do_not_abort_exec(
    server: Any, declare: Any
) -> None:
    kept: list[Any] = []
    declare("script", calling("NOSUCH x", "GET", "SET l x", "LPUSH l y", "PING", keep=kept))
    server.send_line("script")
    unknown, arity, _, wrong_type, last = kept[0][2]
    assert isinstance(unknown, ErrorReply)
    assert str(arity) == "ERR Wrong number of args calling Redis command from script"
    assert wrong_type.code == "WRONGTYPE"
    assert not isinstance(last, ErrorReply)
    assert not server.owner.client.dirty_exec


def test_over_maxmemory_an_inner_write_is_refused_and_a_read_is_not(
    server: Any, declare: Any
) -> None:
    server.send_line("SET a 1")
    kept: list[Any] = []
    declare("script", calling("SET b 1", "GET a", keep=kept))
    server.run_out_of_memory()
    server.send_line("script")
    refused, read = kept[0][2]
    assert refused.code == "OOM"
    assert read == b"1"


def test_an_inner_command_that_logs_nothing_leaves_the_others_logged(
    server: Any, declare: Any
) -> None:
    def quiet(call: Any) -> int:
        call.db.changed(b"q", b"set", 1, NOTHING)
        return 0

    declare("quiet", quiet)
    declare("script", calling("SET a 1", "quiet", "SET b 1"))
    server.send_line("script")
    assert server.transactions() == [[b"SET a 1", b"SET b 1"]]


def test_exec_does_not_keep_the_arguments_of_its_last_command(server: Any) -> None:
    """Once, they stayed in memory until the next EXEC, and were counted nowhere."""
    value = b"x" * 1000
    before = sys.getrefcount(value)
    for words in (["MULTI"], ["SET", "k", value], ["EXEC"], ["DEL", "k"], ["PING"]):
        server.send(*words)
    server.transactions()  # the recorded log holds the arguments, too
    assert sys.getrefcount(value) == before
