"""FAILOVER: a primary hands its role over to a replica that has everything.

    waiting-for-sync       writes are held back, until a replica has run all there is
    failover-in-progress   we follow that replica, and ask it to become the primary

If no replica catches up in time, or the replica refuses, the server stays or becomes the primary
again, and writes resume.
"""

from __future__ import annotations

import logging
from typing import Protocol

from protocol.replies import ErrorReply
from server.parts.replication.feed import Feed

NO_FAILOVER = "no-failover"
WAITING = "waiting-for-sync"
IN_PROGRESS = "failover-in-progress"

ON_REPLICA = ErrorReply("ERR", "FAILOVER is not valid when server is a replica.")
UNDER_WAY = ErrorReply("ERR", "FAILOVER already in progress.")
NONE_UNDER_WAY = ErrorReply("ERR", "No failover in progress.")
NO_REPLICAS = ErrorReply("ERR", "FAILOVER requires connected replicas.")
NO_SUCH_REPLICA = ErrorReply("ERR", "FAILOVER target HOST and PORT is not a replica.")
NOT_ONLINE = ErrorReply("ERR", "FAILOVER target replica is not online.")

_log = logging.getLogger("penstock")


class Roles(Protocol):
    """How a server changes its role; see server/parts/replication/replication.py."""

    @property
    def is_replica(self) -> bool: ...

    def follow(self, host: str, port: int, takes_over: bool = False) -> None: ...

    def promote(self) -> None: ...

    def hold_writes(self, holds: bool) -> None: ...


class Failover:
    """The hand-over of the role to one of the replicas that *feed* serves.

    Writes are held back meanwhile. Times are monotonic ms.
    """

    def __init__(self, roles: Roles, feed: Feed) -> None:
        self._roles = roles
        self._feed = feed
        self.state = NO_FAILOVER
        self._target: tuple[str, int] | None = None  # None: the first that has everything
        self._is_forced = False
        self._due_ms = 0  # 0: never

    @property
    def is_on(self) -> bool:
        return self.state is not NO_FAILOVER

    def begin(
        self,
        target: tuple[str, int] | None,
        timeout_ms: int,
        is_forced: bool,
        now_ms: int,
        amid_command: bool,
    ) -> None:
        """Begin to wait for a replica: *target*, or any. Raises ErrorReply.

        *amid_command*: there may be changes that replicas are sent when EXEC is done. So the role
        does not go over before that.
        """
        self._check(target)
        self._target = target
        self._is_forced = is_forced
        self._due_ms = now_ms + timeout_ms if timeout_ms else 0
        self.state = WAITING
        _log.info("FAILOVER requested%s.", f" to {target[0]}:{target[1]}" if target else "")
        self._roles.hold_writes(True)
        if not amid_command:
            self.tick(now_ms)

    def _check(self, target: tuple[str, int] | None) -> None:
        if self._roles.is_replica:
            raise ON_REPLICA
        if self.is_on:
            raise UNDER_WAY
        if not self._feed.replicas:
            raise NO_REPLICAS
        if target is None:
            return
        named = [one for one in self._feed.replicas if (one.host, one.port) == target]
        if not named:
            raise NO_SUCH_REPLICA
        if not named[0].is_online:
            raise NOT_ONLINE

    def abort(self) -> None:
        """FAILOVER ABORT. Raises ErrorReply."""
        if not self.is_on:
            raise NONE_UNDER_WAY
        self._give_up("Failover manually aborted")

    def _give_up(self, why: str) -> None:
        _log.info("%s", why)
        if self.state is IN_PROGRESS:
            self._roles.promote()
        self.end()

    def end(self) -> None:
        """It is over, if there was one: we follow the replica that has taken over, or nobody."""
        if self.is_on:
            self.state = NO_FAILOVER
            self._roles.hold_writes(False)

    def tick(self, now_ms: int) -> None:
        """Continue if a replica has everything, or time is up. Called by cron."""
        if self.state is not WAITING:
            return
        offset = self._feed.offset()
        for replica in self._feed.replicas:
            place = (replica.host, replica.port)
            is_meant = self._target is None or place == self._target
            if is_meant and replica.is_online and replica.acked >= offset:
                self._hand_over(place)
                return
        if self._due_ms and now_ms >= self._due_ms:
            if self._is_forced and self._target is not None:
                self._hand_over(self._target)
            else:
                self._give_up("Replica never caught up before timeout")

    def _hand_over(self, target: tuple[str, int]) -> None:
        self.state = IN_PROGRESS
        _log.info("Failover target is synced, failing over to %s:%d", *target)
        self._roles.follow(*target, takes_over=True)

    def was_refused(self) -> None:
        """The replica does not take over."""
        if self.state is IN_PROGRESS:
            self._give_up("Failover target rejected psync request")
