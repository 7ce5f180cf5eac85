"""The library ``cmsgpack``, 0.4.0: MessagePack.

    00..7f  a number               cc cd ce cf  unsigned, 1 2 4 8 bytes     c0     nil
    80..8f  a map of so many       d0 d1 d2 d3  signed, 1 2 4 8 bytes       c2 c3  false, true
    90..9f  an array of so many    d9 da db     a string, length in 1 2 4   ca cb  a real, 4 8 bytes
    a0..bf  a string of so many    dc dd        an array, count in 2 4
    e0..ff  a number, -32..-1      de df        a map, count in 2 4         all else is wrong

Tables are packed as arrays if their keys are 1 to their size. Below MOST_NESTED tables a table is
packed as nil. A count in the input reserves no memory: items are asked for one by one, and what is
unpacked is at most as deep as Lua's stack.
"""

from __future__ import annotations

from math import inf

from server.lua import lua_api as lua
from server.lua import natives
from server.lua.libraries import number_octets, text_octets
from server.lua.libraries.output import Output

MOST_NESTED = 16
MOST_RESULTS = 2**31 - 1

MAP, ARRAY, STRING, NEGATIVE = 0x80, 0x90, 0xA0, 0xE0
NIL, FALSE, TRUE, SINGLE, DOUBLE = 0xC0, 0xC2, 0xC3, 0xCA, 0xCB
UINT_8, UINT_16, UINT_32, UINT_64 = 0xCC, 0xCD, 0xCE, 0xCF
INT_8, INT_16, INT_32, INT_64 = 0xD0, 0xD1, 0xD2, 0xD3
STRING_8, STRING_16, STRING_32 = 0xD9, 0xDA, 0xDB
ARRAY_16, ARRAY_32, MAP_16, MAP_32 = 0xDC, 0xDD, 0xDE, 0xDF

MISSING = b"Missing bytes in input."
WRONG = b"Bad data format in input."
TOO_MANY = (
    b"stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)"
)
TOO_DEEP = b"stack overflow (in function mp_decode_to_lua_array)"
A_VALUE = -2  # what Unpacker._item returns if it has pushed a value that has no items


def install(L: lua.State) -> None:
    """Make the global table ``cmsgpack``."""
    lua.create_table(L, 0, 8)
    natives.set_native(L, b"pack", pack)
    natives.set_native(L, b"unpack", unpack)
    natives.set_native(L, b"unpack_one", unpack_one)
    natives.set_native(L, b"unpack_limit", unpack_limit)
    natives.set_text(L, b"_NAME", b"cmsgpack")
    natives.set_text(L, b"_VERSION", b"lua-cmsgpack 0.4.0")
    natives.set_text(L, b"_COPYRIGHT", b"Copyright (C) 2012, Salvatore Sanfilippo")
    natives.set_text(L, b"_DESCRIPTION", b"MessagePack C implementation for Lua")
    lua.set_field(L, lua.GLOBALS, b"cmsgpack")


# ---------------------------------------------------------------------- pack


def pack(L: lua.State) -> int:
    """pack(value, ...): the values one after the other."""
    try:
        return _pack(L)
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def _pack(L: lua.State) -> int:
    count = lua.top(L)
    if count == 0:
        return natives.bad_argument(L, 0, b"MessagePack pack needs input.")
    if not lua.has_room(L, count) or not lua.has_room(L, 4 * MOST_NESTED):
        return natives.bad_argument(L, 0, b"Too many arguments for MessagePack pack.")
    output = Output()
    output.L = L
    for argument in range(1, count + 1):
        lua.push_value(L, argument)
        _pack_value(L, output, 0)
    return output.push()


def _pack_value(L: lua.State, output: Output, level: int) -> None:
    """Pop a value, and pack it. *level* is the number of tables that it is in."""
    kind = lua.type_at(L, -1)
    if kind == lua.STRING:
        _pack_string(L, output)
    elif kind == lua.NUMBER:
        _pack_number(output, lua.to_number(L, -1))
    elif kind == lua.TABLE and level < MOST_NESTED:
        _pack_table(L, output, level)
    elif kind == lua.BOOLEAN:
        output.byte(TRUE if lua.to_boolean(L, -1) else FALSE)
    else:
        output.byte(NIL)
    lua.pop(L, 1)


def _pack_string(L: lua.State, output: Output) -> None:
    size = lua.length(L, -1)
    if size < 32:
        output.byte(STRING | size)
    elif size <= 0xFF:
        output.byte(STRING_8)
        output.byte(size)
    else:
        _pack_count(output, STRING_16, size)
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
        output.byte(SINGLE)
        output.real(number, 4, True)
    else:
        output.byte(DOUBLE)
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
        output.byte(UINT_8 + mark)
    else:
        if number < -0x80:
            size, mark = (2, 1) if number >= -0x8000 else (4, 2) if number >= -(2**31) else (8, 3)
        output.byte(INT_8 + mark)
    output.integer(number, size, True)


