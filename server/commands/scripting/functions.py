"""FUNCTION: the libraries of functions, and the function that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.replies import OK, ErrorReply, Reply, Set, Status
from server.commands.scripting import scripts
from server.dispatch.call import Call
from server.parts.scripting.header import flag_names
from server.table import errors
from server.table.command import Flags, command, container, container_help
from server.table.documentation import Tip
from storage import function_payload, glob
from storage.errors import Corrupt

if TYPE_CHECKING:
    from server.parts.scripting.function_libraries import Library

FLUSH_MODE = ErrorReply("ERR", "FUNCTION FLUSH only supports SYNC|ASYNC option")
NO_PATTERN = ErrorReply("ERR", "library name argument was not given")
BAD_POLICY = ErrorReply(
    "ERR", "Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE."
)
NOT_FUNCTIONS = ErrorReply("ERR", "given type is not a function")
WRITES = Flags.NOSCRIPT | Flags.WRITE

container("FUNCTION", group="scripting", since="7.0.0", summary="Manages functions.")


@command(
    "FUNCTION LOAD",
    arity=-3,
    flags=WRITES | Flags.DENYOOM,
    group="scripting",
    since="7.0.0",
    complexity="O(1) (considering compilation time is redundant)",
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_ALL_SUCCEEDED],
)
def function_load(call: Call) -> Reply:
    """Reads a library of functions and keeps it; returns its name.

    FUNCTION LOAD [REPLACE] function-code
    """
    replace = False
    for word in call.argv[2:-1]:
        if word.upper() != b"REPLACE":
            raise ErrorReply("ERR", f"Unknown option given: {errors.text_of(word)}")
        replace = True
    _, libraries = call.server.scripting.functions()
    name: bytes = libraries.load(call.argv[-1], replace).name
    _changed(call)
    return name


@command(
    "FUNCTION DELETE",
    arity=3,
    flags=WRITES,
    group="scripting",
    since="7.0.0",
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_ALL_SUCCEEDED],
)
def function_delete(call: Call) -> Reply:
    """Removes a library and its functions.

    FUNCTION DELETE library-name
    """
    _, libraries = call.server.scripting.functions()
    libraries.delete(call.argv[2])
    _changed(call)
    return OK


@command(
    "FUNCTION FLUSH",
    arity=-2,
    flags=WRITES,
    group="scripting",
    since="7.0.0",
    complexity="O(N) where N is the number of functions deleted",
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_ALL_SUCCEEDED],
)
def function_flush(call: Call) -> Reply:
    """Removes all libraries.

    FUNCTION FLUSH [ASYNC | SYNC]
    """
    options = call.argv[2:]
    if len(options) > 1:
        raise errors.bad_subcommand("function", call.argv[1])
    if options and options[0].upper() not in scripts.MODES:
        raise FLUSH_MODE
    call.server.scripting.use_functions(None)
    _changed(call)
    return OK


def _changed(call: Call) -> None:
    """Count the change, so that it is logged and saved."""
    call.count_changes(1)
    call.server.scripting.count_memory()


# ---------------------------------------------------------------------- what is loaded


@command(
    "FUNCTION LIST",
    arity=-2,
    flags=Flags.NOSCRIPT | Flags.READS_OTHERS,
    group="scripting",
    since="7.0.0",
    complexity="O(N) where N is the number of functions",
    tips=[Tip.NONDETERMINISTIC_OUTPUT_ORDER],
)
def function_list(call: Call) -> Reply:
    """Describes the libraries, or those whose names match the pattern.

    FUNCTION LIST [LIBRARYNAME library-name-pattern] [WITHCODE]
    """
    pattern, with_code = _list_options(call.argv)
    _, libraries = call.server.scripting.functions()
    return [
        _description(library, with_code)
        for library in libraries.libraries.values()
        if pattern is None or glob.match(pattern, library.name, True)
    ]


def _list_options(argv: list[bytes]) -> tuple[bytes | None, bool]:
    """The pattern, and whether the texts are wanted. Raises ErrorReply."""
    pattern, with_code = None, False
    at = 2
    while at < len(argv):
        word = argv[at].upper()
        if word == b"WITHCODE" and not with_code:
            with_code = True
        elif word == b"LIBRARYNAME" and pattern is None:
            at += 1
            if at == len(argv):
                raise NO_PATTERN
            pattern = argv[at]
        else:
            raise ErrorReply("ERR", f"Unknown argument {errors.text_of(argv[at])}")
        at += 1
    return pattern, with_code


def _description(library: Library, with_code: bool) -> dict[bytes, Reply]:
    described: dict[bytes, Reply] = {
        b"library_name": library.name,
        b"engine": b"LUA",
        b"functions": [
            {
                b"name": function.name,
                b"description": function.description,
                b"flags": Set([Status(name) for name in flag_names(function.flags)]),
            }
            for function in library.functions.values()
        ],
    }
    if with_code:
        described[b"library_code"] = library.source
    return described


@command(
    "FUNCTION STATS",
    arity=2,
    flags=Flags.NOSCRIPT | Flags.ALLOW_BUSY | Flags.READS_OTHERS,
    group="scripting",
    since="7.0.0",
    tips=[Tip.NONDETERMINISTIC_OUTPUT, Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_SPECIAL],
)
def function_stats(call: Call) -> Reply:
    """Tells which function runs, since when, and how many functions there are.

    FUNCTION STATS
    """
    busy, this = call.server.restrictions.busy, call.server.scripting.run
    if busy is not None and not this.is_function:
        raise busy
    running: Reply = None
    if busy is not None:
        running = {
            b"name": this.name,
            b"command": list(this.argv),
            b"duration_ms": this.duration_ms,
        }
    _, libraries, functions = call.server.scripting.counts()
    return {
        b"running_script": running,
        b"engines": {b"LUA": {b"libraries_count": libraries, b"functions_count": functions}},
    }


@command(
    "FUNCTION KILL",
    arity=2,
    flags=Flags.NOSCRIPT | Flags.ALLOW_BUSY,
    group="scripting",
    since="7.0.0",
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_ONE_SUCCEEDED],
)
def function_kill(call: Call) -> Reply:
    """Ends the function that runs, unless it has written.

    FUNCTION KILL
    """
    return scripts.kill(call, is_function=True)


# ---------------------------------------------------------------------- dump and restore


@command(
    "FUNCTION DUMP",
    arity=2,
    flags=Flags.NOSCRIPT | Flags.READS_OTHERS,
    group="scripting",
    since="7.0.0",
    complexity="O(N) where N is the number of functions",
)
def function_dump(call: Call) -> Reply:
    """Returns all libraries as one value, for FUNCTION RESTORE.

    FUNCTION DUMP
    """
    return function_payload.dump(call.server.scripting.library_sources)


@command(
    "FUNCTION RESTORE",
    arity=-3,
    flags=WRITES | Flags.DENYOOM,
    group="scripting",
    since="7.0.0",
    complexity="O(N) where N is the number of functions on the payload",
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_ALL_SUCCEEDED],
)
def function_restore(call: Call) -> Reply:
    """Brings the libraries of FUNCTION DUMP back, all of them or none.

    FUNCTION RESTORE serialized-value [FLUSH | APPEND | REPLACE]
    """
    if len(call.argv) > 4:
        raise errors.bad_subcommand("function", call.argv[1])
    policy = call.argv[3].upper() if len(call.argv) == 4 else b"APPEND"
    if policy not in (b"FLUSH", b"APPEND", b"REPLACE"):
        raise BAD_POLICY
    try:
        sources = function_payload.restore(call.argv[2])
    except Corrupt:
        raise NOT_FUNCTIONS from None
    scripting = call.server.scripting
    if policy != b"FLUSH":
        scripting.functions()[1].load_all(sources, policy == b"REPLACE")
    else:
        made = scripting.new_functions()
        try:
            made[1].load_all(sources, False)
        except ErrorReply:
            made[0].interpreter.close()
            raise
        scripting.use_functions(made)
    _changed(call)
    return OK


container_help("FUNCTION", group="scripting", since="7.0.0")
