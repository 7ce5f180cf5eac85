"""EVAL, EVALSHA, and the same without writes."""

from __future__ import annotations

from protocol.replies import Reply
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
    return _run_text(call, read_only=False)


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
    return _run_text(call, read_only=True)


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
    return _run_known(call, read_only=False)


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
    return _run_known(call, read_only=True)


def _run_text(call: Call, read_only: bool) -> Reply:
    keys = running.key_count(call.argv)
    engine, cache = call.server.scripting.scripts()
    script = cache.get(call.argv[1])
    return running.run_script(call, engine, script, keys, read_only)


def _run_known(call: Call, read_only: bool) -> Reply:
    if len(call.argv[1]) != SHA_CHARACTERS:
        raise errors.NO_SUCH_SCRIPT
    keys = running.key_count(call.argv)
    engine, cache = call.server.scripting.scripts()
    script = cache.find(call.argv[1])
    if script is None:
        raise errors.NO_SUCH_SCRIPT
    return running.run_script(call, engine, script, keys, read_only)
