"""The quorum of a primary: how many replicas it takes, which of them count, and its lease.

The group is the primary and N replicas. N is replica-quorum-of; if that is 0, the most replicas
that were here at once since this server has become a primary or has started, and at least 1: so N
grows by itself, and falls only by CONFIG SET, a restart or a change of the role. A quorum is so
many replicas that they and the primary are a majority of the group:

    N replicas             1  2  3  4  5  6
    of them, for a quorum  1  1  2  2  3  3      (N + 1) // 2

With replica-quorum-lease (ms; 0: none of this holds, any quorum of online replicas confirms):

1. *The lease*: the primary asks its replicas at each tick how far they are. An answer proves that
   the replica followed this primary when it was asked, whenever the answer came. The lease holds
   while a quorum has been asked within that time. Without it there are no writes, and no confirmed
   reads.
2. *Who counts*: a replica counts for a quorum when it has been here for as long as the lease. So a
   new primary confirms nothing before the lease of the one that it has replaced is over.
3. *Who must have it*: what is confirmed, all replicas have that are here, or that have gone or
   been mute for less than replica-quorum-grace. A replica may have gone because it was made the
   primary: as long as Sentinel may be about to tell others, nothing is confirmed that it lacks.

A replica is *here* when it is online and has told that it has what its copy, or its part of the
history, began with: ``redis-cli --replica`` is not. One that is back at the address and the port
that it listened at before, and has as much as before, has not gone; its newer link counts.

With FSYNC, what is confirmed the primary has on its own disk, too (own_disk.py).

All times are of a monotonic clock of this machine that runs on while it is suspended. What is
relied on is that clocks of two machines run at the same pace, within a fraction of the lease.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from server.config.parameters import Config
from server.parts.replication.own_disk import OwnDisk
from server.parts.replication.replica import Replica
from server.parts.replication.replicas import Replicas, newest_links

MOST_ASKS = 100  # that are remembered: one a tick
MOST_GONE = 1000  # replicas that are waited for; the oldest are forgotten before their time


class Gone(NamedTuple):
    """A replica that has gone."""

    acked: int
    until_ms: int  # it is waited for
    identity: tuple[str, int] | None


class Quorum:
    """Counts the *replicas* of a primary, which has its own *disk*. Times are ms."""

    def __init__(self, config: Config, replicas: Replicas, disk: OwnDisk) -> None:
        self._config = config
        self.disk = disk
        self._replicas = replicas
        self._asks: deque[tuple[int, int]] = deque(maxlen=MOST_ASKS)  # (offset, when)
        self._gone: deque[Gone] = deque(maxlen=MOST_GONE)
        self._most_here = 1

    def begin(self) -> None:
        """The server is a primary from now on: it knows of no replica."""
        self.disk.begin()
        self._asks.clear()
        self._gone.clear()
        self._most_here = 1

    @property
    def lease_ms(self) -> int:
        return int(self._config.replica_quorum_lease)

    @property
    def group_replicas(self) -> int:
        """Of how many replicas it is a quorum."""
        return int(self._config.replica_quorum_of) or self._most_here

    @property
    def needed(self) -> int:
        """How many replicas are a quorum."""
        return (self.group_replicas + 1) // 2

    # ------------------------------------------------------------------ who is there

    def asked(self, offset: int, now_ms: int) -> None:
        """All were asked how far they are: who tells of *offset* was here then, or later."""
        self._asks.append((offset, now_ms))

    def heard(self, replica: Replica, now_ms: int) -> None:
        """*replica* has told how far it is."""
        if not replica.is_online or replica.acked < replica.begins_at:
            return
        replica.told_ms = now_ms
        if not replica.is_here:
            replica.counts_from_ms = now_ms + self.lease_ms
            self._most_here = max(self._most_here, len(self._here()))
        if self._gone:
            self._is_back(replica)
        for offset, asked_ms in reversed(self._asks):
            if offset <= replica.acked:
                replica.heard_ms = max(replica.heard_ms, asked_ms)
                break

    def _here(self) -> list[Replica]:
        """The replicas that are here; of two links of the same one, the newer."""
        return newest_links(replica for replica in self._replicas.all if replica.is_here)

    def _is_back(self, replica: Replica) -> None:
        """Wait no more for what *replica* was when it has gone, if it has as much again."""
        who, has = replica.identity, replica.acked
        if who is not None:
            waited_for = (one for one in self._gone if one.identity != who or one.acked > has)
            self._gone = deque(waited_for, MOST_GONE)

    def left(self, replica: Replica, now_ms: int) -> None:
        """*replica* is gone: it has died, or its link, or it follows somebody else by now."""
        if not replica.is_here:
            return
        until_ms = now_ms + self._config.replica_quorum_grace
        self._gone.append(Gone(replica.acked, until_ms, replica.identity))
        for other in self._here():
            if other is not replica and other.identity == replica.identity:
                self._is_back(other)  # by another link, before this one was known to be dead

    def holds(self, now_ms: int) -> bool:
        """Whether there is no lease, or it holds."""
        lease_ms = self.lease_ms
        if not lease_ms:
            return True
        heard = sum(now_ms - replica.heard_ms < lease_ms for replica in self._here())
        return heard >= self.needed

    # ------------------------------------------------------------------ what is confirmed

    def confirmed(self, fsync: bool, now_ms: int) -> int:
        """How much of the history is confirmed by a quorum; with *fsync*, on its disks."""
        here = self._here()
        counted = [
            replica.fsynced if fsync else replica.acked
            for replica in here
            if replica.counts_from_ms <= now_ms
        ]
        found = nth_largest(counted, self.needed)
        if not found or not self.lease_ms:
            return found
        grace_ms = self._config.replica_quorum_grace
        for replica in here:
            if now_ms - replica.told_ms < grace_ms:
                found = min(found, replica.acked)
        for gone in self._gone:
            if now_ms < gone.until_ms:
                found = min(found, gone.acked)
        return found


def nth_largest(offsets: list[int], number: int) -> int:
    """What at least *number* of *offsets* have reached; 0 if there are fewer."""
    if len(offsets) < number:
        return 0
    return max(offsets) if number == 1 else sorted(offsets)[-number]
