"""Facts of replication: the role, the link to the primary, the replicas, and their history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from server.config.parameters import Config
from server.observe.fact import (
    BYTES,
    COUNT,
    KIB_PER_SECOND,
    PERCENT,
    SECONDS,
    Facts,
    Family,
    counter,
    flag,
    gauge,
    text,
)
from server.parts.replication.confirmations import Confirmations
from server.parts.replication.replica import Replica
from server.parts.replication.replication import Replication, ReplicationMemory
from server.parts.replication.traffic import Traffic

if TYPE_CHECKING:  # primaries need none
    from server.parts.replication.following import Following

# ---------------------------------------------------------------------- INFO replication

ROLE = Facts[Replication](
    text("role", lambda here: "slave" if here.is_replica else "master",
         "What this server is: master or slave"),
)  # fmt: skip


class Link(NamedTuple):
    """The link to the primary, at *now_ms* of the clock that nothing moves."""

    following: Following
    now_ms: int

    def since_s(self, then_ms: int) -> int:
        return (self.now_ms - then_ms) // 1000


def link(here: Replication) -> Link | None:
    """None if this server is a primary."""
    return None if here.following is None else Link(here.following, here.now_ms())


def copying_link(here: Replication) -> Link | None:
    """None if no copy comes."""
    found = link(here)
    return found if found is not None and found.following.is_copying else None


def broken_link(here: Replication) -> Link | None:
    """None if this server is a primary, or the link is up."""
    found = link(here)
    return found if found is not None and not found.following.is_up else None


LINK = Facts[Link](
    text("master_host", lambda link: link.following.host, "The primary's address"),
    gauge("master_port", COUNT, lambda link: link.following.port, "The primary's port"),
    flag("master_link_status", lambda link: link.following.is_up,
         "Whether the primary's stream comes", ("down", "up")),
    gauge("master_last_io_seconds_ago", SECONDS,
          lambda link: link.since_s(link.following.heard_ms) if link.following.is_up else -1,
          "How long ago the primary was last heard; -1: the link is down"),
    flag("master_sync_in_progress", lambda link: link.following.is_copying,
         "Whether a copy of all data comes"),
    when="On a replica",
)  # fmt: skip

COPY = Facts[Link](
    gauge("master_sync_total_bytes", BYTES, lambda link: link.following.copy_total,
          "The size of the copy of all data; 0: unknown"),
    gauge("master_sync_read_bytes", BYTES, lambda link: link.following.copied_bytes,
          "What has come of the copy of all data"),
    gauge("master_sync_left_bytes", BYTES, lambda link: link.following.copy_left,
          "What is missing of the copy of all data; 0: unknown"),
    gauge("master_sync_perc", PERCENT, lambda link: link.following.copy_percent,
          "How much of the copy of all data has come", "%.2f"),
    gauge("master_sync_last_io_seconds_ago", SECONDS,
          lambda link: link.since_s(link.following.copied_ms),
          "How long ago some of the copy of all data came last"),
    when="On a replica, while a copy of all data comes",
)  # fmt: skip

DOWN = Facts[Link](
    gauge("master_link_down_since_seconds", SECONDS,
          lambda link: link.since_s(link.following.down_since_ms),
          "How long the link to the primary has been down"),
    when="On a replica, while the link is down",
)  # fmt: skip


class Standing(NamedTuple):
    """Replication, with the parameters that INFO shows beside it."""

    replication: Replication
    config: Config

    @property
    def replica(self) -> Standing | None:
        """None if this server is a primary."""
        return self if self.replication.is_replica else None

    @property
    def demanding(self) -> Standing | None:
        """None if writes ask for no replicas."""
        config = self.config
        return self if config.min_replicas_to_write and config.min_replicas_max_lag else None


AS_REPLICA = Facts[Standing](
    gauge("slave_read_repl_offset", BYTES, lambda at: at.replication.history.offset,
          "How much of the history has been read"),
    gauge("slave_repl_offset", BYTES, lambda at: at.replication.history.offset,
          "How much of the history has been run"),
    gauge("slave_priority", COUNT, lambda at: at.config.replica_priority,
          "The lower, the sooner Sentinel makes this replica the primary; 0: never"),
    flag("slave_read_only", lambda at: at.config.replica_read_only,
         "Whether writes of clients are refused"),
    flag("replica_announced", lambda at: at.config.replica_announced,
         "Whether Sentinel is to tell clients of this replica"),
    when="On a replica",
)  # fmt: skip

REPLICAS = Facts[Replication](
    gauge("connected_slaves", COUNT, lambda here: len(here.replicas.all), "Replicas"),
)

GOOD_REPLICAS = Facts[Standing](
    gauge("min_slaves_good_slaves", COUNT, lambda at: at.replication.good_replicas(),
          "Replicas that count for min-replicas-to-write"),
    when="If min-replicas-to-write and min-replicas-max-lag are set",
)  # fmt: skip


class Served(NamedTuple):
    """A replica; *lag_s* since it has told how far it is."""

    replica: Replica
    lag_s: int


SERVED = Family[Served](
    "slave", "replica",
    text("ip", lambda served: served.replica.host, "The replica's address"),
    gauge("port", COUNT, lambda served: served.replica.port, "The replica's port"),
    text("state", lambda served: served.replica.stage.value,
         "How far the replica is: wait_bgsave, send_bulk (it gets a copy of all data), or online"),
    gauge("offset", BYTES, lambda served: served.replica.acked,
          "How much of the history the replica has run"),
    gauge("lag", SECONDS, lambda served: served.lag_s,
          "How long ago the replica has told how far it is"),
)  # fmt: skip


def served(here: Replication) -> Iterator[tuple[str, Served]]:
    """All replicas, with their numbers."""
    now_ms = here.now_ms()
    for number, replica in enumerate(here.replicas.all):
        yield str(number), Served(replica, replica.lag_s(now_ms) if replica.is_online else 0)


CONFIRMATIONS = Facts[Confirmations](
    gauge("acks_clients", COUNT, lambda here: here.users, "Clients with CLIENT ACKS"),
    gauge("acks_clients_held", COUNT, lambda here: here.held_clients,
          "Clients with CLIENT ACKS whose replies wait for replicas now"),
    gauge("acks_held_bytes", BYTES, lambda here: here.held_bytes,
          "What the replies take that wait for replicas now"),
    gauge("acks_confirmed_offset", BYTES, lambda here: here.confirmed,
          "How much of the history is confirmed, as all clients with CLIENT ACKS ask for it"),
    gauge("acks_unconfirmed_keys", COUNT, lambda here: len(here.keys),
          "Entries in the table of keys that were changed lately, some of them confirmed by now"),
    counter("acks_timeouts", COUNT, lambda here: here.timeouts,
            "Replies that became errors, as they were not confirmed in time"),
    when="While a client has CLIENT ACKS",
)  # fmt: skip

QUORUM = Facts[Confirmations](
    gauge("quorum_of_replicas", COUNT, lambda here: here.quorum.group_replicas,
          "Of how many replicas a quorum is one"),
    gauge("quorum_needed", COUNT, lambda here: here.quorum.needed,
          "How many replicas are a quorum: with the primary, a majority of the group"),
    flag("quorum_lease_holds", lambda here: here.has_lease,
         "Whether a quorum was heard within the lease: else writes are refused"),
    when="On a primary with replica-quorum-lease",
)  # fmt: skip


def confirming(here: Replication) -> Confirmations | None:
    """None while nobody waits for confirmations."""
    return here.confirmations if here.confirmations.is_used else None


def leased(here: Replication) -> Confirmations | None:
    """None on a replica, or without a lease."""
    has_one = not here.is_replica and here.confirmations.quorum.lease_ms
    return here.confirmations if has_one else None


HISTORY = Facts[Standing](
    text("master_failover_state", lambda at: at.replication.failover.state,
         "How FAILOVER stands: no-failover, waiting-for-sync or failover-in-progress"),
    text("master_replid", lambda at: at.replication.history.id, "The history's id"),
    text("master_replid2", lambda at: at.replication.history.second_id,
         "The id that the history had before a failover"),
    gauge("master_repl_offset", BYTES, lambda at: at.replication.feed.offset(),
          "How long the history is"),
    gauge("second_repl_offset", BYTES, lambda at: at.replication.history.second_offset,
          "Up to where in the history master_replid2 holds; -1: nowhere"),
    flag("repl_backlog_active", lambda at: at.replication.history.backlog is not None,
         "Whether the end of the history is kept for replicas that come back"),
    gauge("repl_backlog_size", BYTES, lambda at: at.config.repl_backlog_size,
          "How much of the end of the history may be kept"),
    gauge("repl_backlog_first_byte_offset", BYTES, lambda at: at.replication.kept_from,
          "Where in the history begins what is kept; 0: nothing is"),
    gauge("repl_backlog_histlen", BYTES, lambda at: at.replication.kept_bytes,
          "How much of the end of the history is kept"),
)  # fmt: skip

# ---------------------------------------------------------------------- INFO stats, INFO memory

SYNCS = Facts[Replication](
    counter("sync_full", COUNT, lambda here: here.full_copies,
            "Copies of all data that replicas have asked for"),
    counter("sync_partial_ok", COUNT, lambda here: here.continued,
            "Replicas that came back and continued where they were"),
    counter("sync_partial_err", COUNT, lambda here: here.not_continued,
            "Replicas that came back and could not continue where they were"),
)  # fmt: skip

TRAFFIC = Facts[Traffic](
    counter("total_net_repl_input_bytes", BYTES, lambda traffic: traffic.received,
            "What the primary has sent"),
    counter("total_net_repl_output_bytes", BYTES, lambda traffic: traffic.sent,
            "What replicas were sent"),
    gauge("instantaneous_input_repl_kbps", KIB_PER_SECOND,
          lambda traffic: traffic.rates.per_second("received") / 1024,
          "What the primary has sent, of late", "%.2f"),
    gauge("instantaneous_output_repl_kbps", KIB_PER_SECOND,
          lambda traffic: traffic.rates.per_second("sent") / 1024,
          "What replicas were sent, of late", "%.2f"),
)  # fmt: skip

MEMORY = Facts[ReplicationMemory](
    gauge("mem_replication_backlog", BYTES, lambda held: held.backlog,
          "The end of the history that is kept for replicas"),
    gauge("mem_total_replication_buffers", BYTES, lambda held: held.backlog + held.unsent,
          "All that is kept for replicas"),
    gauge("mem_clients_slaves", BYTES, lambda held: held.unsent,
          "What replicas have not taken yet"),
)  # fmt: skip
