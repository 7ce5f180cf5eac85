"""Lua's C interface, as far as it is used: the plain versions of the C functions in lua_api.pxd.

*L* is an interpreter, or one of its coroutines; *at* is a place on its stack: 1 is the bottom, -1
the top, REGISTRY and GLOBALS are tables. What each function does is in Lua's manual
(www.lua.org/manual/5.1), under the name that is given here if it differs.

A *native* is a function of ours that scripts can call: it takes *L*, leaves its results on the
stack, and returns their number; or it leaves an error there, and returns -1; or it returns END, and
the script ends, whatever it catches. It must not throw Lua errors itself: they would jump over
Python's frames.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from ctypes import byref, c_char_p, c_double, c_int, c_size_t, c_void_p
from typing import TypeAlias

from protocol import wire
from server.parts.scripting.lua.lua_library import LIBRARY, function

State: TypeAlias = int
Native: TypeAlias = Callable[[State], int]

NIL, BOOLEAN, LIGHT_USERDATA, NUMBER, STRING, TABLE, FUNCTION, USERDATA, THREAD = range(9)
REGISTRY = -10000
GLOBALS = -10002
RELATIVE = -1000  # above it, and below 0, a place counts from the top
END = -2  # what a native returns that ends the script
BOUND = -10003  # within a native: what push_native_with has bound to it

OPENERS = {b"": "base", b"table": "table", b"string": "string", b"math": "math", b"debug": "debug"}
MASK_COUNT = 8
COUNT_KB, COUNT_REST, COLLECT = 3, 4, 2  # of lua_gc

# Throws what a native has left, in the name of the script that called it.
WRAPPER = b"""
local native, failed, throw, select = ...
local function check(...)
    if ... == failed then throw(select(2, ...), 0) end
    return ...
end
return function(...) return check(native(...)) end
"""
BOUNDED = b"""
local inner, most, kind, throw = ...
return function(first, second, ...)
    if kind(second) == "string" and #second > most then throw("pattern too long", 2) end
    return inner(first, second, ...)
end
"""

BOUNDED_INSERT = b"""
local inner, least, number, throw, select = ...
return function(items, ...)
    local at = ...
    if select("#", ...) == 2 then
        local place = number(at)
        if place and not (place >= least and place < 2^31) then
            throw("bad argument #2 to 'insert' (position out of bounds)", 2)
        end
    end
    return inner(items, ...)
