"""Replication as the rest of the server sees it: is it a primary or a replica, and of whom.

    history     the name and the length of the data's history, and its last part
    feed        the stream of changes, to the replicas
    replicas    who they are and how far they are
    copies      full copies for those that cannot resync partially
    following   the primary that this server follows, and how the link to it stands; or None

While nobody has asked for the stream, there is no backlog, and nothing is encoded: replication
costs nothing then. It ends again repl-backlog-ttl seconds after the last replica has gone.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from server.client.client import MUTED, REPLICA, Client
from server.config.acks_options import AcksOptions
from server.config.parameters import RDB_VERSIONS, Config
from server.observe.part import Part
from server.parts.persistence.persistence import Persistence
from server.parts.persistence.stored_history import StoredHistory
from server.parts.propagation.propagation import Propagation
from server.parts.replication.confirmations import Confirmations
from server.parts.replication.failover import Failover
from server.parts.replication.feed import Feed
from server.parts.replication.history import History
from server.parts.replication.own_disk import OwnDisk
from server.parts.replication.replica import Replica, Stage, replica_of
from server.parts.replication.replicas import Replicas, name_of
from server.parts.replication.ties import NoListener, NoPipes, Pipes, RoleListener
from server.parts.replication.traffic import Traffic
from server.process.server_clock import lease_ms, monotonic_ms
from storage.keyspace.keyspace import Keyspace
from storage.stream import pending, producers

if TYPE_CHECKING:
    from server.parts.replication.copies import Copies
    from server.parts.replication.following import Following

TOO_OLD = (
    "there are hashes with fields that expire, which Redis knows from 7.4 on; if the replica is"
    " that new, set repl-oldest-replica to 7.4 here"
)
TOO_OLD_FOR_PRODUCERS = (
    "there are streams with idempotent producers, which Redis knows from 8.6 on; if the replica is"
    " that new, set repl-oldest-replica to 8.6 here"
)
TOO_OLD_FOR_RELEASED = (
    "there are streams with entries that were released (XNACK), which Redis knows from 8.8 on; if"
    " the replica is that new, set repl-oldest-replica to 8.8 here"
)
NO_PENSTOCK = (
    "there are policies or schedules of streams, which only Penstock knows; to have it follow"
    " without them, set repl-foreign-replicas to follow here"
)
MOST_NAMED = 1000  # replicas that are refused
MOST_TAKEN_OVER = 10  # hand-overs whose answer may have been lost

_log = logging.getLogger("penstock")


def new_id() -> str:
    """A name for a history: 40 hexadecimal digits."""
    return os.urandom(20).hex()


class ReplicationMemory(NamedTuple):
    """Bytes that are held for replicas."""

    backlog: int
    unsent: int  # of the stream, and of copies, that connected replicas have not taken yet


class Replication(Part):
    """One server's part in replication. Times are monotonic ms, which nothing moves.

    *lease_now_ms* runs on while the machine is suspended; the lease of a primary is measured by it.
    *listener* is told of changes of the role; *pipes* has those read that copies come through.
    """

    def __init__(
        self,
        config: Config,
        databases: Sequence[Keyspace],
        propagation: Propagation,
        persistence: Persistence,
        now_ms: Callable[[], int] = monotonic_ms,
        lease_now_ms: Callable[[], int] = lease_ms,
    ) -> None:
        self._config = config
        self._databases = databases
        self._propagation = propagation
        self._persistence = persistence
        self.now_ms = now_ms
        self.history = History(new_id())
        self.feed = Feed(propagation, self.history)
        self.replicas = Replicas(config, self.feed)
        disk = OwnDisk(propagation, self.feed)
        self.confirmations = Confirmations(
            config, self.feed, self.replicas, disk, now_ms, lease_now_ms
        )
        self.traffic = Traffic(self.replicas.all)
        self._copies: Copies | None = None
        self.following: Following | None = None
        self.listener: RoleListener = NoListener()
        self.link: Client | None = None  # to our primary, as a client, while it is up
        self.pipes: Pipes = NoPipes()
        self.failover = Failover(self, self.feed)
        # where in its history a primary has handed its role over to us
        self.taken_over: deque[tuple[str, int]] = deque(maxlen=MOST_TAKEN_OVER)
        self.stream_db = 0  # that our primary's stream has selected
        persistence.snapshots.history = self
        self.must_ack = False  # our primary has asked how far we are
        self._alone_since_ms = 0  # since when there has been no replica; 0: there is one
        self._refused: set[str] = set()  # whose refusal is in the server log
        self.statistics_reset()

    def statistics_reset(self) -> None:
        self.traffic.reset()
        self.full_copies = 0
        self.continued = 0
        self.not_continued = 0  # was asked for and could not be

    def configured(self, config: Config) -> None:
        if self.history.backlog is not None:
            self.history.backlog.resize(config.repl_backlog_size)

    # ------------------------------------------------------------------ a primary

    def ask(self, client: Client) -> Replica:
        """*client* introduces itself as a replica, or has done so."""
        replica = replica_of(client)
        if replica is None:
            replica = client.replica = Replica(client)
        return replica

    def why_not_served(self, replica: Replica) -> str:
        """Why *replica* cannot be served, in words for both logs, or "".

        It would not know what a hash is of which fields expire, or a stream with producers or with
        released entries, and ask for copies for ever. Policies it may do without, or not.
        """
        if replica.wants_copy_only:
            return ""
        refuses = self._config.repl_foreign_replicas == "refuse" and not replica.is_penstock
        if refuses and any(db.side for db in self._databases):
            return self._refuse(replica, NO_PENSTOCK)
        reads = replica.reads(self._config)
        if reads < RDB_VERSIONS["8.8"] and pending.any_released():
            return self._refuse(replica, TOO_OLD_FOR_RELEASED)
        if reads < RDB_VERSIONS["8.6"] and producers.in_use():
            return self._refuse(replica, TOO_OLD_FOR_PRODUCERS)
        if reads >= RDB_VERSIONS["7.4"]:
            return ""
        if any(db.field_expiries.used for db in self._databases):
            return self._refuse(replica, TOO_OLD)
        self._refused.clear()
        return ""

    def _refuse(self, replica: Replica, reason: str) -> str:
        """Say in the server log, once, that *replica* is not served. Returns *reason*."""
        name = name_of(replica)
        if name not in self._refused and len(self._refused) < MOST_NAMED:
            self._refused.add(name)  # it will ask again, each second
            _log.warning("Replica %s is not served: %s", name, reason)
        return reason

    def join(self, replica: Replica, history_id: str, offset: int) -> None:
        """*replica* wants the history from byte *offset* on: it gets that, or a copy of all data.

        In the first case it is sent ``+CONTINUE``, in the other it is told when the copy begins.
        """
        self._begin_backlog()
        self.feed.send()
        now_ms = self.now_ms()
        client = replica.client
        self.confirmations.stop(client)
        client.set_flag(REPLICA | MUTED)
        client.limit_output(self._config.client_output_buffer_limit["slave"].hard)
        self.replicas.joined(replica, now_ms)
        self.feed.spare(replica)
        self._alone_since_ms = 0
        if self.history.continues(history_id, offset):
            self._resync_partially(replica, offset)
            return
        if history_id != "?":
            self.not_continued += 1
        self.full_copies += 1
        _log.info("Replica %s asks for synchronization", name_of(replica))
        self.copies.request(replica, now_ms)

    def _resync_partially(self, replica: Replica, offset: int) -> None:
        self.continued += 1
        name = b" " + self.history.id.encode() if replica.knows_psync2 else b""
        replica.stage = Stage.ONLINE
        replica.begin(offset - 1)
        replica.acked = offset - 1
        replica.write(b"+CONTINUE" + name + b"\r\n")
        replica.write_all(self.feed.since(offset, replica))
        _log.info("Partial resynchronization request from %s accepted.", name_of(replica))

    @property
    def copies(self) -> Copies:
        """Makes full copies."""
        if self._copies is None:
            from server.parts.replication.copies import Copies  # noqa: PLC0415  (imported lazily)

            self._copies = Copies(
                self._config, self._databases, self._persistence.children,
                self._persistence.functions, self.feed, self.pipes, self, self._persistence.files,
            )  # fmt: skip
        return self._copies

    def acked(self, replica: Replica, offset: int, fsynced: int | None) -> None:
        """*replica* has run all up to *offset*, and fsynced all up to *fsynced*."""
        replica.acked_ms = replica.alive_ms = self.now_ms()
        replica.acked = max(replica.acked, offset)
        if fsynced is not None:
            replica.has_aof = True
            replica.fsynced = max(replica.fsynced, fsynced)
        if replica.waits_for_ack:
            replica.go_online()
        self.confirmations.acked(replica)
        self.failover.tick(replica.acked_ms)

    def confirm(self, client: Client, options: AcksOptions | None) -> None:
        """*client* wants to know that replicas have its changes, or wants that no more."""
        if options is None:
            self.confirmations.stop(client)
            return
        if self.following is None:
            self._begin_backlog()
        self.confirmations.use(client, options)

    def place(self) -> tuple[str, int]:
        """The history, and how long it is. From now on it is counted, even if nobody follows."""
        if self.following is None:
            self._begin_backlog()
            return self.history.id, self.feed.offset()
        return self.history.id, self.history.offset

    def reached(self, history_id: str, offset: int) -> bool | None:
        """Whether that history has come to *offset* here; None if this is another one."""
        if self.following is None and history_id == self.history.id:
            return self.feed.offset() >= offset
        return self.history.reached(history_id, offset)

    def ask_offsets(self) -> None:
        """Have all replicas tell how far they are, now."""
        if self.replicas.online:
            self.feed.ask_offsets()

    def _begin_backlog(self) -> None:
        """Somebody asks for the stream: keep it from now on."""
        if self.history.backlog is None:
            if self.following is None:
                self.history.begin_anew(new_id())  # what was done before is in no history
            self.history.keep_backlog(self._config.repl_backlog_size)
        self._attach_feed()

    def _attach_feed(self) -> None:
        """The feed takes the changes of a primary that has a backlog."""
        is_due = self.history.backlog is not None and self.following is None
        if is_due != self.feed.is_attached:
            self.feed.is_attached = is_due
            (self._propagation.attach if is_due else self._propagation.detach)(self.feed)

    def rename_history(self) -> None:
        """DEBUG CHANGE-REPL-ID: replicas that reconnect need a full resync."""
        self.history.begin_anew(new_id())

    # ------------------------------------------------------------------ the role

    def hold_writes(self, holds: bool) -> None:
        """Pause writes while a replica catches up; resume them if not *holds*."""
        self.listener.hold_writes(holds)

    @property
    def is_replica(self) -> bool:
        return self.following is not None

    def follow(self, host: str, port: int, takes_over: bool = False) -> None:
        """Become a replica of *host*:*port*. With *takes_over*, it is asked to take our role."""
        from server.parts.replication.following import Following  # noqa: PLC0415  (primaries need none)

        if self._propagation.ops:  # of a transaction: they are of the history so far
            self._propagation.deliver()
        self.feed.send()
        self.following = Following(host, port, self.now_ms())
        self.following.is_failover = takes_over
        self.feed.follows = True
        self._attach_feed()
        self._config.replicaof = f"{host} {port}"
        self.confirmations.role_changed()
        self.listener.role_changed()

    def resume(self, stored: StoredHistory) -> None:
        """The data are those of a snapshot, which was made at that place of a history.

        A replica resumes from there. For a primary it is the beginning of a history of its own, in
        which its replicas can continue.
        """
        if stored.db >= len(self._databases):
            return
        self.history.id, self.history.offset = stored.id, stored.offset
        self.stream_db = stored.db
        if not self._config.replicaof:
            self.history.branch(new_id())
            self.stream_db = 0
        self.feed.drop()
        self.history.backlog = None  # one that was begun while the data were loaded is of elsewhere
        self.history.keep_backlog(self._config.repl_backlog_size)
        self._attach_feed()
        self.confirmations.resumed()

    def stored(self) -> StoredHistory | None:
        """Where in the history the data are now; None if no replica can resync from here."""
        if self.history.backlog is None:
            return None
        db = self.stream_db if self.is_replica else 0
        return StoredHistory(self.history.id, self.feed.offset(), db)

    def data_replaced(self) -> None:
        """The data are about to be replaced by a copy: until it is whole they are of no history."""
        self.replicas.disconnect_all()
        self.feed.drop()
        self.history.begin_anew(new_id())

    def promote(self) -> None:
        """Become a primary. Replicas of the old one can resync partially."""
        if self.following is None:
            return
        self.following = None
        self.stream_db = 0
        self.feed.follows = False
        self.history.branch(new_id())
        self.feed.select_anew()
        self.replicas.disconnect_all()
        self._attach_feed()
        self._alone_since_ms = 0
        self._config.replicaof = ""
        if self.confirmations.is_used:
            self._begin_backlog()
        self.confirmations.role_changed()
        self.listener.role_changed()

    # ------------------------------------------------------------------ what parts are told

    def client_left(self, client: Client) -> None:
        replica = replica_of(client)
        if replica is None:
            return
        client.replica = None
        client.clear_flag(REPLICA)  # it may still take what it was sent
        replica.sending = None
        self.traffic.left(replica)
        self.confirmations.replica_left(replica)
        self.replicas.left(replica)
        if self._copies is not None:
            self._copies.left(replica)

    def client_reset(self, client: Client) -> None:
        self.confirm(client, self._config.client_acks)

    def tick(self, now_ms: int) -> None:
        self.traffic.tick(now_ms)
        for replica in list(self.replicas.all):
            if self.why_not_served(replica):
                replica.client.endpoint.disconnect()
        self.replicas.tick(now_ms, not self.failover.is_on)
        self.failover.tick(now_ms)
        if self.following is None and self.history.backlog is not None:
            self._drop_unused_backlog(now_ms)

    def begin_copies(self, now_ms: int) -> None:
        """Begin the full copy that is due. Called by cron, while no command is half done.

        What a suspended script has changed would be in the copy, and in the stream after it, too.
        """
        if self._copies is not None:
            self._copies.tick(now_ms)

    def _drop_unused_backlog(self, now_ms: int) -> None:
        """Drop the backlog repl-backlog-ttl seconds after the last replica has gone."""
        if self.replicas.all or self.confirmations.is_used:
            self._alone_since_ms = 0
        elif not self._alone_since_ms:
            self._alone_since_ms = now_ms
        elif 0 < self._config.repl_backlog_ttl * 1000 <= now_ms - self._alone_since_ms:
            self.feed.send()
            self.history.backlog = None  # no replica can resync partially any more
            self.history.begin_anew(new_id())
            self._attach_feed()
            _log.info(
                "Replication backlog freed: no replica has been connected for repl-backlog-ttl"
            )

    def are_behind(self) -> bool:
        """Whether an online replica has not acknowledged all changes so far. O(replicas)."""
        offset = self.feed.offset()
        return any(replica.acked < offset for replica in self.replicas.online)

    def good_replicas(self) -> int:
        """How many replicas keep up, as min-replicas-to-write counts them."""
        return self.replicas.good(self.now_ms())

    def close(self) -> None:
        """The server ends."""
        self.feed.send()
        if self._copies is not None:
            self._copies.close()

    # ------------------------------------------------------------------ what is kept

    @property
    def kept_from(self) -> int:
        """The first byte of the history that is still here; 0: none is."""
        return 0 if self.history.backlog is None else self.history.backlog.first

    @property
    def kept_bytes(self) -> int:
        """Bytes of the history that are still here."""
        return 0 if self.history.backlog is None else len(self.history.backlog)

    def memory(self) -> ReplicationMemory:
        """What is held for replicas. O(replicas)."""
        unsent = sum(replica.unsent() for replica in self.replicas.all)
        return ReplicationMemory(backlog=self.kept_bytes, unsent=unsent)
