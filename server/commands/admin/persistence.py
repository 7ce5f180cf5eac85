"""SAVE, BGSAVE, LASTSAVE, BGREWRITEAOF: clients ask for a snapshot or a rewrite of the AOF."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply, Status
from server.dispatch.call import Call
from server.table import errors
from server.table.command import Flags, command
from server.table.documentation import Tip

OPERATOR = Flags.ADMIN | Flags.NOSCRIPT | Flags.NO_ASYNC_LOADING

REWRITE_STARTED = Status(b"Background append only file rewriting started")
REWRITE_SCHEDULED = Status(b"Background append only file rewriting scheduled")
REWRITE_IN_PROGRESS = ErrorReply("ERR", "Background append only file rewriting already in progress")
CANNOT_REWRITE = ErrorReply(
    "ERR",
    "Can't execute an AOF background rewriting. Please check the server logs for more information.",
)


@command(
    "SAVE",
    arity=1,
    flags=OPERATOR | Flags.NO_MULTI,
    group="server",
    since="1.0.0",
    complexity="O(N) where N is the total number of keys in all databases",
)
def save(call: Call) -> Reply:
    """Writes a snapshot of all data; no client is served meanwhile.

    SAVE
    """
    call.server.persistence.snapshots.save()
    call.server.restrictions.follow_persistence()
    return OK


@command("BGSAVE", arity=-1, flags=OPERATOR, group="server", since="1.0.0")
def bgsave(call: Call) -> Reply:
    """Writes a snapshot in a child process; with SCHEDULE, after a running AOF rewrite.

    BGSAVE [SCHEDULE]
    """
    if len(call.argv) > 2 or (len(call.argv) == 2 and call.argv[1].upper() != b"SCHEDULE"):
        raise errors.SYNTAX
    schedule = len(call.argv) == 2
    snapshots = call.server.persistence.snapshots
    answer: Status = snapshots.save_in_background(schedule, call.is_inside())
    return answer


@command(
    "LASTSAVE",
    arity=1,
    flags=Flags.LOADING | Flags.STALE | Flags.FAST,
    group="server",
    since="1.0.0",
    categories=["admin", "dangerous"],
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
)
def lastsave(call: Call) -> Reply:
    """Returns the unix time in seconds of the last snapshot that was written.

    LASTSAVE
    """
    when: int = call.server.persistence.snapshots.last_save_s
    return when


@command("BGREWRITEAOF", arity=1, flags=OPERATOR, group="server", since="1.0.0")
def bgrewriteaof(call: Call) -> Reply:
    """Rewrites the append-only file in a child process, as short as it can be.

    BGREWRITEAOF
    """
    persistence = call.server.persistence
    if persistence.append_only.is_rewriting:
        raise REWRITE_IN_PROGRESS
    if persistence.children.child is not None or call.is_inside():
        persistence.append_only.scheduled = True
        return REWRITE_SCHEDULED
    if not persistence.append_only.start_rewrite():
        raise CANNOT_REWRITE
    return REWRITE_STARTED