end
"""

_NATIVE = ctypes.CFUNCTYPE(c_int, c_void_p)
_HOOK = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
_FAILED = ctypes.addressof(ctypes.create_string_buffer(1))
_kept: dict[object, object] = {}  # what C refers to must not be collected


_gettop = function("lua_gettop", c_int)
_settop = function("lua_settop", None, c_int)
_pushvalue = function("lua_pushvalue", None, c_int)
_remove = function("lua_remove", None, c_int)
_insert = function("lua_insert", None, c_int)
_replace = function("lua_replace", None, c_int)
_checkstack = function("lua_checkstack", c_int, c_int)
_type = function("lua_type", c_int, c_int)
_isnumber = function("lua_isnumber", c_int, c_int)
_tonumber = function("lua_tonumber", c_double, c_int)
_toboolean = function("lua_toboolean", c_int, c_int)
_tolstring = function("lua_tolstring", c_void_p, c_int, c_void_p)
_objlen = function("lua_objlen", c_size_t, c_int)
_touserdata = function("lua_touserdata", c_void_p, c_int)
_pushnil = function("lua_pushnil", None)
_pushnumber = function("lua_pushnumber", None, c_double)
_pushboolean = function("lua_pushboolean", None, c_int)
_pushlstring = function("lua_pushlstring", None, c_char_p, c_size_t)
_pushlightuserdata = function("lua_pushlightuserdata", None, c_void_p)
_pushcclosure = function("lua_pushcclosure", None, c_void_p, c_int)
_createtable = function("lua_createtable", None, c_int, c_int)
_rawget = function("lua_rawget", None, c_int)
_rawset = function("lua_rawset", None, c_int)
_rawgeti = function("lua_rawgeti", None, c_int, c_int)
_rawseti = function("lua_rawseti", None, c_int, c_int)
_setmetatable = function("lua_setmetatable", c_int, c_int)
_getmetatable = function("lua_getmetatable", c_int, c_int)
_next = function("lua_next", c_int, c_int)
_ref = function("luaL_ref", c_int, c_int)
_unref = function("luaL_unref", None, c_int, c_int)
_getstack = function("lua_getstack", c_int, c_int, c_void_p)
_getinfo = function("lua_getinfo", c_int, c_char_p, c_void_p)
_where = function("luaL_where", None, c_int)
_gc = function("lua_gc", c_int, c_int, c_int)
_loadbuffer = function("luaL_loadbuffer", c_int, c_char_p, c_size_t, c_char_p)
_pcall = function("lua_pcall", c_int, c_int, c_int, c_int)
_call = function("lua_call", None, c_int, c_int)
_sethook = function("lua_sethook", c_int, c_void_p, c_int, c_int)
_close = function("lua_close", None)
LIBRARY.luaL_newstate.restype = c_void_p


# ---------------------------------------------------------------------- interpreters


def open_state(limit: int) -> State:
    """A new interpreter, whose scripts may take *limit* bytes; 0 if there is no memory.

    Only the compiled server keeps to the limit.
    """
    made: int | None = LIBRARY.luaL_newstate()
    return made or 0


def close_state(L: State) -> None:
    """End the interpreter and free its memory."""
    _close(L)


def open_libraries(L: State) -> None:
    """Give it base, table, string, math and debug."""
    for name, opener in OPENERS.items():
        _pushcclosure(L, ctypes.cast(LIBRARY[f"luaopen_{opener}"], c_void_p), 0)
        _pushlstring(L, name, len(name))
        _call(L, 1, 0)


def memory_used(L: State) -> int:
    """Bytes that the values of the interpreter take."""
    return _gc(L, COUNT_KB, 0) * 1024 + _gc(L, COUNT_REST, 0)


def set_memory_limit(L: State, limit: int) -> None:
    """Let scripts take *limit* bytes. Only the compiled server refuses them more."""


def memory_limit(L: State) -> int:
    """How many bytes that are. Uncompiled, nothing is refused."""
    return sys.maxsize


def has_memory(L: State, more: int) -> bool:
    """Whether scripts may take so many bytes more. Natives are given them in any case."""
    return True


def collect_garbage(L: State) -> None:
    """Free all values that nothing refers to."""
    _gc(L, COLLECT, 0)


# ---------------------------------------------------------------------- the stack


def top(L: State) -> int:
    """How many values the stack of the running function holds."""
    return _gettop(L)


def set_top(L: State, size: int) -> None:
    """Let the stack hold *size* values."""
    _settop(L, size)


def pop(L: State, values: int) -> None:
    """Remove so many values from the top."""
    _settop(L, -values - 1)


def push_value(L: State, at: int) -> None:
    """Push a copy of the value there."""
    _pushvalue(L, at)


def insert(L: State, at: int) -> None:
    """Move the value on top there."""
    _insert(L, at)


def remove(L: State, at: int) -> None:
    """Remove the value there."""
    _remove(L, at)


def replace(L: State, at: int) -> None:
    """Pop a value, and put it in place of that one."""
    _replace(L, at)


def has_room(L: State, more: int) -> bool:
    """Make room for so many values; False if the stack would be too deep (lua_checkstack)."""
    return bool(_checkstack(L, more))


# ---------------------------------------------------------------------- values on the stack


def type_at(L: State, at: int) -> int:
    """NIL, NUMBER, ...; -1 beyond the top."""
    return _type(L, at)


def is_number(L: State, at: int) -> bool:
    """Whether there is a number, or a string that reads as one."""
    return bool(_isnumber(L, at))


def to_number(L: State, at: int) -> float:
    """The number there, also from a string; 0 if it is none."""
    return _tonumber(L, at)


def to_boolean(L: State, at: int) -> bool:
    """False for nil and false."""
    return bool(_toboolean(L, at))


def to_bytes(L: State, at: int) -> bytes:
    """The string there. A number there is changed into one; there must not be anything else."""
    size = c_size_t()
    text = _tolstring(L, at, byref(size))
    return ctypes.string_at(text, size.value)


def holds(L: State, at: int, text: bytes) -> bool:
    """Whether the string there is *text*."""
    return to_bytes(L, at) == text


def put_bulk(L: State, at: int, buffer: bytearray, end: int) -> int:
    """Write the string there into *buffer* at *end*; see ``wire.put_bulk``."""
    return wire.put_bulk(buffer, end, to_bytes(L, at))


def length(L: State, at: int) -> int:
    """Bytes of a string, the border of a table (lua_objlen)."""
    return _objlen(L, at)


def to_address(L: State, at: int) -> int:
    """What push_address has pushed; 0 if it is anything else but userdata."""
    return _touserdata(L, at) or 0


def push_nil(L: State) -> None:
    """Push nil."""
    _pushnil(L)


def push_number(L: State, number: float) -> None:
    """Push a number; all of Lua's are doubles."""
    _pushnumber(L, number)


