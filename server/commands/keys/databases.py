"""Commands on whole databases: DBSIZE, FLUSHDB, FLUSHALL, SWAPDB."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.dispatch.call import Call
from server.table import errors
from server.table.args import to_int32
from server.table.command import Flags, command
from server.table.documentation import Tip
from storage.keyspace.keyspace import Keyspace

INVALID_FIRST = ErrorReply("ERR", "invalid first DB index")
INVALID_SECOND = ErrorReply("ERR", "invalid second DB index")


@command(
    "DBSIZE",
    arity=1,
    flags=Flags.READONLY | Flags.FAST,
    group="server",
    since="1.0.0",
    categories=["keyspace"],
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_AGG_SUM],
)
def dbsize(call: Call) -> Reply:
    """Counts the keys of the database.

    DBSIZE
    """
    return len(call.db)


@command(
    "FLUSHDB",
    arity=-1,
    flags=Flags.WRITE,
    group="server",
    since="1.0.0",
    complexity="O(N) where N is the number of keys in the database.",
    categories=["keyspace", "dangerous"],
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_ALL_SUCCEEDED],
    history=[
        ("4.0.0", "ASYNC."),
        ("6.2.0", "SYNC."),
    ],
)
def flushdb(call: Call) -> Reply:
    """Empties the database that the connection uses.

    FLUSHDB [ASYNC | SYNC]
    """
    _flush(call, [call.db])
    return OK


@command(
    "FLUSHALL",
    arity=-1,
    flags=Flags.WRITE,
    group="server",
    since="1.0.0",
    complexity="O(N) where N is the number of keys in all databases.",
    categories=["keyspace", "dangerous"],
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_ALL_SUCCEEDED],
    history=[
        ("4.0.0", "ASYNC."),
        ("6.2.0", "SYNC."),
    ],
)
def flushall(call: Call) -> Reply:
    """Empties every database.

    FLUSHALL [ASYNC | SYNC]
    """
    _flush(call, call.server.databases)
    call.server.persistence.snapshots.all_flushed()
    return OK


def _flush(call: Call, databases: list[Keyspace]) -> None:
    """Empty *databases*. It counts as a change even if they were empty, so that it is logged.

    ASYNC and SYNC do the same here, but what ASYNC has freed is counted.
    """
    mode = b"ASYNC" if call.server.config.lazyfree_lazy_user_flush else b"SYNC"
    if len(call.argv) > 1:
        mode = call.argv[1].upper()
    if len(call.argv) > 2 or mode not in (b"ASYNC", b"SYNC"):
        raise errors.SYNTAX
    removed = call.server.empty(databases)
    call.count_changes(max(removed, 1))
    if mode == b"ASYNC":
        call.server.events.freeing.count += removed


@command(
    "SWAPDB",
    arity=3,
    flags=Flags.WRITE | Flags.FAST,
    group="server",
    since="4.0.0",
    complexity="O(N) where N is the number of keys watched or waited for in both databases.",
    categories=["keyspace", "dangerous"],
)
def swapdb(call: Call) -> Reply:
    """Exchanges the contents of two databases.

    SWAPDB index1 index2
    """
    server = call.server
    first = to_int32(call.argv[1], INVALID_FIRST)
    second = to_int32(call.argv[2], INVALID_SECOND)
    if not (0 <= first < len(server.databases) and 0 <= second < len(server.databases)):
        raise errors.DB_OUT_OF_RANGE
    call.count_changes(1)
    if first != second:
        one, other = server.databases[first], server.databases[second]
        server.swap(one, other)
    return OK
