"""The replicas of this server: who they are, how far they are, and which are given up.

A replica that is online tells each second how far it is, and one that loads its copy sends empty
lines. One that neither sends nor takes anything for repl-timeout seconds is disconnected: what is
kept for it takes memory from others.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from server.config.parameters import Config
from server.parts.replication.feed import Feed
from server.parts.replication.replica import Replica, Stage

_log = logging.getLogger("penstock")


class Replicas:
    """Looks after the replicas that *feed* serves. Times are monotonic ms."""

    def __init__(self, config: Config, feed: Feed) -> None:
        self._config = config
        self._feed = feed
        self._pinged_ms = 0
        self._over_soft_limit: dict[Replica, int] = {}  # -> since when

    @property
    def all(self) -> list[Replica]:
        return self._feed.replicas

    @property
    def online(self) -> list[Replica]:
        return [replica for replica in self.all if replica.is_online]

    @property
    def each(self) -> list[Replica]:
        """Those that are online; of two links of the same one, the newer."""
        return newest_links(self.online)

    def joined(self, replica: Replica, now_ms: int) -> None:
        """It has asked for the stream.

        The first PING comes a whole period after the first replica: at once, it would be a change
        that a replica lacks which is promoted just then, and cost the others a copy.
        """
        if not self.all:
            self._pinged_ms = now_ms
        replica.acked_ms = replica.alive_ms = now_ms
        self.all.append(replica)

    def left(self, replica: Replica) -> None:
        """Its connection is closed."""
        if replica in self.all:
            self.all.remove(replica)
            self._over_soft_limit.pop(replica, None)
            _log.info("Connection with replica %s lost.", name_of(replica))

    def disconnect_all(self) -> None:
        """They have to ask again: the history has another name, or is another one."""
        for replica in list(self.all):
            replica.client.endpoint.disconnect()

    # ------------------------------------------------------------------ how far they are

    def have(self, offset: int) -> int:
        """How many have run all up to *offset*."""
        return sum(replica.acked >= offset for replica in self.online)

    def have_fsynced(self, offset: int) -> int:
        """How many have all up to *offset* in an append-only file that is fsynced."""
        return sum(replica.has_aof and replica.fsynced >= offset for replica in self.online)

    def good(self, now_ms: int) -> int:
        """How many are online and not further behind than min-replicas-max-lag."""
        most_s = self._config.min_replicas_max_lag
        return sum(replica.lag_s(now_ms) <= most_s for replica in self.online)

    # ------------------------------------------------------------------ cron

    def tick(self, now_ms: int, pings: bool) -> None:
        """Send pings if *pings*, and disconnect those that are not heard of."""
        if not self.all:
            return
        if pings and now_ms - self._pinged_ms >= self._config.repl_ping_replica_period * 1000:
            self._pinged_ms = now_ms
            if self.online:
                self._feed.ping()
            for replica in self.all:
                if replica.stage is Stage.WAITING and not replica.is_plain:
                    replica.write(b"\n")  # nothing, but a sign of life
        for replica in list(self.all):
            self._check(replica, now_ms)

    def _check(self, replica: Replica, now_ms: int) -> None:
        timeout_ms = self._config.repl_timeout * 1000
        replica.watch(now_ms)
        is_mute = replica.stage is Stage.WAITING or (replica.is_plain and replica.is_online)
        if not is_mute and now_ms - replica.alive_ms > timeout_ms:
            _log.warning("Disconnecting timedout replica: %s", name_of(replica))
            replica.client.endpoint.disconnect()
        elif replica.held_bytes and self._exceeds(replica, now_ms):
            _log.warning("Replica %s closed for overcoming of output buffer limits.",
                         name_of(replica))  # fmt: skip
            replica.client.endpoint.disconnect()

    def _exceeds(self, replica: Replica, now_ms: int) -> bool:
        """Whether more is held for *replica* than client-output-buffer-limit allows."""
        limit = self._config.client_output_buffer_limit["slave"]
        waiting = replica.unsent()
        if not limit.soft or waiting < limit.soft:
            self._over_soft_limit.pop(replica, None)
        else:
            self._over_soft_limit.setdefault(replica, now_ms)
        over_ms = now_ms - self._over_soft_limit.get(replica, now_ms)
        return bool(limit.hard and waiting >= limit.hard) or over_ms > limit.soft_seconds * 1000


def newest_links(replicas: Iterable[Replica]) -> list[Replica]:
    """The *replicas*; of two links of the same one, the newer, which is the later.

    One whose link was cut comes back by another, and the first may not be known to be dead yet.
    """
    found: dict[object, Replica] = {}
    for replica in replicas:
        found[replica.identity or replica] = replica
    return list(found.values())


def name_of(replica: Replica) -> str:
    """Where it listens, for the server log."""
    return f"{replica.host}:{replica.port or '<unknown-replica-port>'}"
