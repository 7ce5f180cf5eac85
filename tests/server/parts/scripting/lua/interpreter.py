"""A bare interpreter of Lua with the four libraries, compiled or plain as the server's are.

The tests' scripts have ``show(...)``, which writes values as text, so that values are the same if
their texts are, and ``try(f)``, which does so with what *f* returns or throws. *f* calls no native
in its last step: the plain version would not know the name of a function that is called so.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import lua_library  # noqa: F401  (first: see there)
from server.parts.scripting.lua.libraries import bit, cjson, cmsgpack, struct
from tests.twins import wrappers

COMPILED = not os.environ.get("PENSTOCK_UNCOMPILED")
FOLDER = wrappers.ROOT / "build" / "twins"
SOURCE = Path(__file__).with_name("compiled_interpreter.pyx")

PRELUDE = b"""local cjson, show, try, pass = cjson.new(); do
local function one(value)
    local kind = type(value)
    if kind == "number" then
        if value ~= value then return "nan" end
        return string.format("%.17g", value)
    elseif kind == "string" then
        return '"' .. value:gsub("[^%w ]", function(c) return "<" .. c:byte() .. ">" end) .. '"'
    elseif kind == "table" then
        local items = {}
        for key, item in pairs(value) do items[#items + 1] = one(key) .. "=" .. one(item) end
        table.sort(items)
        return "{" .. table.concat(items, ",") .. "}"
    elseif kind == "function" then
        return kind
    end
    return tostring(value)
end
function show(...)
    local texts = {}
    for i = 1, select("#", ...) do texts[i] = one((select(i, ...))) end
    return table.concat(texts, " ")
end
function try(f) return show(pcall(f)) end
function pass(...) return ... end
end
"""


class Interpreter(Protocol):
    """Runs scripts one after the other, in one state."""

    def run(self, source: bytes) -> bytes:
        """What the script returns, as text, or its error."""

    def depth(self) -> int:
        """How many values are on the stack."""


class PlainInterpreter:
    """The libraries as they run uncompiled."""

    def __init__(self, limit: int) -> None:
        self.L = lua.open_state(limit)
        lua.open_libraries(self.L)
        for library in (bit, cjson, cmsgpack, struct):
            library.install(self.L)  # only there if it is not compiled

    def run(self, source: bytes) -> bytes:
        lua.set_top(self.L, 0)
        if lua.load(self.L, source, b"@user_script") == 0:
            lua.call(self.L, 0, 1, 0)
        return lua.to_bytes(self.L, -1)

    def depth(self) -> int:
        return lua.top(self.L)


@functools.cache
def _compiled() -> Callable[[int], Interpreter]:
    found: Callable[[int], Interpreter] = wrappers.build(
        "compiled_interpreter", SOURCE.read_text(), FOLDER
    ).Interpreter
    return found


def new_interpreter(limit: int = 1 << 30) -> Interpreter:
    """A new one, whose scripts may take *limit* bytes."""
    return _compiled()(limit) if COMPILED else PlainInterpreter(limit)


def tried(expressions: list[bytes]) -> bytes:
    """A script that evaluates each expression, and returns all results, a line for each."""
    lines = (
        b"lines[#lines + 1] = try(function() return pass(%b) end)\n" % text for text in expressions
    )
    return PRELUDE + b"local lines = {}\n" + b"".join(lines) + b'return table.concat(lines, "\\n")'
