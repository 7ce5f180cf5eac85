"""What a script may do, and what it leaves as it was."""

from __future__ import annotations

from typing import Any

import pytest

from tests.worth import COMPILED, rounds

COMPILED_ONLY = pytest.mark.skipif(not COMPILED, reason="uncompiled, memory has no limit")


def test_a_script_does_not_change_its_clients_database_and_protocol(server: Any) -> None:
    server.send("HELLO", 3)
    script = "redis.call('SELECT', 2) redis.setresp(2) redis.call('SET', 'a', 1) return 1"
    assert server.send("EVAL", script, 0) == 1
    assert server.owner.client.db_index == 0
    assert server.owner.client.resp == 3


def test_after_an_error_too(server: Any) -> None:
    assert server.send("EVAL", "redis.call('SELECT', 2) error('x')", 0).startswith("-ERR")
    assert server.owner.client.db_index == 0


def test_an_error_of_a_command_is_counted_once(server: Any) -> None:
    server.send("EVAL", "return redis.call('LPUSH')", 0)
    server.send("EVAL", "return redis.pcall('LPUSH')", 0)
    server.send("EVAL", "error('own')", 0)
    assert server.state.stats.errors == 3


def test_a_script_that_returns_an_error_has_failed(server: Any) -> None:
    server.send("CONFIG", "RESETSTAT")
    server.send("EVAL", "return {1, {err = 'MINE x'}, redis.error_reply('no code')}", 0)
    server.send("EVAL", "return redis.pcall('LPUSH')", 0)
    server.send("EVAL", "redis.pcall('LPUSH') return 1", 0)
    assert server.state.stats.errors_by_code == {"MINE": 1, "no": 1, "ERR": 2}
    assert "cmdstat_eval:calls=3" in (stats := server.send("INFO", "commandstats").decode())
    assert "failed_calls=2" in stats.partition("cmdstat_eval:")[2].partition("\r\n")[0]


def test_scripts_that_return_ever_new_errors_do_not_fill_the_memory(server: Any) -> None:
    for number in range(200):
        server.send("EVAL", "return {err = ARGV[1]}", 0, f"E{number} x")
    assert server.state.stats.errors_by_code == {"ERRORSTATS_DISABLED": 1}
    assert server.state.stats.errors == 200
    server.send("CONFIG", "RESETSTAT")
    server.send("EVAL", "return {err = 'A:B x'}", 0)
    assert b"errorstat_A_B:count=1" in server.send("INFO", "errorstats")


def test_an_error_of_one_word_stays_one_word(server: Any) -> None:
    assert server.owner.raw("EVAL", "return redis.error_reply('')", 0) == b"-ERR \r\n"
    assert server.send("EVAL", "error({err = 'alone'})", 0).startswith("-alone script: ")


def test_the_commands_of_a_script_are_counted(server: Any) -> None:
    server.send("CONFIG", "RESETSTAT")
    server.send("EVAL", "for i = 1, 5 do redis.call('INCR', 'a') end", 0)
    stats = server.send("INFO", "commandstats").decode()
    assert "cmdstat_incr:calls=5" in stats
    assert "cmdstat_eval:calls=1" in stats


def test_over_maxmemory_a_script_goes_on_once_it_has_written(server: Any) -> None:
    server.send("SET", "a", 1)
    script = "redis.call('DEL', 'a') return redis.call('SET', 'b', 1)"
    server.run_out_of_memory()
    refused = server.send("EVAL", "return redis.call('SET', 'b', 1)", 0)
    assert refused.startswith("-OOM command not allowed when used memory > 'maxmemory'")
    assert server.send("EVAL", script, 0) == b"OK"


def test_over_maxmemory_the_flags_of_a_script_decide(server: Any) -> None:
    server.send("SET", "a", 1)
    server.run_out_of_memory()
    body = "\nreturn redis.call('SET', 'b', 1)"
    refused = server.send("EVAL", "#!lua" + body, 0)
    assert refused.startswith("-OOM command not allowed when used memory > 'maxmemory'.")
    assert server.send("EVAL", "#!lua flags=allow-oom" + body, 0) == b"OK"
    assert server.send("EVAL", "#!lua flags=no-writes\nreturn redis.call('GET', 'a')", 0) == b"1"


