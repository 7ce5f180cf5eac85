"""How a script or a function is run for a client: what is asked before, what is answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from protocol.encoder import Encoder
from protocol.replies import ErrorReply, Reply
from server.dispatch.call import Call
from server.scripting.header import ALLOW_OOM, NO_HEADER, NO_WRITES
from server.scripting.script_run import ScriptRun
from server.table import errors
from server.table.args import to_int
from server.table.errors import CountedError

if TYPE_CHECKING:
    from server.lua.interpreter import Failure, Interpreter

WRITES_IN_READ_ONLY = ErrorReply(
    "ERR", "Can not execute a script with write flag using *_ro command."
)
NEEDS_ALLOW_OOM = ErrorReply(
    "OOM",
    "allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
)
BAD_KEY_COUNT = ErrorReply("ERR", "Bad number of keys provided")
TOO_MANY_KEYS = ErrorReply("ERR", "Number of keys can't be greater than number of args")
NEGATIVE_KEYS = ErrorReply("ERR", "Number of keys can't be negative")
KILLED = "Script killed by user with {} KILL..."

Start = Callable[[Encoder], "Failure | None"]


def take_words(
    argv: list[bytes], no_number: ErrorReply = errors.NOT_AN_INTEGER
) -> tuple[list[bytes], list[bytes]]:
    """The keys and the other arguments behind ``EVAL script numkeys``. Raises ErrorReply."""
    count = to_int(argv[2], no_number)
    if count > len(argv) - 3:
        raise TOO_MANY_KEYS
    if count < 0:
        raise NEGATIVE_KEYS
    return argv[3 : 3 + count], argv[3 + count :]


def check(call: Call, flags: int, read_only: bool) -> None:
    """See that a script with these *flags* may run now. Raises ErrorReply.

    One without a first line is not asked here: each of its commands is.
    """
    if flags & NO_HEADER:
        return
    now = call.server.restrictions
    if not flags & NO_WRITES:
        if read_only:
            raise WRITES_IN_READ_ONLY
        if now.write_refusal is not None:
            raise now.write_refusal
    is_full = now.must_check and call.server.key_eviction.is_out_of_memory
    if is_full and not flags & (NO_WRITES | ALLOW_OOM):
        raise NEEDS_ALLOW_OOM


def run(
    call: Call,
    name: bytes,
    flags: int,
    interpreter: Interpreter,
    ref: int,
    is_function: bool = False,
    read_only: bool = False,
) -> Reply:
    """Run what *ref* refers to, with the words of *call*: its result. Raises ErrorReply."""
    keys, arguments = take_words(call.argv, BAD_KEY_COUNT if is_function else errors.NOT_AN_INTEGER)
    check(call, flags, read_only)
    if read_only:
        flags |= NO_WRITES
    client, this = call.client, call.server.scripting.run
    out: Encoder = client.out.another()
    database = client.db_index
    this.begin(client, call.executor, call.argv, name, flags, is_function)
    try:
        if is_function:
            failure = interpreter.run_function(ref, keys, arguments, out)
        else:
            failure = interpreter.run_script(ref, keys, arguments, out)
        if failure is not None:
            raise error_of(failure, this)
    finally:
        client.db_index = database
        this.end()
    return out


def error_of(failure: Failure, this: ScriptRun) -> ErrorReply:
    """What a client is told of a script that has failed, as Redis words it."""
    if this.ends:
        code, text = "ERR", KILLED.format("FUNCTION" if this.is_function else "SCRIPT")
    else:
        code, _, text = failure.text.decode("utf-8", "surrogateescape").partition(" ")
    if failure.place:
        name, place = errors.text_of(this.name), errors.text_of(failure.place)
        text += f" script: {name}, on {place}."
    return (CountedError if failure.counted and not this.ends else ErrorReply)(code, text)
