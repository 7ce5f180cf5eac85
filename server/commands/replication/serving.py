"""REPLCONF, PSYNC and SYNC: what replicas say to their primary."""

from __future__ import annotations

import logging

from protocol.replies import NO_REPLY, OK, ErrorReply, Reply
from server.client.client import is_printable
from server.client.origin import PRIMARY
from server.config.parameters import RDB_VERSIONS
from server.dispatch.call import Call
from server.parts.replication.replica import Replica, replica_of
from server.table import errors
from server.table.args import to_int
from server.table.command import Flags, command
from storage import octets

FROM_REPLICAS = Flags.ADMIN | Flags.NOSCRIPT
# What only replicas say that know all that a Redis does: ours, and Redis's from 8.0 on.
CAPABILITIES = {
    b"rdb-12": "7.4",
    b"rdb-channel-repl": "7.4",
    b"rdb-13": "8.6",
    b"rdb-14": "8.8",
}
LONGEST_ADDRESS = 255  # bytes: an IP address, or a host name

NO_LINK = ErrorReply("NOMASTERLINK", "Can't SYNC while not connected with my master")
PENDING_OUTPUT = ErrorReply("ERR", "SYNC and PSYNC are invalid with pending output")
FAILOVER_TO_PRIMARY = ErrorReply("ERR", "PSYNC FAILOVER can't be sent to a master.")
FAILOVER_OF_ANOTHER = ErrorReply("ERR", "PSYNC FAILOVER replid must match my replid.")
TOO_LONG = ErrorReply(
    "ERR", "REPLCONF ip-address provided by replica instance is too long: 256 bytes"
)
BAD_ADDRESS = ErrorReply("ERR", "Invalid REPLCONF ip-address")
BAD_FILTER = ErrorReply("ERR", "Unsupported rdb-filter-only option")

_log = logging.getLogger("penstock")


@command(
    "REPLCONF",
    arity=-1,
    flags=FROM_REPLICAS | Flags.LOADING | Flags.STALE | Flags.ALLOW_BUSY,
    group="server",
    since="3.0.0",
    complexity="O(1)",
)
def replconf(call: Call) -> Reply:
    """Tells a primary what a replica can do and how far it is; sent by replicas only.

    REPLCONF [option value [option value ...]]
    """
    argv = call.argv
    if len(argv) % 2 == 0:
        raise errors.SYNTAX
    if call.origin & PRIMARY:
        if argv[1:2] and argv[1].lower() == b"getack":
            call.server.replication.must_ack = True
        return NO_REPLY
    option = argv[1].lower() if len(argv) > 1 else b""
    if option == b"ack":
        return _ack(call)
    if option == b"getack":
        return NO_REPLY  # only a primary asks that
    replica = call.server.replication.ask(call.client)
    for name, value in zip(argv[1::2], argv[2::2], strict=True):
        _take(replica, name.lower(), value)
    return OK


def _take(replica: Replica, name: bytes, value: bytes) -> None:
    if name == b"listening-port":
        replica.port = to_int(value)
    elif name == b"ip-address":
        if len(value) > LONGEST_ADDRESS:
            raise TOO_LONG
        if not is_printable(value):
            raise BAD_ADDRESS  # INFO would show it
        replica.announced = value.decode("ascii")
    elif name == b"capa":
        replica.knows_eof = replica.knows_eof or value.lower() == b"eof"
        replica.knows_psync2 = replica.knows_psync2 or value.lower() == b"psync2"
        replica.is_penstock = replica.is_penstock or value.lower() == b"penstock"
        if value.lower() in CAPABILITIES:
            known = RDB_VERSIONS[CAPABILITIES[value.lower()]]
            replica.rdb_version = max(replica.rdb_version, known)
    elif name == b"rdb-only":
        replica.wants_copy_only = to_int(value) == 1
    elif name == b"rdb-filter-only":
        if value.lower() not in (b"", b"functions"):
            raise BAD_FILTER
        replica.wants_functions_only = bool(value)
    elif name == b"version":  # Valkey's
        replica.rdb_version = max(replica.rdb_version, RDB_VERSIONS["7.2"])
    elif name != b"rdb-channel":
        shown = errors.text_of(name, errors.MAX_ECHO)
        raise ErrorReply("ERR", f"Unrecognized REPLCONF option: {shown}")


def _ack(call: Call) -> Reply:
    """``ACK offset [FACK offset]``: it has no reply, even if the client is not a replica."""
    replica = replica_of(call.client)
    argv = call.argv
    if replica is not None and octets.is_int64(argv[2]):
        fsynced = None
        if len(argv) > 4 and argv[3].lower() == b"fack" and octets.is_int64(argv[4]):
            fsynced = octets.int64_of(argv[4])
        call.server.replication.acked(replica, octets.int64_of(argv[2]), fsynced)
    return NO_REPLY


@command(
    "PSYNC",
    arity=-3,
    flags=FROM_REPLICAS | Flags.NO_ASYNC_LOADING | Flags.NO_MULTI,
    group="server",
    since="2.8.0",
    complexity="O(1)",
)
def psync(call: Call) -> Reply:
    """Asks for all changes from an offset on; sent by replicas only.

    PSYNC replicationid offset
    """
    argv = call.argv
    history_id, offset = argv[1].decode("ascii", "replace"), to_int(argv[2])
    replica = replica_of(call.client)
    if replica is not None and replica.has_joined:
        return NO_REPLY
    if len(argv) > 3 and argv[3].upper() == b"FAILOVER":
        _take_over(call, history_id, offset)
    return _join(call, history_id, offset)


def _take_over(call: Call, history_id: str, offset: int) -> None:
    """Our primary hands its role over, by FAILOVER.

    It asks again if it has lost the link before our answer came. An error would make it a primary
    again, besides the one that we are, or were by now.
    """
    replication = call.server.replication
    place = (history_id, offset)
    if place in replication.taken_over:
        _log.info("Failover request received again.")
        return
    if not replication.is_replica:
        raise FAILOVER_TO_PRIMARY
    if history_id != replication.history.id:
        raise FAILOVER_OF_ANOTHER
    _log.info("Failover request received, becoming master.")
    replication.taken_over.append(place)
    replication.promote()


@command(
    "SYNC",
    arity=1,
    flags=FROM_REPLICAS | Flags.NO_ASYNC_LOADING | Flags.NO_MULTI,
    group="server",
    since="1.0.0",
    complexity="O(1)",
)
def sync(call: Call) -> Reply:
    """Asks for a copy of all data, and all changes after it; sent by tools and old replicas.

    SYNC
    """
    call.server.replication.ask(call.client).is_plain = True
    return _join(call, "?", -1)


def _join(call: Call, history_id: str, offset: int) -> Reply:
    replication = call.server.replication
    client = call.client
    if replication.following is not None and not replication.following.is_up:
        raise NO_LINK
    if client.out.size() or client.endpoint.unsent():
        raise PENDING_OUTPUT
    replica = replication.ask(client)
    refusal = replication.why_not_served(replica)
    if refusal:
        raise ErrorReply("NOMASTERLINK", refusal)
    replication.join(replica, history_id, offset)
    call.server.restrictions.follow_replication()
    return NO_REPLY
