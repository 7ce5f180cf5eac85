"""A script that runs on and on: others are told so, and may end it; nobody sees half of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from server.process import ticks
from server.process.shutdown import NoShutdown
from server.process.timers import NoTimers
from tests.server.conftest import NOTHING
from tests.worth import COMPILED

FOREVER = "while true do end"
CATCHING = "while true do pcall(function() while true do end end) end"
BUSY = "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
BUSY_FUNCTION = BUSY.replace("SCRIPT", "FUNCTION")
UNKILLABLE = "-UNKILLABLE Sorry the script already executed write commands"
LIBRARY = "#!lua name=l\nredis.register_function('loop', function() while true do end end)"
COMPILED_ONLY = pytest.mark.skipif(
    not COMPILED, reason="uncompiled, an end does not reach handlers, nor coroutines in coroutines"
)


class Loop(NoTimers):
    """Resumes suspended scripts when the test says so."""

    def __init__(self, server: Any) -> None:
        self._calls: list[Callable[[], None]] = []
        self._server = server
        server.dispatcher.long_scripts.timers = self
        server.send("CONFIG", "SET", "busy-reply-threshold", 1)

    def run_script_soon(self) -> None:
        self._calls.append(self._server.dispatcher.resume_script)

    def turn(self) -> bool:
        """Resume the script; False if none is suspended."""
        calls, self._calls = self._calls, []
        for call in calls:
            self._server.turn(call)
        return bool(calls)

    def run_out(self) -> None:
        """Let it run to its end."""
        while self.turn():
            pass


@pytest.fixture
def loop(server: Any) -> Loop:
    return Loop(server)


def test_others_are_told_that_a_script_runs(server: Any, loop: Loop) -> None:
    other = server.client()
    assert server.send("EVAL", FOREVER, 0) == NOTHING
    assert other.send("GET", "a") == BUSY
    assert other.send("PING") == BUSY
    assert other.send("EVAL", "return 1", 0) == BUSY
    assert other.send("MULTI") == b"OK"
    assert other.send("GET", "a") == BUSY
    assert other.send("DISCARD") == b"OK"
    assert other.send("SCRIPT", "KILL") == b"OK"
    loop.run_out()
    assert server.owner.reply().startswith(
        "-ERR Script killed by user with SCRIPT KILL... script: "
    )
    assert other.send("PING") == b"PONG"


def test_a_script_that_catches_errors_is_ended_too(server: Any, loop: Loop) -> None:
    assert server.send("EVAL", CATCHING, 0) == NOTHING
    assert server.client().send("SCRIPT", "KILL") == b"OK"
    loop.run_out()
    assert server.owner.reply().startswith("-ERR Script killed")


@pytest.mark.parametrize(
    "script",
    [
        "local c = coroutine.wrap(function() while true do end end) while true do c() end",
        "table.sort({3,2,1}, function() while true do end end)",
        "string.gsub('a', 'a', function() while true do end end)",
        "local t = setmetatable({}, {__index = function() while true do end end}) return t.x",
        "while true do local f = loadstring('while true do end') pcall(f) end",
        pytest.param(
            "local function f() while true do coroutine.resume(coroutine.create(f)) end end f()",
            marks=COMPILED_ONLY,
        ),
        pytest.param(
            "local function f() while true do pcall(coroutine.wrap(f)) end end f()",
            marks=COMPILED_ONLY,
        ),
        "local t = {} t[1], t[2] = t, t return t",
        pytest.param(
            "while true do xpcall(error, function() while true do end end) end",
            marks=COMPILED_ONLY,
        ),
    ],
)
def test_a_script_is_ended_wherever_it_runs(server: Any, loop: Loop, script: str) -> None:
    assert server.send("EVAL", script, 0) == NOTHING
    assert server.client().send("SCRIPT", "KILL") == b"OK"
    loop.run_out()
    assert server.owner.reply().startswith("-ERR Script killed")
    assert server.send("EVAL", "return 1", 0) == 1


def test_an_ended_script_is_told_where_it_was_not_where_the_sandbox_was(
    server: Any, loop: Loop
) -> None:
    server.send("EVAL", "\nwhile true do for _ = 1, 9 do pcall(unpack, {}) end end", 0)
    server.client().send("SCRIPT", "KILL")
    loop.run_out()
    assert server.owner.reply().endswith("on @user_script:2.")


def test_a_script_that_has_written_is_not_ended(server: Any, loop: Loop) -> None:
    script = "redis.call('SET', 'a', 1) for i = 1, 3000000 do end return redis.call('INCR', 'a')"
    other = server.client()
    assert server.send("EVAL", script, 0) == NOTHING
    assert other.send("SCRIPT", "KILL").startswith(UNKILLABLE)
    assert server.transactions() == []
    loop.run_out()
    assert server.owner.reply() == 2
    assert server.transactions() == [[b"SET a 1", b"INCR a"]]


def test_a_function_is_ended_by_function_kill(server: Any, loop: Loop) -> None:
    other = server.client()
    server.send("FUNCTION", "LOAD", LIBRARY)
    assert server.send("FCALL", "loop", 0) == NOTHING
    assert other.send("GET", "a") == BUSY_FUNCTION
    assert other.send("SCRIPT", "KILL") == BUSY_FUNCTION
    running = other.send("FUNCTION", "STATS")[1]
    assert running[:4] == [b"name", b"loop", b"command", [b"FCALL", b"loop", b"0"]]
    assert other.send("FUNCTION", "KILL") == b"OK"
    loop.run_out()
    assert server.owner.reply().startswith("-ERR Script killed by user with SCRIPT KILL...")
    assert other.send("FUNCTION", "STATS")[1] is None


def test_a_script_in_a_transaction_is_left_and_the_transaction_is_whole(
    server: Any, loop: Loop
) -> None:
    other = server.client()
    for words in (
        ["MULTI"],
        ["SET", "a", 1],
        ["EVAL", "for i = 1, 3000000 do end return redis.call('INCR', 'a')", 0],
        ["INCR", "a"],
    ):
        server.send(*words)
    assert server.send("EXEC") == NOTHING
    assert other.send("GET", "a") == BUSY
    loop.run_out()
    assert server.owner.reply() == [b"OK", 2, 3]
    assert server.transactions() == [[b"SET a 1", b"INCR a", b"INCR a"]]


def test_waiting_clients_are_served_when_the_script_ends(server: Any, loop: Loop) -> None:
    waiter, other = server.client(), server.client()
    waiter.send("BLPOP", "l", 0)
    server.send("EVAL", "redis.call('RPUSH', 'l', 'x') for i = 1, 3000000 do end", 0)
    other.send("MULTI")
    server.turn()
    assert waiter.reply() == NOTHING
    loop.run_out()
    assert waiter.reply() == [b"l", b"x"]


def test_time_stands_still_in_a_script_that_was_left(server: Any, loop: Loop) -> None:
    count = "for i = 1, 3000000 do end"
    script = f"redis.call('SET', 'a', 1, 'PX', 50) {count} return redis.call('GET', 'a')"
    assert server.send("EVAL", script, 0) == NOTHING
    server.now_ms += 1000
    server.client().send("MULTI")
    loop.run_out()
    assert server.owner.reply() == b"1"
    assert server.send("GET", "a") is None


def test_a_client_that_has_left_does_not_end_its_script(server: Any, loop: Loop) -> None:
    client, other = server.client(), server.client()
    client.send("EVAL", "redis.call('SET', 'a', 1) for i = 1, 3000000 do end", 0)
    client.leave()
    assert other.send("GET", "a") == BUSY
    loop.run_out()
    assert other.send("GET", "a") == b"1"


def test_the_whole_time_of_a_script_that_was_left_is_counted(server: Any, loop: Loop) -> None:
    server.send("CONFIG", "SET", "slowlog-log-slower-than", 2000)
    begun = ticks.now_ns()
    server.send("EVAL", "for i = 1, 3000000 do end", 0)
    loop.run_out()
    server.owner.reply()
    taken_us = (ticks.now_ns() - begun) // 1000
    entry = server.send("SLOWLOG", "GET", 1)[0]
    assert entry[3][0] == b"EVAL"
    assert 2000 <= entry[2] <= taken_us


def test_no_script_is_busy(server: Any) -> None:
    assert server.send("SCRIPT", "KILL") == "-NOTBUSY No scripts in execution right now."
    assert server.send("FUNCTION", "KILL") == "-NOTBUSY No scripts in execution right now."


def test_shutdown_waits_for_a_script_but_for_nosave(server: Any, loop: Loop) -> None:
    stops: list[frozenset[bytes]] = []

    class Stops(NoShutdown):
        def begin(self, options: frozenset[bytes]) -> bool:
            stops.append(options)
            return True

    server.state.shutdown = Stops()
    other = server.client()
    server.send("EVAL", FOREVER, 0)
    assert other.send("SHUTDOWN") == BUSY
    assert other.send("SHUTDOWN", "SAVE") == BUSY
    assert other.send("SHUTDOWN", "NOSAVE") == NOTHING
    assert stops == [frozenset([b"NOSAVE"])]
    server.state.scripting.run.end_if_unwritten()
    loop.run_out()


def test_a_script_that_was_held_back_runs_amid_the_command_that_lets_it_go_on(server: Any) -> None:
    other = server.client()
    server.send("CLIENT", "PAUSE", 100_000, "WRITE")
    assert other.send("EVAL", "return 'held'", 0) == NOTHING
    server.send("MULTI")
    server.send("EVAL_RO", "return 'first'", 0)
    server.send("CLIENT", "UNPAUSE")
    server.send("EVAL_RO", "return 'last'", 0)
    assert server.send("EXEC") == [b"first", b"OK", b"last"]
    assert other.reply() == b"held"