STALE = "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
READ_ONLY = "-READONLY You can't write against a read only replica."


def stale(server: Any) -> None:
    """Let it follow a primary that does not exist."""
    server.send("CONFIG", "SET", "replica-serve-stale-data", "no")
    server.send("REPLICAOF", "127.0.0.1", 1)


def test_stale_data_are_read_by_no_script_that_does_not_say_so(server: Any) -> None:
    stale(server)
    assert server.send("EVAL", "return 1", 0) == STALE
    assert server.send("EVAL_RO", "return 1", 0) == STALE
    assert server.send("EVAL", "#!lua flags=no-writes\nreturn 1", 0) == STALE
    assert server.send("EVAL", "#!lua\nreturn 1", 0) == READ_ONLY
    assert server.send("EVAL_RO", "#!lua\nreturn 1", 0) == READ_ONLY
    allowed = "#!lua flags=no-writes,allow-stale\n"
    assert server.send("EVAL", allowed + "return redis.call('ECHO', 'a')", 0) == b"a"
    assert server.send("EVAL", allowed + "return redis.call('GET', 'a')", 0).startswith(
        "-ERR Can not execute the command on a stale replica"
    )
    server.send("MULTI")
    assert server.send("EVAL", "return 1", 0) == b"QUEUED"
    assert server.send("EXEC") == [STALE]


def test_a_script_that_may_write_needs_enough_replicas(server: Any) -> None:
    library = "#!lua name=l\nredis.register_function('w', function() return 1 end)"
    server.send("FUNCTION", "LOAD", library)
    server.send("CONFIG", "SET", "min-replicas-to-write", 1)
    too_few = "-NOREPLICAS Not enough good replicas to write."
    assert server.send("EVAL", "#!lua\nreturn 1", 0) == too_few
    assert server.send("FCALL", "w", 0) == too_few
    assert server.send("FCALL_RO", "w", 0) == too_few
    assert server.send("EVAL", "#!lua flags=no-writes\nreturn 1", 0) == 1
    assert server.send("EVAL", "return 1", 0) == 1
    server.send("MULTI")
    assert server.send("FCALL", "w", 0) == too_few
    assert server.send("EXEC").startswith("-EXECABORT")


def test_a_script_without_writes_runs_while_writes_are_paused(server: Any) -> None:
    server.send("CLIENT", "PAUSE", 1000, "WRITE")
    assert server.send("EVAL", "#!lua flags=no-writes\nreturn 1", 0) == 1
    server.send("MULTI")
    server.send("EVAL", "#!lua flags=no-writes\nreturn 1", 0)
    assert server.send("EXEC") == [1]
    server.send("EVAL", "#!lua\nreturn 1", 0)
    assert server.owner.client.postponed is not None


def test_monitor_shows_a_script_before_its_commands(server: Any) -> None:
    guest = server.client()
    guest.send("MONITOR")
    server.send("EVAL", "redis.call('SET', 'a', 'b')", 0)
    shown = guest.client.out.take().decode().splitlines()
    assert shown[0].endswith("\"EVAL\" \"redis.call('SET', 'a', 'b')\" \"0\"")
    assert shown[1].endswith('lua] "SET" "a" "b"')


@COMPILED_ONLY
@pytest.mark.parametrize(
    "script",
    [
        "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end",
        "local s = 'x' while true do s = s .. s end",
        "return string.rep('x', 2^31)",
        "local t = {} for i = 1, 2^26 do t[i] = i end",
        "return table.concat({('x'):rep(2^20), ('y'):rep(2^20)}, ('z'):rep(2^24))",
    ],
)
def test_the_memory_of_scripts_has_a_limit(server: Any, script: str) -> None:
    server.send("CONFIG", "SET", "lua-memory-limit", "16mb")
    assert "not enough memory" in server.send("EVAL", script, 0)
    assert server.send("EVAL", "return 1", 0) == 1


