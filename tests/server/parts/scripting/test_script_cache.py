"""Which scripts are kept, and what they hold."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from server.parts.scripting.script_cache import MOST_BY_EVAL


def number_of_scripts(server: Any) -> int:
    return int(server.state.scripting.counts()[0])


def test_of_the_scripts_that_eval_has_brought_the_least_recently_used_goes(server: Any) -> None:
    first = server.send("EVAL", "return redis.sha1hex('return 0')", 0)
    for number in range(MOST_BY_EVAL - 1):
        server.send("EVAL", f"return {number}", 0)
    server.send("EVALSHA", first, 0)
    server.send("EVAL", "return 'one more'", 0)
    server.send("EVAL", "return 'another'", 0)
    assert number_of_scripts(server) == MOST_BY_EVAL
    assert server.send("EVALSHA", first, 0) == 0
    assert server.send("SCRIPT", "EXISTS", first) == [1]
    assert server.state.scripting.evicted == 2


def test_a_script_that_was_loaded_stays(server: Any) -> None:
    sha = server.send("SCRIPT", "LOAD", "return 'stays'")
    for number in range(MOST_BY_EVAL + 10):
        server.send("EVAL", f"return {number}", 0)
    assert server.send("EVALSHA", sha, 0) == b"stays"
    assert number_of_scripts(server) == MOST_BY_EVAL + 1


def test_a_flush_gives_the_memory_back(server: Any) -> None:
    gc.collect()  # garbage of other tests
    before = server.state.memory.used()
    for number in range(100):
        server.send("EVAL", f"return '{'x' * 1000}{number}'", 0)
    server.state.scripting.tick(0)
    assert server.state.memory.used() > before + 200_000
    server.send("SCRIPT", "FLUSH")
    assert server.state.memory.used() < before + 10_000
    assert server.send("EVAL", "return 1", 0) == 1


def test_a_script_that_is_no_lua_is_not_kept(server: Any) -> None:
    assert server.send("EVAL", "return (", 0).startswith("-ERR Error compiling script")
    assert number_of_scripts(server) == 0


@pytest.mark.parametrize("command", ["EVAL", "EVAL_RO", "EVALSHA", "FCALL", "FCALL_RO"])
def test_a_huge_number_of_keys_is_refused(server: Any, command: str) -> None:
    server.send("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() end)")
    server.send("SCRIPT", "LOAD", "return 1")
    name = {"EVALSHA": "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "FCALL": "f", "FCALL_RO": "f"}
    words = (command, name.get(command, "return 1"), 2**62, "a")
    assert server.send(*words) == "-ERR Number of keys can't be greater than number of args"
