"""EVAL, EVALSHA, FCALL, and the same without writes: how a script or a function is run."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.scripting import running
from server.dispatch.call import Call
from server.parts.scripting.script import SHA_CHARACTERS
from server.table import errors
from server.table.command import Flags, command
from server.table.keys import ACCESS, RO, RW, UPDATE, CountedKeys

RUNS = (
    Flags.NOSCRIPT | Flags.SKIP_MONITOR | Flags.STALE | Flags.NO_MANDATORY_KEYS | Flags.MOVABLEKEYS
)
RUNS_ANY = RUNS | Flags.MAY_REPLICATE | Flags.RUNS_SCRIPTS
RUNS_READS = RUNS | Flags.READONLY | Flags.RUNS_SCRIPTS
COMPLEXITY = "Depends on the script that is executed."

NO_FUNCTION = ErrorReply("ERR", "Function not found")

# ---------------------------------------------------------------------- scripts


@command(
    "EVAL",
    arity=-3,
    flags=RUNS_ANY,
    group="scripting",
    since="2.6.0",
    complexity=COMPLEXITY,
    keys=CountedKeys(RW | ACCESS | UPDATE, 2),
)
def eval_(call: Call) -> Reply:
    """Runs a Lua script, which finds its words in KEYS and ARGV.

    EVAL script numkeys [key [key ...]] [arg [arg ...]]
    """
    return _run_script(call, is_known=False, read_only=False)


@command(
    "EVAL_RO",
    arity=-3,
    flags=RUNS_READS,
    group="scripting",
    since="7.0.0",
    complexity=COMPLEXITY,
    keys=CountedKeys(RO | ACCESS, 2),
)
def eval_ro(call: Call) -> Reply:
    """Runs a Lua script that may not write.

    EVAL_RO script numkeys [key [key ...]] [arg [arg ...]]
    """
    return _run_script(call, is_known=False, read_only=True)


@command(
    "EVALSHA",
    arity=-3,
    flags=RUNS_ANY,
    group="scripting",
    since="2.6.0",
    complexity=COMPLEXITY,
    keys=CountedKeys(RW | ACCESS | UPDATE, 2),
)
def evalsha(call: Call) -> Reply:
    """Runs a Lua script that the server knows, by the SHA-1 of its text.

    EVALSHA sha1 numkeys [key [key ...]] [arg [arg ...]]
    """
    return _run_script(call, is_known=True, read_only=False)


@command(
    "EVALSHA_RO",
    arity=-3,
    flags=RUNS_READS,
    group="scripting",
    since="7.0.0",
    complexity=COMPLEXITY,
    keys=CountedKeys(RO | ACCESS, 2),
)
def evalsha_ro(call: Call) -> Reply:
    """Runs a Lua script that the server knows, and that may not write.

    EVALSHA_RO sha1 numkeys [key [key ...]] [arg [arg ...]]
    """
    return _run_script(call, is_known=True, read_only=True)


def _run_script(call: Call, is_known: bool, read_only: bool) -> Reply:
    """Run the script of a text or, if it *is_known*, of a SHA-1. Raises ErrorReply."""
    if is_known and len(call.argv[1]) != SHA_CHARACTERS:
        raise errors.NO_SUCH_SCRIPT
    keys = running.key_count(call.argv)
    engine, cache = call.server.scripting.scripts()
    script = cache.known_by(call.argv[1]) if is_known else cache.compiled(call.argv[1])
    if script is None:
        raise errors.NO_SUCH_SCRIPT
    flags = running.checked_flags(call, script.flags, read_only)
    return engine.run_for(call.client, call.argv, script.sha, flags, script.ref, keys, False)


# ---------------------------------------------------------------------- functions


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
    function = libraries.named(call.argv[1])
    if function is None:
        raise NO_FUNCTION
    keys = running.key_count(call.argv, running.BAD_KEY_COUNT)
    flags = running.checked_flags(call, function.flags, read_only)
    return engine.run_for(call.client, call.argv, function.name, flags, function.ref, keys, True)
