"""redis.register_function: how a library says which functions it has."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import redis_library
from server.parts.scripting.lua.lua_api import State


def install(L: State) -> None:
    """Put it into the table on top."""
    lua.push_native(L, redis_register_function)
    lua.set_field(L, -2, b"register_function")


def redis_register_function(L: State) -> int:
    """redis.register_function(name, function), or with a table of named arguments."""
    try:
        name, description, flags = _take_named(L) if lua.top(L) == 1 else _take_two(L)
        ref = lua.make_ref(L)  # the function lies on top
        redis_library.running().register(name, ref, flags, description)
    except ErrorReply as error:
        return redis_library.refuse(L, error.text.encode("utf-8", "surrogateescape"))
    except Exception as error:
        return redis_library.fault(L, error)
    return 0


def _take_two(L: State) -> tuple[bytes, bytes | None, list[bytes]]:
    """The name; the function is left on top. Raises ErrorReply."""
    if lua.top(L) != 2:
        raise ErrorReply("ERR", "wrong number of arguments to redis.register_function")
    if lua.type_at(L, 1) not in (lua.STRING, lua.NUMBER):
        raise ErrorReply("ERR", "first argument to redis.register_function must be a string")
    if lua.type_at(L, 2) != lua.FUNCTION:
        raise ErrorReply("ERR", "second argument to redis.register_function must be a function")
    return lua.to_bytes(L, 1), None, []


def _take_named(L: State) -> tuple[bytes, bytes | None, list[bytes]]:
    """Name, description and flags; the function is left on top. Raises ErrorReply."""
    if lua.type_at(L, 1) != lua.TABLE:
        raise ErrorReply(
            "ERR",
            "calling redis.register_function with a single argument is only applicable to Lua table"
            " (representing named arguments).",
        )
    name = description = None
    flags: list[bytes] = []
    lua.push_nil(L)  # where the function will be
    lua.push_nil(L)
    while lua.next_item(L, 1):
        if lua.type_at(L, -2) != lua.STRING:
            raise ErrorReply(
                "ERR", "named argument key given to redis.register_function is not a string"
            )
        field = lua.to_bytes(L, -2)
        if field == b"function_name":
            name = _text_argument(L, "function_name")
        elif field == b"description":
            description = _text_argument(L, "description")
        elif field == b"callback":
            if lua.type_at(L, -1) != lua.FUNCTION:
                raise ErrorReply(
                    "ERR", "callback argument given to redis.register_function must be a function"
                )
            lua.push_value(L, -1)
            lua.replace(L, 2)
        elif field == b"flags":
            flags = _take_flags(L)
        else:
            raise ErrorReply("ERR", "unknown argument given to redis.register_function")
        lua.pop(L, 1)
    if name is None:
        raise ErrorReply("ERR", "redis.register_function must get a function name argument")
    if lua.type_at(L, 2) == lua.NIL:
        raise ErrorReply("ERR", "redis.register_function must get a callback argument")
    return name, description, flags


def _text_argument(L: State, name: str) -> bytes:
    if lua.type_at(L, -1) not in (lua.STRING, lua.NUMBER):
        raise ErrorReply(
            "ERR", f"{name} argument given to redis.register_function must be a string"
        )
    return lua.to_bytes(L, -1)


def _take_flags(L: State) -> list[bytes]:
    """The texts of the table on top. Raises ErrorReply."""
    if lua.type_at(L, -1) != lua.TABLE:
        raise ErrorReply(
            "ERR",
            "flags argument to redis.register_function must be a table representing function flags",
        )
    flags: list[bytes] = []
    while True:
        lua.get_index(L, -1, len(flags) + 1)
        kind = lua.type_at(L, -1)
        if kind != lua.NIL:
            flags.append(lua.to_bytes(L, -1) if kind == lua.STRING else b"")
        lua.pop(L, 1)
        if kind == lua.NIL:
            return flags
