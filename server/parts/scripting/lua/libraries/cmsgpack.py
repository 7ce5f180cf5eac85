"""The library ``cmsgpack``, 0.4.0: values to and from MessagePack."""

from __future__ import annotations

from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import natives
from server.parts.scripting.lua.libraries import message_packer, number_octets
from server.parts.scripting.lua.libraries.message_unpacker import MessageUnpacker
from server.parts.scripting.lua.libraries.output import Output

MOST_RESULTS = 2**31 - 1


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
        count = lua.top(L)
        if count == 0:
            return natives.bad_argument(L, 0, b"MessagePack pack needs input.")
        if not lua.has_room(L, count) or not lua.has_room(L, message_packer.ROOM):
            return natives.bad_argument(L, 0, b"Too many arguments for MessagePack pack.")
        output = Output()
        output.L = L
        for argument in range(1, count + 1):
            lua.push_value(L, argument)
            message_packer.pack_value(L, output, 0)
        return output.push()
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


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
        if lua.type_at(L, 2) > lua.NIL and not lua.is_number(L, 2):
            return natives.wrong_type(L, 2, b"number")
        return _unpack(L, 1, _integer(L, 2))
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def unpack_limit(L: lua.State) -> int:
    """unpack_limit(data, limit, [offset]): the same, with at most *limit* values."""
    try:
        if not lua.is_number(L, 2):
            return natives.wrong_type(L, 2, b"number")
        if lua.type_at(L, 3) > lua.NIL and not lua.is_number(L, 3):
            return natives.wrong_type(L, 3, b"number")
        return _unpack(L, _integer(L, 2), _integer(L, 3))
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


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
    unpacker = MessageUnpacker(data, offset)
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
