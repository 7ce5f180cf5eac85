"""What natives share: how they look at their arguments, and how they refuse them.

The texts are those of Lua's own library (lauxlib.c).
"""

from __future__ import annotations

from server.lua import lua_api as lua
from server.lua.lua_api import State

TYPE_NAMES = {
    -1: b"no value",
    lua.NIL: b"nil",
    lua.BOOLEAN: b"boolean",
    lua.LIGHT_USERDATA: b"userdata",
    lua.NUMBER: b"number",
    lua.STRING: b"string",
    lua.TABLE: b"table",
    lua.FUNCTION: b"function",
    lua.USERDATA: b"userdata",
    lua.THREAD: b"thread",
}
INT_MIN, INT_MAX = -(2**31), 2**31 - 1


def fail(L: State, message: bytes) -> int:
    """Leave an error that names the place of the call; what a native returns then."""
    lua.push_bytes(L, place(L) + message)
    return -1


def place(L: State) -> bytes:
    """``user_script:1: ``: the line of the script that has called the native."""
    lua.push_place(L)
    text = lua.to_bytes(L, -1)
    lua.pop(L, 1)
    return text


def bad_argument(L: State, at: int, name: bytes, problem: bytes) -> int:
    """Refuse argument *at* of the function *name*."""
    return fail(L, b"bad argument #%d to '%b' (%b)" % (at, name, problem))


def wrong_type(L: State, at: int, name: bytes, wanted: bytes) -> int:
    """Refuse argument *at* of the function *name*: it is no *wanted*."""
    given = TYPE_NAMES[lua.type_at(L, at)]
    return bad_argument(L, at, name, b"%b expected, got %b" % (wanted, given))


def is_number(L: State, at: int) -> bool:
    """Whether there is a number, or a text that Lua reads as one."""
    kind = lua.type_at(L, at)
    return kind == lua.NUMBER or (kind == lua.STRING and lua.is_number(L, at))


def to_int(L: State, at: int) -> int:
    """The number there as C's int; INT_MIN if it is beyond that."""
    number = lua.to_number(L, at)
    return int(number) if INT_MIN <= number <= INT_MAX else INT_MIN
