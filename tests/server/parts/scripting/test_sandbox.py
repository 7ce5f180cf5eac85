"""Scripts reach nothing but what they are given: each known way out of the sandbox is closed."""

from __future__ import annotations

from typing import Any

import pytest

MISSING = "Script attempted to access nonexistent global variable"
READ_ONLY = "Attempt to modify a readonly table"


def answer(server: Any, script: str) -> Any:
    return server.send("EVAL", script, 0)


@pytest.mark.parametrize(
    "name",
    ["io", "package", "require", "module", "debug", "dofile", "loadfile", "newproxy", "getfenv",
     "setfenv", "print", "python", "arg"],
)  # fmt: skip
def test_what_could_lead_out_is_missing(server: Any, name: str) -> None:
    assert MISSING in answer(server, f"return {name}")
    assert answer(server, f"return tostring(rawget(_G, '{name}'))") == b"nil"


def test_os_has_its_clock_only(server: Any) -> None:
    script = "local t = {} for name in pairs(os) do t[#t + 1] = name end return t"
    assert answer(server, script) == [b"clock"]


@pytest.mark.parametrize(
    "script",
    [
        "x = 1",
        "_G.x = 1",
        "rawset(_G, 'x', 1)",
        "string.upper = nil",
        "rawset(string, 'upper', nil)",
        "redis.call = nil",
        "rawset(redis, 'call', nil)",
        "table.insert = nil",
        "math.pi = 3",
        "cjson.encode = nil",
        "_G.string = nil",
        "getmetatable('').__index = nil",
        "getmetatable('').__index.upper = nil",
        "getmetatable('x').__tostring = nil",
        "setmetatable(_G, nil)",
        "setmetatable(string, {})",
        "KEYS = nil",
        "coroutine.wrap(function() x = 1 end)()",
        "loadstring('x = 1')()",
        "load(function() return nil end) redis.pcall = nil",
    ],
)
def test_what_scripts_share_cannot_be_changed(server: Any, script: str) -> None:
    assert READ_ONLY in answer(server, script)


@pytest.mark.parametrize(
    "script",
    [
        "table.insert(string, 1, 'x')",
        "table.sort(redis)",
        "table.remove(math)",
        "next(redis)",
        "table.foreach(redis, function(k, v) v = nil end)",
    ],
)
def test_what_stands_for_a_table_is_none(server: Any, script: str) -> None:
    assert "table expected, got userdata" in answer(server, script)


def test_a_copy_of_a_library_can_be_changed_and_changes_nothing(server: Any) -> None:
    script = "local f, t = pairs(redis) t.call = function() return 'evil' end return 1"
    assert answer(server, script) == 1
    assert answer(server, "return redis.call('PING')") == b"PONG"


def test_cve_2025_46818_no_metatable_of_a_basic_type_is_changed_for_others(server: Any) -> None:
    for value in ("''", "1", "nil", "true", "function() end", "cjson.null"):
        server.send("EVAL", f"local m = getmetatable({value}) if m then m.__index = error end", 0)
        server.send("EVAL", f"setmetatable({value}, {{__index = error}})", 0)
    assert answer(server, "return ('x'):upper()") == b"X"
    assert "attempt to index" in answer(server, "local n = 1 return n.x")


def test_cve_2025_46817_unpack_counts_without_overflow(server: Any) -> None:
    for words in ("-2^31, 2^31 - 1", "0, 2147483647", "1, 2^31", "-2147483648, 2147483646"):
        refused = answer(server, f"local x = unpack({{1}}, {words}) return x")
        assert "too many results to unpack" in refused
    assert answer(server, "return {unpack({1, 2, 3}, -1, 0)}") == []


@pytest.mark.parametrize(
    "range_",
    ["2^31", "'2147483648'", "2^31, 3", "2^31 - 0.4", "2^32, 2", "1, 2^31", "0/0", "1, 0/0"],
)
def test_cve_2025_46817_what_is_no_int_is_not_cut_to_one(server: Any, range_: str) -> None:
    """Once, ``unpack({}, 2^31)`` ended the process: it unpacked from -2^31."""
    assert "too many results to unpack" in answer(server, f"return {{unpack({{1, 2}}, {range_})}}")
    assert answer(server, "return {unpack({1, 2, 3}, 2, 1)}") == []


def test_cve_2025_49844_nothing_is_collected_while_a_script_is_read(server: Any) -> None:
    script = """
        for i = 1, 200 do
            local name = ('n'):rep(1000) .. i
            local text = ('"' .. ('s'):rep(2000) .. i .. '" .. '):rep(50)
            local f = loadstring('return ' .. text .. '""', name)
            assert(#f() > 100000)
            collectgarbage()
        end
        return 1
    """
    assert answer(server, script) == 1


