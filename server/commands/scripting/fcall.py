"""FCALL and FCALL_RO."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.scripting import running
from server.commands.scripting.eval import RUNS_ANY, RUNS_READS
from server.commands.scripting.running import BAD_KEY_COUNT
from server.dispatch.call import Call
from server.table.command import command
from server.table.keys import ACCESS, RO, RW, UPDATE, CountedKeys

NO_FUNCTION = ErrorReply("ERR", "Function not found")


@command(
    "FCALL",
    arity=-3,
    flags=RUNS_ANY,
    group="scripting",
    since="7.0.0",
    complexity="Depends on the function that is executed.",
    keys=CountedKeys(RW | ACCESS | UPDATE, 2),
)
def fcall(call: Call) -> Reply:
    """Calls a function of a library.

    FCALL function numkeys [key [key ...]] [arg [arg ...]]
    """
    return _call_function(call, read_only=False)


@command(
    "FCALL_RO",
    arity=-3,
    flags=RUNS_READS,
    group="scripting",
    since="7.0.0",
    complexity="Depends on the function that is executed.",
    keys=CountedKeys(RO | ACCESS, 2),
)
def fcall_ro(call: Call) -> Reply:
    """Calls a function of a library, which may not write.

    FCALL_RO function numkeys [key [key ...]] [arg [arg ...]]
    """
    return _call_function(call, read_only=True)


def _call_function(call: Call, read_only: bool) -> Reply:
    opened = call.server.scripting.opened_functions
    if opened is None:
        raise NO_FUNCTION
    engine, libraries = opened
    function = libraries.find(call.argv[1])
    if function is None:
        raise NO_FUNCTION
    keys = running.key_count(call.argv, BAD_KEY_COUNT)
    flags = running.checked_flags(call, function.flags, read_only)
    return engine.run_for(call.client, call.argv, function.name, flags, function.ref, keys, True)
