"""math.random and math.randomseed, with the numbers of Redis.

Source: POSIX drand48, of which Redis takes 31 bits.
"""

from __future__ import annotations

from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import natives
from server.parts.scripting.lua.lua_api import State

FACTOR = 0x5DEECE66D
ADDEND = 0xB
MASK = (1 << 48) - 1
LOW = 0x330E  # the low bits of a seed
MOST = 2**31 - 1

_number = 0x1234ABCD330E  # the last one; all scripts share one sequence


def seed(number: int) -> None:
    """Begin the sequence of *number* (32 bits)."""
    global _number  # noqa: PLW0603
    _number = (number & 0xFFFFFFFF) << 16 | LOW


def next_number() -> int:
    """The next number of the sequence, of 31 bits."""
    global _number  # noqa: PLW0603
    _number = (_number * FACTOR + ADDEND) & MASK
    return _number >> 17


def math_random(L: State) -> int:
    """math.random([low,] [high])"""
    share = (next_number() % MOST) / MOST
    arguments = lua.top(L)
    if arguments == 0:
        lua.push_number(L, share)
        return 1
    if arguments > 2:
        return natives.fail(L, b"wrong number of arguments")
    for at in range(1, arguments + 1):
        if not lua.is_number(L, at):
            return natives.wrong_type(L, at, b"number")
    low = 1 if arguments == 1 else natives.to_int(L, 1)
    high = natives.to_int(L, arguments)
    if low > high:
        return natives.bad_argument(L, arguments, b"interval is empty")
    lua.push_number(L, int(share * (high - low + 1)) + low)
    return 1


def math_randomseed(L: State) -> int:
    """math.randomseed(number)"""
    if not lua.is_number(L, 1):
        return natives.wrong_type(L, 1, b"number")
    seed(natives.to_int(L, 1))
    return 0
