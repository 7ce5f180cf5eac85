"""A value of Lua as MessagePack, as lua-cmsgpack packs it: in as few bytes as it needs.

A table is an array if its keys are 1 to its size. A table within MOST_NESTED others is packed as
nil, and so is what has no form in MessagePack.
"""

from __future__ import annotations

from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import natives
from server.parts.scripting.lua.libraries import message_marks as marks
from server.parts.scripting.lua.libraries import number_octets
from server.parts.scripting.lua.libraries.output import Output

MOST_NESTED = 16
ROOM = 4 * MOST_NESTED  # values on Lua's stack: of each table its last key, and two copies


def pack_value(L: lua.State, output: Output, level: int) -> None:
    """Pop a value, and pack it. *level* is the number of tables that it is in."""
    kind = lua.type_at(L, -1)
    if kind == lua.STRING:
        _pack_string(L, output)
    elif kind == lua.NUMBER:
        _pack_number(output, lua.to_number(L, -1))
    elif kind == lua.TABLE and level < MOST_NESTED:
        _pack_table(L, output, level)
    elif kind == lua.BOOLEAN:
        output.byte(marks.TRUE if lua.to_boolean(L, -1) else marks.FALSE)
    else:
        output.byte(marks.NIL)
    lua.pop(L, 1)


def _pack_string(L: lua.State, output: Output) -> None:
    size = lua.length(L, -1)
    if size < 32:
        output.byte(marks.STRING | size)
    elif size <= 0xFF:
        output.byte(marks.STRING_8)
        output.byte(size)
    else:
        _pack_count(output, marks.STRING_16, size)
    output.lua_string(-1, size)


def _pack_count(output: Output, mark: int, count: int) -> None:
    """Pack *count* in two bytes after *mark*, or in four after the next mark."""
    if count <= 0xFFFF:
        output.byte(mark)
        output.integer(count, 2, True)
    else:
        output.byte(mark + 1)
        output.integer(count, 4, True)


def _pack_number(output: Output, number: float) -> None:
    whole = number_octets.truncated(number)
    if whole == number:
        _pack_whole(output, whole)
    elif number_octets.is_single(number):
        output.byte(marks.SINGLE)
        output.real(number, 4, True)
    else:
        output.byte(marks.DOUBLE)
        output.real(number, 8, True)


def _pack_whole(output: Output, number: int) -> None:
    """Pack a whole number in as few bytes as it needs."""
    size = 8
    mark = 3
    if -0x80 <= number <= 0xFF:
        size, mark = 1, 0
        if -32 <= number <= 0x7F:
            output.byte(number & 0xFF)
            return
    if number >= 0:
        if number > 0xFF:
            size, mark = (2, 1) if number <= 0xFFFF else (4, 2) if number <= 0xFFFF_FFFF else (8, 3)
        output.byte(marks.UINT_8 + mark)
    else:
        if number < -0x80:
            size, mark = (2, 1) if number >= -0x8000 else (4, 2) if number >= -(2**31) else (8, 3)
        output.byte(marks.INT_8 + mark)
    output.integer(number, size, True)


def _pack_table(L: lua.State, output: Output, level: int) -> None:
    """Pack the table on top."""
    count = natives.count_items(L)
    if _is_array(L, count):
        if count <= 15:
            output.byte(marks.ARRAY | count)
        else:
            _pack_count(output, marks.ARRAY_16, count)
        for index in range(1, count + 1):
            lua.get_index(L, -1, index)
            pack_value(L, output, level + 1)
        return
    if count <= 15:
        output.byte(marks.MAP | count)
    else:
        _pack_count(output, marks.MAP_16, count)
    lua.push_nil(L)
    while lua.next_item(L, -2):
        lua.push_value(L, -2)
        pack_value(L, output, level + 1)
        pack_value(L, output, level + 1)


def _is_array(L: lua.State, count: int) -> bool:
    """Whether the *count* keys of the table on top are 1 to *count*: each is whole, and in between.

    No key is there twice.
    """
    lua.push_nil(L)
    while lua.next_item(L, -2):
        lua.pop(L, 1)
        key = lua.to_number(L, -1) if lua.type_at(L, -1) == lua.NUMBER else 0.0
        if not 1 <= key <= count or key != number_octets.truncated(key):
            lua.pop(L, 1)
            return False
    return True
