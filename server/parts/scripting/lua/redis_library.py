"""The table ``redis``: redis.call and its like for scripts, redis.register_function for libraries.

Source of the texts: Redis's script_lua.c.
"""

from __future__ import annotations

from hashlib import sha1

from protocol.replies import ErrorReply, Reply
from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import natives, values
from server.parts.scripting.lua.host import Host
from server.parts.scripting.lua.lua_api import State

REPL_NONE, REPL_AOF, REPL_SLAVE = 0, 1, 2
REPL_ALL = REPL_AOF | REPL_SLAVE
DEBUG, VERBOSE, NOTICE, WARNING = range(4)
CONSTANTS = {
    b"LOG_DEBUG": DEBUG,
    b"LOG_VERBOSE": VERBOSE,
    b"LOG_NOTICE": NOTICE,
    b"LOG_WARNING": WARNING,
    b"REPL_NONE": REPL_NONE,
    b"REPL_AOF": REPL_AOF,
    b"REPL_SLAVE": REPL_SLAVE,
    b"REPL_REPLICA": REPL_SLAVE,
    b"REPL_ALL": REPL_ALL,
}
NO_ARGUMENTS = b"Please specify at least one argument for this redis lib call"
NO_WORDS = b"Lua redis lib command arguments must be strings or integers"

_running: Host = Host()  # the one whose script runs


def enter(host: Host) -> Host:
    """The scripts of *host* run from now on; returns the one whose have run until now."""
    global _running  # noqa: PLW0603
    left = _running
    _running = host
    return left


def install(L: State) -> None:
    """Put the functions into the table on top."""
    natives.set_native(L, b"call", redis_call)
    natives.set_native(L, b"pcall", redis_pcall)
    natives.set_native(L, b"sha1hex", redis_sha1hex)
    natives.set_native(L, b"setresp", redis_setresp)
    natives.set_native(L, b"set_repl", redis_set_repl)
    natives.set_native(L, b"acl_check_cmd", redis_acl_check_cmd)


def install_common(L: State, versions: dict[bytes, bytes | int]) -> None:
    """Put what libraries have too, while they are loaded, into the table on top."""
    natives.set_native(L, b"log", redis_log)
    for name, value in {**CONSTANTS, **versions}.items():
        if isinstance(value, int):
            lua.push_number(L, value)
        else:
            lua.push_bytes(L, value)
        lua.set_field(L, -2, name)


# ---------------------------------------------------------------------- what Lua calls


def count_reached(L: State) -> int:
    """Every so many instructions: whether the script must end."""
    host = _running
    try:
        if not host.must_end():
            return 0
        if not host.ended_at:
            lua.push_script_place(L)
            host.ended_at = lua.to_bytes(L, -1)
            lua.pop(L, 1)
    except BaseException:  # the server ends, during the script
        return 1
    else:
        return 1
    finally:
        enter(host)  # others may have run meanwhile


def redis_call(L: State) -> int:
    """redis.call(command, ...): an error ends the script, unless it catches it."""
    return _call_command(L, True)


def redis_pcall(L: State) -> int:
    """redis.pcall(command, ...): an error is a value."""
    return _call_command(L, False)


def _call_command(L: State, throws: bool) -> int:
    try:
        reply: Reply
        if lua.top(L) == 0:
            reply = ErrorReply("ERR", NO_ARGUMENTS.decode())
        else:
            words = values.take_words(L)
            reply = ErrorReply("ERR", NO_WORDS.decode()) if words is None else _running.call(words)
            words = None  # so that the next command finds the list unused
        lua.set_top(L, 0)
        if not values.push_reply(L, reply, _running.resp) and throws:
            return -1
    except Exception as error:
        return natives.fail_unexpectedly(L, error)
    except BaseException as error:  # it must not cross Lua's frames: the interpreter raises it
        _running.fault = error
        return lua.END
    return 1


def refuse(L: State, text: bytes) -> int:
    """Throw an error without a place, as Redis's own functions do."""
    values.push_error(L, b"ERR " + text)
    lua.push_nil(L)
    lua.set_field(L, -2, values.IS_COUNTED)
    return -1


def redis_log(L: State) -> int:
    """redis.log(level, text, ...): into the server's log."""
    if lua.top(L) < 2:
        return refuse(L, b"redis.log() requires two arguments or more.")
    if not lua.is_number(L, 1):
        return refuse(L, b"First argument must be a number (log level).")
    level = natives.to_int(L, 1)
    if not DEBUG <= level <= WARNING:
        return refuse(L, b"Invalid log level.")
    texts = [
        lua.to_bytes(L, at)
        for at in range(2, lua.top(L) + 1)
        if lua.type_at(L, at) in (lua.STRING, lua.NUMBER)
    ]
    try:
        _running.log(level, b" ".join(texts))
    except Exception as error:
        return natives.fail_unexpectedly(L, error)
    return 0


def redis_sha1hex(L: State) -> int:
    """redis.sha1hex(text)"""
    if lua.top(L) != 1:
        return refuse(L, b"wrong number of arguments")
    is_text = lua.type_at(L, 1) in (lua.STRING, lua.NUMBER)
    digest = sha1(lua.to_bytes(L, 1) if is_text else b"", usedforsecurity=False)
    lua.push_bytes(L, digest.hexdigest().encode())
    return 1


def redis_setresp(L: State) -> int:
    """redis.setresp(2 | 3): the protocol in which the script gets replies."""
    if lua.top(L) != 1:
        return refuse(L, b"redis.setresp() requires one argument.")
    version = natives.to_int(L, 1)
    if version not in (2, 3):
        return refuse(L, b"RESP version must be 2 or 3.")
    _running.resp = version
    return 0


def redis_set_repl(L: State) -> int:
    """redis.set_repl(flags): refused, for what is not logged would be lost."""
    if lua.top(L) != 1:
        return refuse(L, b"redis.set_repl() requires one argument.")
    flags = natives.to_int(L, 1)
    if not 0 <= flags <= REPL_ALL:
        text = b"Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE."
        return refuse(L, text)
    if flags != REPL_ALL:
        return refuse(L, b"redis.set_repl() can only be used with redis.REPL_ALL")
    return 0


def redis_acl_check_cmd(L: State) -> int:
    """redis.acl_check_cmd(command, ...): whether the user of the script may run it."""
    if lua.top(L) == 0:
        return refuse(L, NO_ARGUMENTS)
    words = values.take_words(L)
    if words is None:
        return refuse(L, NO_WORDS)
    try:
        may = _running.may_call(words)
    except Exception as error:
        return natives.fail_unexpectedly(L, error)
    if may is None:
        return refuse(L, b"Invalid command passed to redis.acl_check_cmd()")
    lua.push_boolean(L, may)
    return 1


def os_clock(L: State) -> int:
    """os.clock(): the CPU time of the process, in s."""
    lua.push_number(L, _running.cpu_s())
    return 1


# ---------------------------------------------------------------------- redis.register_function


def redis_register_function(L: State) -> int:
    """redis.register_function(name, function), or with a table of named arguments."""
    try:
        name, description, flags = _take_named(L) if lua.top(L) == 1 else _take_two(L)
        ref = lua.make_ref(L)  # the function lies on top
        _running.register(name, ref, flags, description)
    except ErrorReply as error:
        return refuse(L, error.text.encode("utf-8", "surrogateescape"))
    except Exception as error:
        return natives.fail_unexpectedly(L, error)
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
