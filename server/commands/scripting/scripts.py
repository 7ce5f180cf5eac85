"""SCRIPT: the scripts that the server knows, and the one that runs."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.dispatch.call import Call
from server.table.command import Flags, command, container, container_help
from server.table.documentation import Tip

MODES = (b"ASYNC", b"SYNC")
FLUSH_MODE = ErrorReply("ERR", "SCRIPT FLUSH only support SYNC|ASYNC option")
NO_SUCH_SCRIPT = ErrorReply("NOSCRIPT", "No matching script.")
NOT_BUSY = ErrorReply("NOTBUSY", "No scripts in execution right now.")
UNKILLABLE = ErrorReply(
    "UNKILLABLE",
    "Sorry the script already executed write commands against the dataset. You can either wait the"
    " script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.",
)
NO_DEBUGGER = ErrorReply("ERR", "SCRIPT DEBUG is not supported: this server has no Lua debugger")

container("SCRIPT", group="scripting", since="2.6.0", summary="Manages Lua scripts.")


@command(
    "SCRIPT LOAD",
    arity=3,
    flags=Flags.NOSCRIPT | Flags.STALE,
    group="scripting",
    since="2.6.0",
    complexity="O(N) with N being the length in bytes of the script body.",
    tips=[Tip.REQUEST_ALL_NODES, Tip.RESPONSE_ALL_SUCCEEDED],
)
def script_load(call: Call) -> Reply:
    """Reads a Lua script and keeps it for EVALSHA; returns the SHA-1 of its text.

    SCRIPT LOAD script
    """
    _, cache = call.server.scripting.scripts()
    sha: bytes = cache.load(call.argv[2]).sha
    call.server.scripting.count_memory()
    return sha


@command(
    "SCRIPT EXISTS",
    arity=-3,
    flags=Flags.NOSCRIPT,
    group="scripting",
    since="2.6.0",
    complexity="O(N) with N being the number of scripts to check.",
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_AGG_LOGICAL_AND],
)
def script_exists(call: Call) -> Reply:
    """Says of each SHA-1 whether the server knows its script.

    SCRIPT EXISTS sha1 [sha1 ...]
    """
    _, cache = call.server.scripting.scripts()
    return [int(cache.known_by(sha) is not None) for sha in call.argv[2:]]


@command(
    "SCRIPT SHOW", arity=3, flags=Flags.NOSCRIPT | Flags.STALE, group="scripting", since="8.0.0",
    complexity="O(1)",
)  # fmt: skip
def script_show(call: Call) -> Reply:
    """Returns the text of a script, by its SHA-1 (of Valkey).

    SCRIPT SHOW sha1
    """
    _, cache = call.server.scripting.scripts()
    script = cache.known_by(call.argv[2])
    if script is None:
        raise NO_SUCH_SCRIPT
    return script.source


@command(
    "SCRIPT FLUSH",
    arity=-2,
    flags=Flags.NOSCRIPT,
    group="scripting",
    since="2.6.0",
    complexity="O(N) with N being the number of scripts in cache",
    tips=[Tip.REQUEST_ALL_NODES, Tip.RESPONSE_ALL_SUCCEEDED],
    history=[("6.2.0", "ASYNC and SYNC.")],
)
def script_flush(call: Call) -> Reply:
    """Forgets all Lua scripts.

    SCRIPT FLUSH [ASYNC | SYNC]
    """
    options = call.argv[2:]
    if options and (len(options) > 1 or options[0].upper() not in MODES):
        raise FLUSH_MODE
    call.server.scripting.flush_scripts()
    return OK


@command(
    "SCRIPT KILL",
    arity=2,
    flags=Flags.NOSCRIPT | Flags.ALLOW_BUSY,
    group="scripting",
    since="2.6.0",
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_ONE_SUCCEEDED],
)
def script_kill(call: Call) -> Reply:
    """Ends the Lua script that runs, unless it has written.

    SCRIPT KILL
    """
    return kill(call, is_function=False)


def kill(call: Call, is_function: bool) -> Reply:
    """End the script, or the function, that runs."""
    busy, this = call.server.restrictions.busy, call.server.scripting.run
    if busy is None:
        raise NOT_BUSY
    if this.is_function != is_function:
        raise busy
    if not this.end_if_unwritten():
        raise UNKILLABLE
    return OK


@command("SCRIPT DEBUG", arity=3, flags=Flags.NOSCRIPT, group="scripting", since="3.2.0")
def script_debug(_call: Call) -> Reply:
    """Is refused: there is no debugger.

    SCRIPT DEBUG <YES | SYNC | NO>
    """
    raise NO_DEBUGGER


container_help("SCRIPT", group="scripting", since="5.0.0")
