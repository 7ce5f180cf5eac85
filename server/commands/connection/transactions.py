"""MULTI, EXEC, DISCARD, WATCH, UNWATCH."""

from __future__ import annotations

from protocol.replies import NULL_ARRAY, OK, ErrorReply, Reply
from server.dispatch.call import Call
from server.table import errors
from server.table.command import Flags, command
from server.table.keys import RO, KeyRange

AT_ONCE = Flags.NOSCRIPT | Flags.LOADING | Flags.STALE | Flags.ALLOW_BUSY | Flags.NOT_QUEUED

NESTED = ErrorReply("ERR", "MULTI calls can not be nested")
EXEC_WITHOUT_MULTI = ErrorReply("ERR", "EXEC without MULTI")
DISCARD_WITHOUT_MULTI = ErrorReply("ERR", "DISCARD without MULTI")
WATCH_INSIDE_MULTI = ErrorReply("ERR", "WATCH inside MULTI is not allowed")


@command("MULTI", arity=1, flags=AT_ONCE | Flags.FAST, group="transactions", since="1.2.0")
def multi(call: Call) -> Reply:
    """Begins a transaction: the commands that follow are queued until EXEC.

    MULTI
    """
    if call.client.in_multi:
        raise NESTED
    call.client.enter_multi()
    return OK


@command(
    "EXEC",
    arity=1,
    flags=AT_ONCE & ~Flags.ALLOW_BUSY | Flags.SKIP_SLOWLOG | Flags.RUNS_QUEUE,
    group="transactions",
    since="1.2.0",
    complexity="Depends on commands in the transaction",
)
def exec_(call: Call) -> Reply:
    """Runs the queued commands with no others between them; null if a watched key changed.

    EXEC
    """
    client = call.client
    if not client.in_multi:
        raise EXEC_WITHOUT_MULTI
    call.server.watching.note_expired(client, call.server.databases)
    queue, refused, changed = client.queue, client.dirty_exec, client.dirty_watch
    call.server.watching.leave_multi(client)
    if refused:
        if client.acks is not None:
            client.acks.reads = False  # so nothing is to be confirmed
        raise errors.EXEC_ABORTED
    if changed:
        return NULL_ARRAY
    return call.executor.execution.run_queued(client, queue)


@command("DISCARD", arity=1, flags=AT_ONCE | Flags.FAST, group="transactions", since="2.0.0")
def discard(call: Call) -> Reply:
    """Ends a transaction without running the queued commands.

    DISCARD
    """
    if not call.client.in_multi:
        raise DISCARD_WITHOUT_MULTI
    call.server.watching.leave_multi(call.client)
    return OK


@command(
    "WATCH",
    arity=-2,
    flags=AT_ONCE | Flags.FAST,
    group="transactions",
    since="2.2.0",
    complexity="O(1) for every key.",
    keys=KeyRange(RO, last=-1),
)
def watch(call: Call) -> Reply:
    """Makes the next EXEC run nothing if one of these keys changes before it.

    WATCH key [key ...]
    """
    if call.client.in_multi:
        raise WATCH_INSIDE_MULTI
    if not call.client.dirty_watch:
        for key in call.argv[1:]:
            call.server.watching.watch(call.client, call.db, key)
    return OK


@command(
    "UNWATCH",
    arity=1,
    flags=AT_ONCE & ~Flags.NOT_QUEUED | Flags.FAST,
    group="transactions",
    since="2.2.0",
)
def unwatch(call: Call) -> Reply:
    """Stops watching all keys.

    UNWATCH
    """
    call.server.watching.unwatch(call.client)
    return OK