def test_cve_2024_46981_the_collector_cannot_be_stopped(server: Any) -> None:
    answer(server, "collectgarbage('stop')")
    answer(server, "for i = 1, 200000 do local t = {('x'):rep(100) .. i} end")
    assert server.state.scripting.vm_memory < 20_000_000


@pytest.mark.parametrize(
    "script",
    [
        "return loadstring('\\27Lua')",
        "return select(2, loadstring('\\27LuaQ\\0\\1\\4\\8\\4\\8\\0'))",
        "local given = false return select(2, load(function()"
        " if given then return nil end given = true return '\\27LuaQ' end))",
    ],
)
def test_bytecode_is_not_loaded(server: Any, script: str) -> None:
    given = answer(server, script)
    assert given is None or b"char(27)" in given


@pytest.mark.parametrize("words", [["EVAL", b"\x1bLuaQ", 0], ["SCRIPT", "LOAD", b"\x1bLuaQ"]])
def test_a_script_is_no_bytecode(server: Any, words: list[Any]) -> None:
    assert server.send(*words) == (
        "-ERR Error compiling script (new function): user_script:1: unexpected symbol near"
        " 'char(27)'"
    )


def test_there_is_no_bytecode_to_be_had(server: Any) -> None:
    assert answer(server, "return tostring(string.dump)") == b"nil"


def test_a_long_pattern_does_not_exhaust_the_stack(server: Any) -> None:
    for call in ("find(s, p)", "match(s, p)", "gsub(s, p, '')", "gmatch(s, p)()"):
        script = f"local s, p = ('a'):rep(500000), ('a?'):rep(500000) return string.{call}"
        assert "pattern too long" in answer(server, script)


@pytest.mark.parametrize("place", ["-2^31", "2^31", "0/0", "'-2147483648'", "-1/0"])
def test_insert_does_not_move_what_is_not_there(server: Any, place: str) -> None:
    assert "position out of bounds" in answer(server, f"table.insert({{1}}, {place}, 2)")


def test_insert_is_lua_s_otherwise(server: Any) -> None:
    script = """
        local t = {1, 2}
        table.insert(t, 3)
        table.insert(t, 1, 0)
        table.insert(t, 5, 4)
        local shown = table.concat(t, ' ')
        table.insert(t, -5, 5)
        return shown .. ' ' .. t[-5]"""
    assert answer(server, script) == b"0 1 2 3 4 5"
    assert "wrong number of arguments to 'insert'" in answer(server, "table.insert({}, 1, 2, 3)")


def test_deep_recursion_is_an_error(server: Any) -> None:
    assert "stack overflow" in answer(server, "local function f() return 1 + f() end return f()")
    assert "C stack overflow" in answer(
        server, "local function f() return coroutine.wrap(f)() end return f()"
    )
    nested = "return " + "(" * 500 + "1" + ")" * 500
    assert "-ERR Error compiling script" in answer(server, nested)
    assert answer(server, "return 1") == 1


def test_an_error_handler_that_fails_does_not_hang(server: Any) -> None:
    assert answer(server, "return xpcall(error, function() error() end)") is None
    assert "-ERR" in answer(server, "error(setmetatable({}, {__index = error}))")


def test_a_script_cannot_leave_its_words_behind(server: Any) -> None:
    server.send("EVAL", "return 1", 1, "secret", "argument")
    assert server.send("EVAL", "return {#KEYS, #ARGV}", 0) == [0, 0]
    library = "#!lua name=l\nredis.register_function('f', function() return KEYS end)"
    server.send("FUNCTION", "LOAD", library)
    assert MISSING in server.send("FCALL", "f", 0)


def test_a_library_that_is_loaded_reaches_no_data(server: Any) -> None:
    for call in ("redis.call('GET', 'a')", "redis.pcall('GET', 'a')", "redis.setresp(3)"):
        refused = server.send("FUNCTION", "LOAD", f"#!lua name=l\n{call}")
        assert MISSING in refused


def test_a_registration_that_was_kept_registers_nothing_later(server: Any) -> None:
    library = (
        "#!lua name=l\nlocal r = redis\n"
        "r.register_function('f', function() r.register_function('g', function() end) end)"
    )
    server.send("FUNCTION", "LOAD", library)
    assert "can only be called on FUNCTION LOAD" in server.send("FCALL", "f", 0)