def push_boolean(L: State, value: bool) -> None:
    """Push true or false."""
    _pushboolean(L, value)


def push_bytes(L: State, text: bytes) -> None:
    """Push a string."""
    _pushlstring(L, text, len(text))


def push_slice(L: State, text: bytes, start: int, end: int) -> None:
    """Push that part of *text*."""
    push_bytes(L, text[start:end])


def push_address(L: State, address: int) -> None:
    """Push a light userdata."""
    _pushlightuserdata(L, address)


def push_native(L: State, native: Native) -> None:
    """Push a function that calls *native*."""
    _push_wrapped(L, native, 0)


def push_native_with(L: State, native: Native) -> None:
    """Pop a value, and push a function that calls *native*, which finds the value at BOUND."""
    _push_wrapped(L, native, 1)


def _push_wrapped(L: State, native: Native, bound: int) -> None:
    def call_back(inner: int) -> int:
        results = native(inner)
        if results == END:
            push_nil(inner)
            _throw_from_now_on(inner)
        if results < 0:
            _pushlightuserdata(inner, _FAILED)
            _insert(inner, -2)
            return 2
        return results

    kept = _kept.setdefault(native, _NATIVE(call_back))
    _pushcclosure(L, ctypes.cast(kept, c_void_p), bound)  # type: ignore[arg-type]
    _loadbuffer(L, WRAPPER, len(WRAPPER), b"=native")
    _insert(L, -2)
    _pushlightuserdata(L, _FAILED)
    get_field(L, GLOBALS, b"error")
    get_field(L, GLOBALS, b"select")
    _call(L, 4, 1)


def bound_second(L: State, most: int) -> None:
    """Pop a C function, and push one that refuses a second argument of more than *most* bytes."""
    _loadbuffer(L, BOUNDED, len(BOUNDED), b"=bounded")
    _insert(L, -2)
    _pushnumber(L, most)
    get_field(L, GLOBALS, b"type")
    get_field(L, GLOBALS, b"error")
    _call(L, 4, 1)


def bound_place(L: State, least: int) -> None:
    """Pop table.insert, and push one that refuses places below *least*, and beyond an int of C."""
    _loadbuffer(L, BOUNDED_INSERT, len(BOUNDED_INSERT), b"=bounded")
    _insert(L, -2)
    _pushnumber(L, least)
    get_field(L, GLOBALS, b"tonumber")
    get_field(L, GLOBALS, b"error")
    get_field(L, GLOBALS, b"select")
    _call(L, 5, 1)


def push_script_place(L: State) -> None:
    """Push ``name:line: `` of the script's code that the running hook has interrupted."""
    level = 0
    _where(L, level)
    while to_bytes(L, -1).startswith((b"sandbox:", b"bounded:", b"native:")):
        pop(L, 1)
        level += 1
        _where(L, level)


def push_place(L: State) -> None:
    """Push ``name:line: `` of the code that called the native that runs (luaL_where)."""
    _where(L, 2)  # 1 is the wrapper


