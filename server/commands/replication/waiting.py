"""WAIT, WAITAOF: until a connection's writes are elsewhere. WAITOFFSET: until others' are here."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.client.origin import CLIENT
from server.dispatch.call import Call
from server.parts.replication.history import EndedBefore
from server.table import errors
from server.table.args import to_int, to_timeout_ms
from server.table.command import Block, Flags, command, new_block
from server.table.documentation import Tip

NOT_ONE_SERVER = ErrorReply("ERR", "value is out of range, value must between 0 and 1")
NO_LOG = ErrorReply(
    "ERR", "WAITAOF cannot be used when numlocal is set but appendonly is disabled."
)
NOT_ON_REPLICA = (
    "{} cannot be used with replica instances. Please also note that {}writes to replicas are just"
    " local and are not propagated."
)
WAIT_ON_REPLICA = ErrorReply(
    "ERR",
    NOT_ON_REPLICA.format(
        "WAIT",
        "since Redis 4.0 if a replica is configured to be writable (which is not the default) ",
    ),
)
OTHER_HISTORY = ErrorReply("NOHISTORY", "The data here are of another history.")
WAITAOF_ON_REPLICA = ErrorReply("ERR", NOT_ON_REPLICA.format("WAITAOF", ""))


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

    Returns how many replicas have them, at the latest after *timeout* (ms; 0: none).
    """
    replication = call.server.replication
    if replication.is_replica:
        raise WAIT_ON_REPLICA
    wanted, timeout_ms = to_int(call.argv[1]), to_timeout_ms(call.argv[2], call.now_ms)
    have = replication.replicas.have(call.client.replicated_offset)
    if have >= wanted:
        return have
    _ask(call)
    return new_block([], object, timeout_ms, have, have)


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

    Returns how many servers have fsynced them: this one (1 or 0), and replicas, at the latest
    after *timeout* (ms; 0: none).
    """
    local, wanted, timeout_ms = _read(call)
    replication = call.server.replication
    if replication.is_replica:
        raise WAITAOF_ON_REPLICA
    durability = call.server.propagation.durability
    if local and durability is None:
        raise NO_LOG
    kept = int(
        durability is not None
        and not durability.tentative
        and durability.synced_offset >= call.client.written_offset
    )
    have = replication.replicas.have_fsynced(call.client.replicated_offset)
    answer: list[Reply] = [kept, have]
    if kept >= local and have >= wanted:
        return answer
    if wanted:
        _ask(call)
    return new_block([], object, timeout_ms, answer, answer)


@command(
    "WAITOFFSET",
    arity=4,
    flags=Flags.BLOCKING | Flags.STALE,
    group="generic",
    since="0.1.0",
    categories=["connection"],
    types={"timeout": "integer"},
)
def waitoffset(call: Call) -> Reply | Block:
    """Waits until this server has come as far in its primary's history as CLIENT OFFSET has told.

    WAITOFFSET replicationid offset timeout

    Returns 1, or 0 after *timeout* (ms; 0: none). It is an error if the history went on without
    that, after a failover; or if this server is, at the end, one of another history.
    """
    offset = to_int(call.argv[2])
    timeout_ms = to_timeout_ms(call.argv[3], call.now_ms)
    if offset < 0:
        raise errors.NOT_POSITIVE
    replication = call.server.replication
    try:
        has_come = replication.reached(call.argv[1].decode("ascii", "replace"), offset)
    except EndedBefore as ended:
        raise ErrorReply(
            "NOHISTORY", f"That history ended at offset {ended}, before this."
        ) from None
    if has_come:
        return 1
    over: Reply = OTHER_HISTORY if has_come is None else 0
    return new_block([], object, timeout_ms, over, over)


def _ask(call: Call) -> None:
    """Ask the replicas for their offsets, unless this is a woken wait, which has asked before."""
    if call.origin == CLIENT:
        call.server.replication.ask_offsets()


def _read(call: Call) -> tuple[int, int, int]:
    argv = call.argv
    local = to_int(argv[1])
    if not 0 <= local <= 1:
        raise NOT_ONE_SERVER
    replicas = to_int(argv[2], errors.NOT_POSITIVE)
    if replicas < 0:
        raise errors.NOT_POSITIVE
    return local, replicas, to_timeout_ms(argv[3], call.now_ms)
