"""MessagePack as values of Lua, as lua-cmsgpack unpacks it.

A count in the input reserves no memory: items are asked for one by one. What is nested is bounded
by Lua's stack, not by recursion.
"""

from __future__ import annotations

from math import inf

from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import natives
from server.parts.scripting.lua.libraries import message_marks as marks
from server.parts.scripting.lua.libraries import number_octets, text_octets

MISSING = b"Missing bytes in input."
WRONG = b"Bad data format in input."
TOO_MANY = (
    b"stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)"
)
TOO_DEEP = b"stack overflow (in function mp_decode_to_lua_array)"
A_VALUE = -2  # what MessageUnpacker._item returns if it has pushed a value that has no items


class MessageUnpacker:
    """Values that are read from *data*, from *at* on."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at
        self.is_array = False

    def value(self, L: lua.State) -> int:
        """Push the next value. -1 if there is none, which is reported.

        Within a table, Lua's stack holds the table and the key of the value to come. The items of
        an array are treated as values whose keys are not in the data.
        """
        outer: list[int] = []  # missing and index of the tables that this table is in
        missing = 0  # keys and values that are still to come in this table
        index = 0  # the key of the next value in an array; 0 in a map
        while True:
            items = self._item(L)
            if items == -1:
                return -1
            if items > 0:
                outer.append(missing)
                outer.append(index)
                missing = items
                index = 1 if self.is_array else 0
            else:
                while (
                    True
                ):  # put the value into its table, and this one, if it is whole, into its own
                    if not outer:
                        return 0
                    if self._settle(L, missing, index) < 0:
                        return -1
                    missing -= 1
                    index += index > 0
                    if missing:
                        break
                    index = outer.pop()
                    missing = outer.pop()
            if index:
                lua.push_number(L, index)

    def _settle(self, L: lua.State, missing: int, index: int) -> int:
        """Put the value on top, and the key below it, into the table. Keep it if it is a key."""
        if index == 0:
            if missing % 2 == 0:
                return 0
            key = lua.type_at(L, -2)
            if key == lua.NIL:
                return natives.fail_bare(L, b"table index is nil")
            if key == lua.NUMBER and not -inf <= lua.to_number(L, -2) <= inf:
                return natives.fail_bare(L, b"table index is NaN")
        lua.raw_set(L, -3)
        return 0

    def _item(self, L: lua.State) -> int:
        """Push a value: A_VALUE if it is whole; of an empty table, how many items it will have."""
        if not self._has(1):
            return natives.fail(L, MISSING)
        if not lua.has_room(L, 1):
            return natives.fail(L, TOO_MANY)
        if not lua.has_memory(L, 0):  # each byte may become a table of many
            raise MemoryError
        mark = text_octets.byte_at(self.data, self.at)
        self.at += 1
        if mark < marks.MAP:
            lua.push_number(L, mark)
        elif mark < marks.ARRAY:
            return self._table(L, mark & 15, False)
        elif mark < marks.STRING:
            return self._table(L, mark & 15, True)
        elif mark < marks.NIL:
            return self._string(L, mark & 31)
        elif mark >= marks.NEGATIVE:
            lua.push_number(L, mark - 256)
        elif mark == marks.NIL:
            lua.push_nil(L)
        elif mark in {marks.FALSE, marks.TRUE}:
            lua.push_boolean(L, mark == marks.TRUE)
        elif mark in {marks.SINGLE, marks.DOUBLE}:
            return self._real(L, 4 if mark == marks.SINGLE else 8)
        elif marks.UINT_8 <= mark <= marks.UINT_64:
            return self._integer(L, 1 << (mark - marks.UINT_8), False)
        elif marks.INT_8 <= mark <= marks.INT_64:
            return self._integer(L, 1 << (mark - marks.INT_8), True)
        elif mark >= marks.STRING_8:
            return self._sized(L, mark)
        else:
            return natives.fail(L, WRONG)
        return A_VALUE

    def _has(self, size: int) -> bool:
        return size <= len(self.data) - self.at

    def _real(self, L: lua.State, size: int) -> int:
        if not self._has(size):
            return natives.fail(L, MISSING)
        lua.push_number(L, number_octets.real_at(self.data, self.at, size, True))
        self.at += size
        return A_VALUE

    def _integer(self, L: lua.State, size: int, signed: bool) -> int:
        """Push a number; one of eight bytes is signed in any case, as with Redis."""
        if not self._has(size):
            return natives.fail(L, MISSING)
        bits = number_octets.integer_at(self.data, self.at, size, True)
        self.at += size
        if signed and size < 8 and bits >> (8 * size - 1):
            bits |= (0xFFFF_FFFF_FFFF_FFFF << (8 * size)) & 0xFFFF_FFFF_FFFF_FFFF
        lua.push_number(L, number_octets.signed_64(bits))
        return A_VALUE

    def _sized(self, L: lua.State, mark: int) -> int:
        """Push what begins with its size in 1, 2 or 4 bytes."""
        width = (
            1
            if mark == marks.STRING_8
            else 2
            if mark in {marks.STRING_16, marks.ARRAY_16, marks.MAP_16}
            else 4
        )
        if not self._has(width):
            return natives.fail(L, MISSING)
        count = number_octets.integer_at(self.data, self.at, width, True)
        self.at += width
        if mark <= marks.STRING_32:
            return self._string(L, count)
        return self._table(L, count, mark <= marks.ARRAY_32)

    def _string(self, L: lua.State, size: int) -> int:
        if not self._has(size):
            return natives.fail(L, MISSING)
        lua.push_slice(L, self.data, self.at, self.at + size)
        self.at += size
        return A_VALUE

    def _table(self, L: lua.State, count: int, is_array: bool) -> int:
        """Push an empty table; how many items it will have."""
        lua.create_table(L, 0, 0)
        if is_array and not lua.has_room(L, 1):
            return natives.fail(L, TOO_DEEP)
        self.is_array = is_array
        return count if is_array else 2 * count