def called_as(L: State) -> bytes:
    """The name by which the native that runs was called; ``?`` if it had none (lua_getinfo)."""
    return _names(L)[0] or b"?"


def called_as_method(L: State) -> bool:
    """Whether it was called as in ``value:name()``."""
    return _names(L)[1] == b"method"


class _Debug(ctypes.Structure):
    _fields_ = (
        ("event", c_int),
        ("name", c_char_p),
        ("namewhat", c_char_p),
        ("rest", ctypes.c_char * 1024),  # what is not needed here: more than enough
    )


def _names(L: State) -> tuple[bytes | None, bytes | None]:
    running = _Debug()
    if not (_getstack(L, 1, byref(running)) and _getinfo(L, b"n", byref(running))):
        return None, None
    return running.name, running.namewhat


# ---------------------------------------------------------------------- tables


def create_table(L: State, items: int, fields: int) -> None:
    """Push a new table, with room for so many items and fields."""
    _createtable(L, items, fields)


def raw_set(L: State, at: int) -> None:
    """Pop a value and below it a key, and put them into that table, without metamethods."""
    _rawset(L, at)


def get_index(L: State, at: int, index: int) -> None:
    """Push item *index* of that table."""
    _rawgeti(L, at, index)


def set_index(L: State, at: int, index: int) -> None:
    """Pop a value, and make it item *index* of that table."""
    _rawseti(L, at, index)


def get_field(L: State, at: int, name: bytes) -> None:
    """Push what that table has for *name*, without metamethods."""
    push_bytes(L, name)
    _rawget(L, at - 1 if RELATIVE < at < 0 else at)


def set_field(L: State, at: int, name: bytes) -> None:
    """Pop a value, and put it into that table for *name*, without metamethods."""
    push_bytes(L, name)
    _insert(L, -2)
    _rawset(L, at - 1 if RELATIVE < at < 0 else at)


def set_metatable(L: State, at: int) -> None:
    """Pop a table, and make it the metatable of that table."""
    _setmetatable(L, at)


def push_metatable(L: State, at: int) -> bool:
    """Push the metatable of that value. False, and nothing is pushed, if it has none."""
    return bool(_getmetatable(L, at))


def next_item(L: State, at: int) -> bool:
    """Pop a key; push the next one of that table, and its value, if there is one (lua_next)."""
    return bool(_next(L, at))


def make_ref(L: State) -> int:
    """Pop a value, and keep it; the number by which it is found again."""
    return _ref(L, REGISTRY)


def push_ref(L: State, ref: int) -> None:
    """Push the value that was kept."""
    _rawgeti(L, REGISTRY, ref)


def free_ref(L: State, ref: int) -> None:
    """Keep it no more."""
    _unref(L, REGISTRY, ref)


# ---------------------------------------------------------------------- running


def load(L: State, source: bytes, name: bytes) -> int:
    """Compile *source*, and push the function; otherwise push an error. 0 if it went well."""
    _gc(L, 0, 0)  # CVE-2025-49844: see the .pxd
    status = _loadbuffer(L, source, len(source), name)
    _gc(L, 1, 0)
    return status


def call(L: State, arguments: int, results: int, handler: int) -> int:
    """Call the function below the arguments (lua_pcall). 0 if it went well."""
    return _pcall(L, arguments, results, handler)


def _throw_from_now_on(L: State) -> None:
    """Let each instruction throw, by Lua's own function: none of ours may."""
    _sethook(L, ctypes.cast(LIBRARY.lua_error, c_void_p), MASK_COUNT, 1)


def set_hook(L: State, counted: Native, count: int) -> None:
    """Call *counted* every *count* instructions: the script must end if it returns true.

    From then on an error is thrown at each instruction, since the script may catch it.
    """

    def call_back(inner: int, _where: int) -> None:
        if counted(inner):
            _throw_from_now_on(inner)

    kept = _kept.setdefault((L, counted), _HOOK(call_back))
    _sethook(L, ctypes.cast(kept, c_void_p), MASK_COUNT, count)  # type: ignore[arg-type]
