"""WAITAOF: waits until a connection's writes are on the disk."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.dispatch.call import Call
from server.table import errors
from server.table.args import to_int, to_timeout_ms
from server.table.command import Block, Flags, command
from server.table.documentation import Tip

NOT_ONE_SERVER = ErrorReply("ERR", "value is out of range, must be between 0 and 1")
NO_LOG = ErrorReply(
    "ERR", "WAITAOF cannot be used when numlocal is set but appendonly is disabled."
)


@command(
    "WAITAOF",
    arity=4,
    flags=Flags.BLOCKING,
    group="generic",
    since="7.2.0",
    categories=["connection"],
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_AGG_MIN],
)
def waitaof(call: Call) -> Reply | Block:
    """Waits until this connection's writes are fsynced here and on a number of replicas.

    WAITAOF numlocal numreplicas timeout

    Returns how many servers have fsynced: this one (1 or 0), and replicas. As there are no
    replicas, waiting for one lasts until the timeout (ms; 0: for ever).
    """
    local, replicas, timeout_ms = _read(call)
    durability = call.server.propagation.durability
    if local and durability is None:
        raise NO_LOG
    kept = int(
        durability is not None
        and not durability.tentative
        and durability.synced_offset >= call.client.written_offset
    )
    answer: list[Reply] = [kept, 0]
    if kept >= local and not replicas:
        return answer
    return Block([], object, timeout_ms, answer, answer)


def _read(call: Call) -> tuple[int, int, int]:
    argv = call.argv
    local, replicas = to_int(argv[1]), to_int(argv[2])
    if not 0 <= local <= 1:
        raise NOT_ONE_SERVER
    if replicas < 0:
        raise errors.NOT_POSITIVE
    return local, replicas, to_timeout_ms(argv[3], call.now_ms)
