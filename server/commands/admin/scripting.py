"""SCRIPT FLUSH and FUNCTION FLUSH, which do nothing: the server does not run scripts."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.dispatch.call import Call
from server.table import errors
from server.table.command import TABLE, Flags, command, container
from server.table.documentation import Tip

MODES = (b"ASYNC", b"SYNC")

SCRIPT_FLUSH_MODE = ErrorReply("ERR", "SCRIPT FLUSH only support SYNC|ASYNC option")
FUNCTION_FLUSH_MODE = ErrorReply("ERR", "FUNCTION FLUSH only supports SYNC|ASYNC option")

container("SCRIPT", group="scripting", since="2.6.0", summary="Manages Lua scripts.")
container("FUNCTION", group="scripting", since="7.0.0", summary="Manages functions.")


@command(
    "SCRIPT FLUSH",
    arity=-2,
    flags=Flags.NOSCRIPT,
    group="scripting",
    since="2.6.0",
    complexity="O(N) where N is the number of scripts.",
    tips=[Tip.REQUEST_ALL_NODES, Tip.RESPONSE_ALL_SUCCEEDED],
    history=[("6.2.0", "ASYNC and SYNC.")],
)
def script_flush(call: Call) -> Reply:
    """Removes all Lua scripts.

    SCRIPT FLUSH [ASYNC | SYNC]
    """
    options = call.argv[2:]
    if options and (len(options) > 1 or options[0].upper() not in MODES):
        raise SCRIPT_FLUSH_MODE
    return OK


@command(
    "SCRIPT HELP", arity=2, flags=Flags.LOADING | Flags.STALE, group="scripting", since="5.0.0"
)
def script_help(call: Call) -> Reply:
    """Lists the subcommands.

    SCRIPT HELP
    """
    return TABLE.help_of(b"script")


@command(
    "FUNCTION FLUSH",
    arity=-2,
    flags=Flags.NOSCRIPT | Flags.WRITE,
    group="scripting",
    since="7.0.0",
    complexity="O(N) where N is the number of functions.",
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_ALL_SUCCEEDED],
)
def function_flush(call: Call) -> Reply:
    """Removes all functions.

    FUNCTION FLUSH [ASYNC | SYNC]
    """
    options = call.argv[2:]
    if len(options) > 1:
        raise errors.bad_subcommand("function", call.argv[1])
    if options and options[0].upper() not in MODES:
        raise FUNCTION_FLUSH_MODE
    return OK


@command(
    "FUNCTION HELP", arity=2, flags=Flags.LOADING | Flags.STALE, group="scripting", since="7.0.0"
)
def function_help(call: Call) -> Reply:
    """Lists the subcommands.

    FUNCTION HELP
    """
    return TABLE.help_of(b"function")