def _pack_table(L: lua.State, output: Output, level: int) -> None:
    """Pack the table on top."""
    count = _count(L)
    if _is_array(L, count):
        if count <= 15:
            output.byte(ARRAY | count)
        else:
            _pack_count(output, ARRAY_16, count)
        for index in range(1, count + 1):
            lua.get_index(L, -1, index)
            _pack_value(L, output, level + 1)
        return
    if count <= 15:
        output.byte(MAP | count)
    else:
        _pack_count(output, MAP_16, count)
    lua.push_nil(L)
    while lua.next_item(L, -2):
        lua.push_value(L, -2)
        _pack_value(L, output, level + 1)
        _pack_value(L, output, level + 1)


def _count(L: lua.State) -> int:
    """How many items the table on top has."""
    count = 0
    lua.push_nil(L)
    while lua.next_item(L, -2):
        lua.pop(L, 1)
        count += 1
    return count


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


# ---------------------------------------------------------------------- unpack


def unpack(L: lua.State) -> int:
    """unpack(data): all values that *data* holds."""
    try:
        return _unpack(L, 0, 0)
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def unpack_one(L: lua.State) -> int:
    """unpack_one(data, [offset]): where the next value begins, or -1; and the one at *offset*."""
    try:
        if not _is_absent(L, 2) and not lua.is_number(L, 2):
            return natives.wrong_type(L, 2, b"number")
        return _unpack(L, 1, _integer(L, 2))
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def unpack_limit(L: lua.State) -> int:
    """unpack_limit(data, limit, [offset]): the same, with at most *limit* values."""
    try:
        if not lua.is_number(L, 2):
            return natives.wrong_type(L, 2, b"number")
        if not _is_absent(L, 3) and not lua.is_number(L, 3):
            return natives.wrong_type(L, 3, b"number")
        return _unpack(L, _integer(L, 2), _integer(L, 3))
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def _is_absent(L: lua.State, argument: int) -> bool:
    return lua.type_at(L, argument) <= lua.NIL


def _integer(L: lua.State, argument: int) -> int:
    """The number there; 0 if it is absent."""
    return number_octets.truncated(lua.to_number(L, argument))


def _unpack(L: lua.State, limit: int, offset: int) -> int:
    """Push at most *limit* values that begin at *offset*; all if both are 0."""
    if not natives.is_string(L, 1):
        return natives.wrong_type(L, 1, b"string")
    lua.set_top(L, 1)
    data = lua.to_bytes(L, 1)
    size = len(data)
    low_offset = number_octets.signed_32(offset & 0xFFFF_FFFF)
    if offset < 0 or limit < 0:  # Redis, too, calls the size the limit
        text = b"Invalid request to unpack with offset of %d and limit of %d."
        return natives.fail(L, text % (low_offset, size))
    if offset > size:
        text = b"Start offset %d greater than input length %d."
        return natives.fail(L, text % (low_offset, size))
    unpacker = Unpacker(data, offset)
    everything = limit == 0 and offset == 0
    if everything:
        limit = MOST_RESULTS
    results = 0
    while unpacker.at < size and results < limit:
        if unpacker.value(L) < 0:
            return -1
        results += 1
    if everything:
        return results
    if not lua.has_room(L, 1):
        return natives.fail(L, b"stack overflow (in function mp_unpack_full)")
    lua.push_number(L, -1 if unpacker.at == size else unpacker.at)
    lua.insert(L, 2)
    return results + 1


class Unpacker:
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
            if items >= 0:
                outer.append(missing)
                outer.append(index)
                missing = items
                index = 1 if self.is_array else 0
            elif not outer:
                return 0
            elif self._settle(L, missing, index) < 0:
                return -1
            else:
                missing -= 1
                index += index > 0
            while missing == 0:  # a table is whole, and itself a value
                index = outer.pop()
                missing = outer.pop()
                if not outer:
                    return 0
                if self._settle(L, missing, index) < 0:
                    return -1
                missing -= 1
                index += index > 0
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
        if mark < MAP:
            lua.push_number(L, mark)
        elif mark < ARRAY:
            return self._table(L, mark & 15, False)
        elif mark < STRING:
            return self._table(L, mark & 15, True)
        elif mark < NIL:
            return self._string(L, mark & 31)
        elif mark >= NEGATIVE:
            lua.push_number(L, mark - 256)
        elif mark == NIL:
            lua.push_nil(L)
        elif mark in {FALSE, TRUE}:
            lua.push_boolean(L, mark == TRUE)
        elif mark in {SINGLE, DOUBLE}:
            return self._real(L, 4 if mark == SINGLE else 8)
        elif UINT_8 <= mark <= UINT_64:
            return self._integer(L, 1 << (mark - UINT_8), False)
        elif INT_8 <= mark <= INT_64:
            return self._integer(L, 1 << (mark - INT_8), True)
        elif mark >= STRING_8:
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
        width = 1 if mark == STRING_8 else 2 if mark in {STRING_16, ARRAY_16, MAP_16} else 4
        if not self._has(width):
            return natives.fail(L, MISSING)
        count = number_octets.integer_at(self.data, self.at, width, True)
        self.at += width
        if mark <= STRING_32:
            return self._string(L, count)
        return self._table(L, count, mark <= ARRAY_32)

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
