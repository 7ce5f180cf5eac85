"""CLIENT ACKS and CLIENT OFFSET: a connection's changes, and what replicas know of them."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.config import acks_options
from server.dispatch.call import Call
from server.table.command import Flags, command

ANYBODY = Flags.NOSCRIPT | Flags.LOADING | Flags.STALE


@command(
    "CLIENT ACKS",
    arity=-3,
    flags=ANYBODY,
    group="connection",
    since="0.1.0",
    types={"numreplicas": "integer", "milliseconds": "integer"},
)
def client_acks(call: Call) -> Reply:
    """Holds this connection's replies until replicas have what they tell of, or stops that.

    CLIENT ACKS <OFF | numreplicas | QUORUM> [FSYNC] [TIMEOUT milliseconds]

    With FSYNC they have it on disk, and so does this server, if it has an append-only file. What is
    not confirmed after *milliseconds* (5000 if not given) is answered by an error.
    docs/confirmed-writes.md says what is promised.
    """
    words = [word.decode("utf-8", "replace") for word in call.argv[2:]]
    try:
        options = acks_options.read(words)
    except acks_options.BadOptions as error:
        raise ErrorReply("ERR", f"{error}") from None
    call.server.replication.confirm(call.client, options)
    return OK


# In a transaction it would be answered with changes that are not in the history yet.
@command(
    "CLIENT OFFSET",
    arity=2,
    flags=ANYBODY | Flags.NO_MULTI,
    group="connection",
    since="0.1.0",
)
def client_offset(call: Call) -> Reply:
    """Returns where the server's history ends: all that this connection was answered is before it.

    CLIENT OFFSET

    The id of the history, and the offset: what WAITOFFSET takes, on a replica.
    """
    name, offset = call.server.replication.place()
    return [name.encode(), offset]
