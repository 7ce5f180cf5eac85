"""ROLE, REPLICAOF and SLAVEOF: what the server is, and what it is to be."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply, Status
from server.dispatch.call import Call
from server.table.command import Flags, command
from server.table.documentation import Deprecated
from storage import octets

OPERATOR = Flags.ADMIN | Flags.NOSCRIPT | Flags.STALE
MAX_PORT = 65535

BAD_HOST = ErrorReply("ERR", "Invalid master host")  # redis.conf could not be written with it
BAD_PORT = ErrorReply("ERR", "Invalid master port")
ALREADY = Status(b"OK Already connected to specified master")


@command(
    "ROLE",
    arity=1,
    flags=Flags.NOSCRIPT | Flags.LOADING | Flags.STALE | Flags.FAST,
    group="server",
    since="2.8.12",
    categories=["admin", "dangerous"],
)
def role(call: Call) -> Reply:
    """Returns whether the server is a master or a replica, its offset, and the other side.

    ROLE
    """
    replication = call.server.replication
    following = replication.following
    if following is not None:
        offset = replication.history.offset if following.is_up else -1
        state = following.state.value.encode()
        return [b"slave", following.host.encode(), following.port, state, offset]
    rows: list[Reply] = [
        [replica.host.encode(), b"%d" % replica.port, b"%d" % replica.acked]
        for replica in replication.replicas.online
    ]
    return [b"master", replication.feed.offset(), rows]


def _replicate(call: Call) -> Reply:
    host, port = call.argv[1:3]
    replication = call.server.replication
    if replication.failover.is_on:
        raise ErrorReply("ERR", "REPLICAOF not allowed while failing over.")
    if (host.lower(), port.lower()) == (b"no", b"one"):
        replication.promote()
        return OK
    if not octets.is_int64(port) or not 0 <= octets.int64_of(port) <= MAX_PORT:
        raise BAD_PORT
    if len(host.split()) != 1:
        raise BAD_HOST
    name, number = host.decode("utf-8", "surrogateescape"), octets.int64_of(port)
    following = replication.following
    if following is not None and (following.host, following.port) == (name, number):
        return ALREADY
    replication.follow(name, number)
    return OK


@command(
    "REPLICAOF",
    arity=3,
    flags=OPERATOR | Flags.NO_ASYNC_LOADING,
    group="server",
    since="5.0.0",
)
def replicaof(call: Call) -> Reply:
    """Makes the server a replica of another one, or a master with the data it has.

    REPLICAOF <host port | NO ONE>
    """
    return _replicate(call)


@command(
    "SLAVEOF",
    arity=3,
    flags=OPERATOR | Flags.NO_ASYNC_LOADING,
    group="server",
    since="1.0.0",
    deprecated=Deprecated("5.0.0", "REPLICAOF"),
)
def slaveof(call: Call) -> Reply:
    """Makes the server a replica of another one, or a master with the data it has.

    SLAVEOF <host port | NO ONE>
    """
    return _replicate(call)
