"""Parameters of replication: of a replica, of a primary, and of both."""

from __future__ import annotations

import re

from server.config.acks_options import AcksOptions, BadOptions, read
from server.config.parameter import (
    INT64,
    PORT,
    TEXT,
    YES_NO,
    BadValue,
    Kind,
    Parameter,
    integer,
    memory,
    one_of,
)


def _parse_primary(text: str, _old: object) -> str:
    words = text.split()
    if text.lower() == "no one" or not words:
        return ""
    if len(words) != 2:
        raise BadValue("wrong number of arguments")
    if not re.fullmatch("[0-9]{1,5}", words[1]) or int(words[1]) > 65535:
        raise BadValue("Invalid master port")
    return " ".join(words)


PRIMARY: Kind[str] = Kind(
    _parse_primary, write=lambda primary: [primary] if primary else [], many_words=True
)


def _parse_acks(text: str, _old: object) -> AcksOptions | None:
    try:
        return read(text.split())
    except BadOptions as error:
        raise BadValue(str(error)) from None


ACKS: Kind[AcksOptions | None] = Kind(
    _parse_acks, lambda options: "off" if options is None else options.text, many_words=True
)


class ReplicationParameters:
    """Their values; see Config."""

    replicaof = Parameter(PRIMARY, "", aliases=("slaveof",), mutable=False)
    bind_source_addr = Parameter(TEXT, "")
    masterauth = Parameter(TEXT, "", aliases=("primaryauth",))
    masteruser = Parameter(TEXT, "", aliases=("primaryuser",))
    replica_serve_stale_data = Parameter(YES_NO, True, aliases=("slave-serve-stale-data",))
    replica_read_only = Parameter(YES_NO, True, aliases=("slave-read-only",))
    replica_priority = Parameter(integer(), 100, aliases=("slave-priority",))
    replica_announce_ip = Parameter(TEXT, "", aliases=("slave-announce-ip",))
    replica_announce_port = Parameter(PORT, 0, aliases=("slave-announce-port",))
    replica_announced = Parameter(YES_NO, True)
    replica_ignore_maxmemory = Parameter(YES_NO, True, aliases=("slave-ignore-maxmemory",))
    repl_backlog_size = Parameter(memory(1), 1024**2, valkey=10 * 1024**2)
    repl_backlog_ttl = Parameter(integer(0, INT64), 3600)
    repl_diskless_load = Parameter(one_of("disabled", "on-empty-db", "swapdb"), "disabled")
    repl_diskless_sync = Parameter(YES_NO, True)
    repl_diskless_sync_delay = Parameter(integer(), 5)
    repl_diskless_sync_max_replicas = Parameter(integer(), 0)
    repl_foreign_replicas = Parameter(one_of("follow", "refuse"), "follow")
    repl_oldest_replica = Parameter(one_of("7.0", "7.2", "7.4", "8.6", "8.8"), "7.0")
    repl_ping_replica_period = Parameter(integer(1), 10, aliases=("repl-ping-slave-period",))
    repl_timeout = Parameter(integer(1), 60)
    propagation_error_behavior = Parameter(one_of("ignore", "panic", "panic-on-replicas"), "ignore")
    client_acks = Parameter(ACKS, None)
    replica_quorum_of = Parameter(integer(0, 1000), 0)
    replica_quorum_lease = Parameter(integer(), 0)
    replica_quorum_grace = Parameter(integer(), 10_000)
    min_replicas_to_write = Parameter(integer(), 0, aliases=("min-slaves-to-write",))
    min_replicas_max_lag = Parameter(integer(), 10, aliases=("min-slaves-max-lag",))
    tls_replication = Parameter(YES_NO, False)
    tls_client_cert_file = Parameter(TEXT, "")
    tls_client_key_file = Parameter(TEXT, "")
    tls_client_key_file_pass = Parameter(TEXT, "")