@COMPILED_ONLY
@pytest.mark.parametrize(
    "script",
    [
        "local s = ('x'):rep(600000) return {s, s}",
        "local t = {} for i = 1, 20000 do t[i] = 'x' end return {t, t, t, t, t, t, t, t, t, t}",
        "return '" + "x" * 2_000_000 + "'",
        "return {" + "redis.call('GET', 'a'), " * 40 + "}",
    ],
    ids=["strings", "tables", "text", "replies"],
)
def test_the_limit_holds_for_texts_results_and_many_replies(server: Any, script: str) -> None:
    server.send("CONFIG", "SET", "lua-memory-limit", "1mb")
    server.send("SET", "a", b"x" * 300_000)
    assert "not enough memory" in server.send("EVAL", script, 0)
    assert server.send("EVAL", "return 1", 0) == 1


def test_replies_that_are_gone_count_no_more(server: Any) -> None:
    server.send("CONFIG", "SET", "lua-memory-limit", "1mb")
    server.send("SET", "a", b"x" * 3_000_000)
    script = "for i = 1, 20 do redis.call('GET', 'a') end return #redis.call('GET', 'a')"
    assert server.send("EVAL", script, 0) == 3_000_000


def test_replies_may_be_larger_than_the_limit_of_scripts(server: Any) -> None:
    server.send("CONFIG", "SET", "lua-memory-limit", "1mb")
    server.send("SET", "a", b"x" * 3_000_000)
    assert server.send("EVAL", "return #redis.call('GET', 'a')", 0) == 3_000_000


def test_a_reply_is_not_deeper_than_the_stack(server: Any) -> None:
    raw = server.owner.raw("EVAL", "local t = {} t[1] = t return t", 0)
    assert raw.endswith(b"-ERR reached lua stack limit\r\n")


def test_a_script_that_returns_a_million_values(server: Any) -> None:
    count = rounds(1_000_000)
    script = f"local t = {{}} for i = 1, {count} do t[i] = i end return t"
    assert server.send("EVAL", script, 0)[-1] == count


def test_a_blocking_command_does_not_wait_in_a_script(server: Any) -> None:
    for call in ("'BLPOP', 'none', 0", "'XREAD', 'BLOCK', 0, 'STREAMS', 's', '$'"):
        assert server.send("EVAL", f"return redis.call({call})", 0) is None


def test_set_repl_is_refused(server: Any) -> None:
    refused = server.send("EVAL", "redis.set_repl(redis.REPL_NONE)", 0)
    assert refused.startswith("-ERR redis.set_repl() can only be used with redis.REPL_ALL")


@pytest.mark.skipif(not COMPILED, reason="uncompiled, Lua cannot say where it was")
def test_an_error_in_a_tail_call_says_where(server: Any) -> None:
    refused = server.send("EVAL", "\nreturn redis.call('nosuch')", 0)
    assert refused.endswith(", on @user_script:2.")


@pytest.mark.parametrize("name", ["eval_ro", "evalsha_ro", "fcall_ro"])
def test_a_script_that_reads_is_no_read_for_acl(server: Any, name: str) -> None:
    """Redis 7.0.15: ``-@read`` leaves scripts, whose commands are asked for one by one."""
    (row,) = server.send("COMMAND", "INFO", name)
    assert "movablekeys" in str(row[2])
    assert "@scripting" in str(row[6])
    assert "@read" not in str(row[6])


def test_the_time_that_lua_takes_is_the_scripts_and_not_its_commands(server: Any) -> None:
    server.send("CONFIG", "SET", "slowlog-log-slower-than", 10_000)
    server.send("EVAL", "for i = 1, 10000000 do end redis.call('PING')", 0)
    assert [entry[3][0] for entry in server.send("SLOWLOG", "GET")] == [b"EVAL"]


def test_a_result_that_nobody_is_given_is_not_part_of_the_next_one(server: Any) -> None:
    server.send("CLIENT", "REPLY", "SKIP")
    server.send("EVAL", "return 'unseen'", 0)
    server.send("EVAL", "return {'begun', {err = 'whole'}, function() end}", 0)
    assert server.send("EVAL", "return 'seen'", 0) == b"seen"


def test_a_result_that_was_too_large_for_its_client_does_not_spoil_the_next_one(
    server: Any,
) -> None:
    server.owner.client.out.limit = 1000
    server.send("EVAL", "return string.rep('x', 2000000)", 0)  # no buffer that is kept is so long
    assert server.owner.client.out.overflown
    assert server.client().send("EVAL", "return 'seen'", 0) == b"seen"


