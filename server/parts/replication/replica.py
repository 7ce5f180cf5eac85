"""One replica, as its primary knows it: how far it is, and what it is waiting for."""

from __future__ import annotations

import logging
from enum import Enum
from typing import Protocol

from server.client.client import Client
from server.config.parameters import RDB_VERSIONS, Config
from server.process import faults

FAR_MS = 2**62  # from any moment

_log = logging.getLogger("penstock")


class Stage(Enum):
    """What a replica is sent next; the values are those of INFO."""

    NONE = "none"  # it has introduced itself, and not asked for the stream yet
    WAITING = "wait_bgsave"  # for the fork that its copy is made by
    COPYING = "send_bulk"  # a copy of all data; what changes meanwhile is held
    ONLINE = "online"  # all changes, as they happen


class Sending(Protocol):
    """A copy that is being sent."""

    def resume(self) -> None:
        """Its socket is writable again."""


class Replica:
    """The replication state of *client*, which has sent REPLCONF or PSYNC.

    Offsets are bytes of the history, times monotonic ms.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.stage = Stage.NONE
        self.port = 0  # that it listens at
        self.announced = ""  # the address that it wants to be known by
        self.knows_eof = False  # capability: a copy that ends with a mark, of unknown length
        self.knows_psync2 = False  # capability: the id of a history may change
        self.rdb_version = 0  # the newest that it is known to read; 0: it has told nothing
        self.is_penstock = False  # it has said so: it knows policies and schedules of streams
        self.wants_copy_only = False  # redis-cli --rdb: no stream follows
        self.wants_functions_only = False  # redis-cli --functions-rdb
        self.is_plain = False  # it has sent SYNC: it is told no ids, and tells no offsets
        self.begins_at = FAR_MS  # the offset that its copy or its part of the history follows
        self.acked = 0  # it has run all up to here
        self.fsynced = 0  # it has fsynced all up to here
        self.has_aof = False  # it tells what it has fsynced
        self.acked_ms = 0  # when it has told so
        self.alive_ms = 0  # when it was last seen to send or to take something
        self.heard_ms = -FAR_MS  # it has answered what it was asked then: see quorum.py
        self.told_ms = 0  # when it last told how far it is, by the clock of the lease
        self.counts_from_ms = FAR_MS  # from when on it counts for a quorum, by that clock
        self.waits_for_ack = False  # it is sent nothing until it has loaded the copy
        self.held: list[bytes] = []
        self.held_bytes = 0
        self.written = 0  # bytes that its socket was given
        self._seen = (0, 0)  # bytes that it had taken and sent when it was last looked at
        self.sending: Sending | None = None  # the copy, while it is sent

    @property
    def has_joined(self) -> bool:
        """Whether it has asked for the stream."""
        return self.stage is not Stage.NONE

    @property
    def is_online(self) -> bool:
        return self.stage is Stage.ONLINE

    @property
    def host(self) -> str:
        """The address to reach it by."""
        return self.announced or self.client.address.rpartition(":")[0].strip("[]")

    @property
    def is_here(self) -> bool:
        """Whether it is online, and counts for a quorum now or later."""
        return self.stage is Stage.ONLINE and self.counts_from_ms != FAR_MS

    @property
    def identity(self) -> tuple[str, int] | None:
        """Where it listens; None if it has not told that."""
        return (self.host, self.port) if self.port else None

    def begin(self, offset: int) -> None:
        """What it is sent follows *offset*. Who tells 0 has told nothing."""
        self.begins_at = max(offset, 1)

    def reads(self, config: Config) -> int:
        """The newest RDB version that it reads: of a Redis at least that which *config* has."""
        if self.wants_copy_only:  # it goes to a file
            return RDB_VERSIONS[config.rdb_oldest_reader]
        if self.rdb_version == RDB_VERSIONS["7.2"]:  # it is a Valkey
            return self.rdb_version
        return max(self.rdb_version, RDB_VERSIONS[config.repl_oldest_replica])

    def lag_s(self, now_ms: int) -> int:
        """Seconds since it has told how far it is."""
        return (now_ms - self.acked_ms) // 1000

    def take(self, data: bytes) -> None:
        """Send *data* of the stream, or hold it until the copy is there."""
        if self.stage is Stage.ONLINE and not self.waits_for_ack:
            self.write(data)
        elif self.stage is not Stage.WAITING:
            self.held.append(data)
            self.held_bytes += len(data)

    def write(self, data: bytes) -> None:
        """Hand *data* to the socket. A fault ends the link, and concerns nobody else."""
        self.write_all([data])

    def write_all(self, portions: list[bytes]) -> None:
        """Hand all of *portions* to the socket at once."""
        # Held here: if it is disconnected meanwhile, the client drops it at once, and compiled code
        # would run on in a freed object.
        out, endpoint = self.client.out, self.client.endpoint
        try:
            for data in portions:
                self.written += len(data)
                out.append_shared(data)
            endpoint.send()
        except Exception as error:
            faults.report("sending to a replica, which is disconnected", error)
            endpoint.disconnect()

    def unsent(self) -> int:
        """Bytes that it has not taken yet."""
        return self.client.endpoint.unsent() + self.client.out.size() + self.held_bytes

    def watch(self, now_ms: int) -> None:
        """Look whether it lives: it has taken something, or sent something, be it an empty line."""
        unsent = self.client.endpoint.unsent()
        seen = (self.written - unsent, self.client.received)
        if seen != self._seen or (self.stage is Stage.COPYING and not unsent):
            self._seen = seen
            self.alive_ms = now_ms

    def copied(self, waits_for_ack: bool) -> None:
        """Its socket was given the whole copy. It may have to say so before the stream begins."""
        self.sending = None
        if self.wants_copy_only:
            self.client.close_after_reply = True
            self.client.endpoint.flush()
            return
        _log.info("Synchronization with replica %s succeeded", self.client.address)
        if waits_for_ack:
            self.stage = Stage.ONLINE
            self.waits_for_ack = True
        else:
            self.go_online()

    def go_online(self) -> None:
        """The copy has been sent: what was held follows, then all that comes."""
        self.stage = Stage.ONLINE
        self.waits_for_ack = False
        self.sending = None
        held, self.held, self.held_bytes = self.held, [], 0
        if held:
            self.write_all(held)

    def has_room(self) -> None:
        """Its socket has taken what it was given."""
        if self.sending is not None:
            self.sending.resume()


def replica_of(client: Client) -> Replica | None:
    """What *client* is as a replica, if it has introduced itself as one."""
    replica = client.replica
    assert replica is None or isinstance(replica, Replica)
    return replica
