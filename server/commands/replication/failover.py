"""FAILOVER: hands the role of a primary over to one of its replicas."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_int
from server.table.command import Flags, command

BAD_TIMEOUT = ErrorReply("ERR", "FAILOVER timeout must be greater than 0")
FORCE_NEEDS_BOTH = ErrorReply(
    "ERR", "FAILOVER with force option requires both a timeout and target HOST and IP."
)


@command(
    "FAILOVER",
    arity=-1,
    flags=Flags.ADMIN | Flags.NOSCRIPT | Flags.STALE,
    group="server",
    since="6.2.0",
)
def failover(call: Call) -> Reply:
    """Hands the master's role over to a replica, once that has everything; writes wait meanwhile.

    FAILOVER [TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]
    """
    args = Args(call.argv)
    target: tuple[str, int] | None = None
    timeout_ms = 0
    aborts = is_forced = False
    while args.left():
        word = args.take_word(b"TO", b"FORCE", b"ABORT", b"TIMEOUT")
        if word == b"TIMEOUT" and args.left() and not timeout_ms:
            timeout_ms = to_int(args.take())
            if timeout_ms <= 0:
                raise BAD_TIMEOUT
        elif word == b"ABORT":
            aborts = True
        elif word == b"TO" and args.left() >= 2 and target is None:
            target = (args.take().decode("utf-8", "surrogateescape"), to_int(args.take()))
        elif word == b"FORCE" and target is not None:
            is_forced = True
        else:
            raise errors.SYNTAX
    if aborts:
        if len(call.argv) > 2:
            raise errors.SYNTAX
        call.server.replication.failover.abort()
        return OK
    if is_forced and not (timeout_ms and target):
        raise FORCE_NEEDS_BOTH
    replication = call.server.replication
    replication.failover.begin(
        target, timeout_ms, is_forced, replication.now_ms(), amid_command=call.is_inside()
    )
    return OK
