"""What natives share: errors in Lua's own words, and arguments.

A function here that reports an error leaves its text on the stack and returns -1, which the native
returns in turn. *argument* counts from 1, as scripts count.
"""

from __future__ import annotations

from server.parts.scripting.lua import lua_api as lua

NO_MEMORY = b"not enough memory"  # Lua's own words
INT_MIN, INT_MAX = -(2**31), 2**31 - 1
TYPES = (
    b"nil", b"boolean", b"userdata", b"number", b"string", b"table", b"function", b"userdata",
    b"thread", b"no value",  # the last one is -1: beyond the top
)  # fmt: skip


# ---------------------------------------------------------------------- errors


def fail(L: lua.State, message: bytes) -> int:
    """Report *message*, after the name and line of the code that called the native."""
    lua.set_top(L, 0)  # the stack may be full
    lua.push_place(L)
    return fail_bare(L, lua.to_bytes(L, -1) + message)


def fail_bare(L: lua.State, message: bytes) -> int:
    """Report *message* as it is."""
    lua.set_top(L, 0)
    lua.push_bytes(L, message)
    return -1


def fail_unexpectedly(L: lua.State, error: Exception) -> int:
    """Report an exception, which must not cross Lua's frames: the memory was not enough."""
    if isinstance(error, MemoryError):
        return fail_bare(L, NO_MEMORY)
    return fail(L, repr(error).encode(errors="replace"))


def bad_argument(L: lua.State, argument: int, reason: bytes) -> int:
    """Report that *argument* is wrong, and why (luaL_argerror)."""
    name = lua.called_as(L)
    if lua.called_as_method(L):
        argument -= 1  # the value before the colon does not count
        if argument == 0:
            return fail(L, b"calling '%b' on bad self (%b)" % (name, reason))
    return fail(L, b"bad argument #%d to '%b' (%b)" % (argument, name, reason))


def wrong_type(L: lua.State, argument: int, expected: bytes) -> int:
    """Report that *argument* has not the type that is expected (luaL_typerror)."""
    return bad_argument(L, argument, b"%b expected, got %b" % (expected, type_name(L, argument)))


def type_name(L: lua.State, at: int) -> bytes:
    """The name of the type of that value."""
    return TYPES[lua.type_at(L, at)]


# ---------------------------------------------------------------------- arguments


def is_string(L: lua.State, at: int) -> bool:
    """Whether there is a string, or a number, which serves as one."""
    kind = lua.type_at(L, at)
    return kind in {lua.STRING, lua.NUMBER}


def to_int(L: lua.State, at: int) -> int:
    """The number there as C's int; INT_MIN if it is beyond that."""
    number = lua.to_number(L, at)
    return int(number) if INT_MIN <= number <= INT_MAX else INT_MIN


def count_items(L: lua.State) -> int:
    """How many items the table on top has."""
    count = 0
    lua.push_nil(L)
    while lua.next_item(L, -2):
        lua.pop(L, 1)
        count += 1
    return count


# ---------------------------------------------------------------------- tables of functions


def set_native(L: lua.State, name: bytes, native: lua.Native) -> None:
    """Put *native* into the table on top, under *name*."""
    lua.push_native(L, native)
    lua.set_field(L, -2, name)


def set_text(L: lua.State, name: bytes, text: bytes) -> None:
    """Put *text* into the table on top, under *name*."""
    lua.push_bytes(L, text)
    lua.set_field(L, -2, name)