def test_results_of_a_transaction_are_those_of_its_scripts(server: Any) -> None:
    server.send("MULTI")
    for number in range(3):
        server.send("EVAL", f"return {{'{number}', KEYS[1], ARGV[1]}}", 1, "k", number)
    assert server.send("EXEC") == [[b"%d" % n, b"k", b"%d" % n] for n in range(3)]


def test_scripts_take_turns(server: Any) -> None:
    sha = server.send("SCRIPT", "LOAD", "return 'known'")
    for _ in range(3):
        assert server.send("EVAL", "return 1", 0) == 1
        assert server.send("EVAL", "return 2", 0) == 2
        assert server.send("EVALSHA", sha, 0) == b"known"
    server.send("SCRIPT", "FLUSH")
    assert server.send("EVALSHA", sha, 0).startswith("-NOSCRIPT")


def test_commands_of_a_script_take_turns(server: Any) -> None:
    calls = "redis.call('SET', 'a', i) redis.call('INCR', 'a')"
    script = f"for i = 1, 2 do {calls} end return redis.call('get', 'a')"
    assert server.send("EVAL", script, 0) == b"3"


def test_words_of_one_command_after_the_other_are_their_own(server: Any) -> None:
    server.send("CONFIG", "SET", "slowlog-log-slower-than", 0)
    words = ("a", "", "ab", "ab", "b", 1, "1", 2.5, "a")
    table = ", ".join(f"'{word}'" if isinstance(word, str) else str(word) for word in words)
    script = (
        f"for _, word in ipairs({{{table}}}) do redis.call('RPUSH', KEYS[1], word) end "
        "redis.call('SET', 'long', string.rep('x', 100)) redis.pcall('RPUSH', KEYS[1], {}) "
        "return redis.call('LRANGE', KEYS[1], 0, -1)"
    )
    expected = [str(word).encode() for word in words]
    assert server.send("EVAL", script, 1, "l") == expected
    pushes = [entry[3] for entry in server.send("SLOWLOG", "GET", -1) if entry[3][0] == b"RPUSH"]
    assert pushes == [[b"RPUSH", b"l", word] for word in reversed(expected)]


def test_words_of_one_script_after_the_other_are_their_own(server: Any) -> None:
    values = [b"1", b"2", b"long" * 100, b"3", b"3"]
    for at, value in enumerate(values):
        server.send("EVAL", "redis.call('RPUSH', KEYS[1], ARGV[1], ARGV[2])", 1, "k", value, at)
    assert server.send("LRANGE", "k", 0, -1) == [
        word for at, value in enumerate(values) for word in (value, b"%d" % at)
    ]


def test_the_first_key_of_a_script_may_be_any_word_of_its_commands(server: Any) -> None:
    script = (
        "redis.call('SET', KEYS[1], KEYS[1]) redis.call('RPUSH', 'all', KEYS[2], KEYS[1], 'end') "
        "return redis.call('GET', KEYS[1])"
    )
    keys = [b"a", b"b", b"SET", b"GET", b"", b"k" * 100, b"a"]
    for key in keys:
        assert server.send("EVAL", script, 2, key, b"other" + key) == key
    words = [word for key in keys for word in (b"other" + key, key, b"end")]
    assert server.send("LRANGE", "all", 0, -1) == words
    assert server.send("EVAL", "return redis.call('GET', 'b')", 0) == b"b"


def test_a_result_of_whatever_size_is_whole(server: Any) -> None:
    for size in (0, 1, 9, 10, 4095, 4096, 4097, 65535, 65536, 1_000_000):
        assert server.send("EVAL", "return {ARGV[1], 'x'}", 0, b"v" * size) == [b"v" * size, b"x"]


def test_values_of_a_script_grow_and_shrink(server: Any) -> None:
    script = """
        local t, all = {}, {}
        for round = 1, 20 do
            for i = 1, 300 do t[i] = string.rep(i % 7, (i * round) % 300) end
            for i = 1, 300, 3 do t[i] = nil end
            for i = 2, 300, 3 do
                if t[i] ~= string.rep(i % 7, (i * round) % 300) then return i end
            end
            all[round] = table.concat({unpack(t, 2, 3)})
            if round % 5 == 0 then collectgarbage() t = {} end
        end
        return #all
    """
    assert server.send("EVAL", script, 0) == 20
