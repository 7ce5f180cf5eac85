"""ROLE, WAIT, REPLICAOF, SLAVEOF and FAILOVER, as a server without replicas answers them."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.config.accepted_parameters import NO_REPLICA
from server.dispatch.call import Call
from server.table import errors
from server.table.args import to_int, to_timeout_ms
from server.table.command import Block, Flags, command
from server.table.documentation import Deprecated, Tip
from storage import octets

OPERATOR = Flags.ADMIN | Flags.NOSCRIPT | Flags.STALE
MAX_PORT = 65535

BAD_PORT = ErrorReply("ERR", "Invalid master port")
NEVER_A_REPLICA = ErrorReply("ERR", NO_REPLICA)
NO_FAILOVER = ErrorReply("ERR", "No failover in progress.")
NO_REPLICAS_TO_FAIL_OVER = ErrorReply("ERR", "FAILOVER requires connected replicas.")


@command(
    "ROLE",
    arity=1,
    flags=Flags.NOSCRIPT | Flags.LOADING | Flags.STALE | Flags.FAST,
    group="server",
    since="2.8.12",
    categories=["admin", "dangerous"],
)
def role(_call: Call) -> Reply:
    """Returns that the server is a master, its replication offset, and its replicas: none.

    ROLE
    """
    return [b"master", 0, []]


@command(
    "WAIT",
    arity=3,
    flags=Flags.BLOCKING,
    group="generic",
    since="3.0.0",
    categories=["connection"],
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_AGG_MIN],
)
def wait(call: Call) -> Reply | Block:
    """Waits until this connection's writes are on a number of replicas.

    WAIT numreplicas timeout

    Returns how many replicas have them: none. Waiting for one lasts until the timeout (ms; 0: for
    ever).
    """
    replicas, timeout_ms = to_int(call.argv[1]), to_timeout_ms(call.argv[2], call.now_ms)
    return 0 if replicas <= 0 else Block([], object, timeout_ms, 0, 0)


def _replicate(call: Call) -> Reply:
    host, port = call.argv[1:3]
    if (host.lower(), port.lower()) == (b"no", b"one"):
        return OK
    if not octets.is_int64(port) or not 0 <= octets.int64_of(port) <= MAX_PORT:
        raise BAD_PORT
    raise NEVER_A_REPLICA


@command(
    "REPLICAOF",
    arity=3,
    flags=OPERATOR | Flags.NO_ASYNC_LOADING,
    group="server",
    since="5.0.0",
)
def replicaof(call: Call) -> Reply:
    """Makes the server a master, which it is; it cannot be made a replica.

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
    """Makes the server a master, which it is; it cannot be made a replica.

    SLAVEOF <host port | NO ONE>
    """
    return _replicate(call)


@command("FAILOVER", arity=-1, flags=OPERATOR, group="server", since="6.2.0")
def failover(call: Call) -> Reply:
    """Hands the master's role over to a replica. Always an error: there is none.

    FAILOVER [TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]
    """
    if [word.upper() for word in call.argv[1:]] == [b"ABORT"]:
        raise NO_FAILOVER
    if len(call.argv) > 1 and call.argv[1].upper() not in (b"TO", b"ABORT", b"TIMEOUT"):
        raise errors.SYNTAX
    raise NO_REPLICAS_TO_FAIL_OVER
